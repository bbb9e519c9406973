# shellcheck shell=bash
# Shared by the scripts in the project's root. A script sets `program` (its name) and `project` (this
# directory's parent) before it sources this file.
#
# SPDX-License-Identifier: Apache-2.0

set -euo pipefail

# Exit code for a wrong command line; failures of a run use 1.
readonly misuse=2

# A size in lower or upper case, as DataSize reads it.
readonly size_form='[1-9][0-9]{0,8}[kmgtKMGT][bB]?'

# Compared with the shuffles in the code by a test.
readonly shuffle_modes='vanilla, control, tuned, rdma, fallback'

fail() {
  echo "${program:?}: $*" >&2
  exit 1
}

fail_misuse() {
  echo "${program:?}: $*" >&2
  exit "$misuse"
}

# Prints the home of a JDK of 17 or newer: JAVA_HOME first, then the PATH.
find_jdk() {
  local java home version
  if [[ -n ${JAVA_HOME:-} ]]; then
    java=$JAVA_HOME/bin/java
    [[ -x $java ]] || fail "JAVA_HOME is $JAVA_HOME, which has no bin/java: set it to a JDK of 17 or newer."
  else
    java=$(command -v java) || fail "no Java found: install a JDK of 17 or newer, or set JAVA_HOME to one."
  fi
  local properties
  properties=$("$java" -XshowSettings:properties -version 2>&1) \
    || fail "$java does not run: set JAVA_HOME to a JDK of 17 or newer."
  home=$(sed -n 's/^ *java\.home = //p' <<<"$properties")
  version=$(sed -n 's/^ *java\.specification\.version = //p' <<<"$properties")
  version=${version#1.}
  ((version >= 17)) \
    || fail "Java $version in $home is too old: set JAVA_HOME to a JDK of 17 or newer."
  [[ -x $home/bin/javac ]] \
    || fail "$home is a Java runtime without a compiler: set JAVA_HOME to a JDK of 17 or newer."
  echo "$home"
}

# Prints the help and ends when --help is among the arguments; refuses an option that the help does not
# list, and a value that does not fit the word after the option in the help. Needs neither a JVM nor a
# build, so that these answers are immediate on a fresh clone too.
check_options() {
  local help=$1 name=$2 argument
  shift 2
  for argument in "$@"; do
    if [[ $argument == -h || $argument == --help ]]; then
      "$help"
      exit 0
    fi
  done
  for argument in "$@"; do
    [[ $argument == -[!0-9]* ]] || continue
    "$help" | awk -v option="${argument%%=*}" '$1 == option { known = 1 } END { exit !known }' \
      || fail_misuse "Unknown option: '${argument%%=*}' (see ./$name --help)"
  done
  check_values "$help" "$name" "$@"
}

# Refuses options without their value, wrong values, and arguments where the help has options only.
check_values() {
  local help=$1 name=$2 option kind value
  shift 2
  while (($# > 0)); do
    option=${1%%=*}
    kind=$("$help" | awk -v option="$option" '$1 == option && /^ +-/ && !kind { kind = $2 } END { print kind }')
    if [[ $option == --* && $kind =~ ^[A-Z]+(=[A-Z]+)?$ ]]; then
      if [[ $1 == *=* ]]; then
        value=${1#*=}
      elif (($# > 1)) && [[ $2 != --* ]]; then
        value=$2
        shift
      else
        fail_misuse "$option needs a value (see ./$name --help)"
      fi
      check_value "$name" "$option" "$kind" "$value"
    elif [[ $1 != -* && $("$help" | head -n 1) == "Usage: ./$name [options]" ]]; then
      fail_misuse "Unmatched argument: '$1' (see ./$name --help)"
    fi
    shift
  done
}

# Refuses a value of another form than the kind that the help names.
check_value() {
  local name=$1 option=$2 kind=$3 value=$4 allowed=
  case $kind in
    KEY=VALUE) [[ $value =~ ^spark\.[^=]+= ]] || allowed='KEY=VALUE with a key of Spark' ;;
    N) [[ $value =~ ^-?[0-9]+$ ]] || allowed='a whole number' ;;
    MINUTES) [[ $value =~ ^[0-9]+(\.[0-9]+)?$ ]] || allowed='a number' ;;
    SIZE) [[ $value =~ ^$size_form$ ]] || allowed='a whole number of k, m, g or t, at least 1, such as 256m' ;;
    FILE)
      if [[ -z $value || -d $value ]]; then
        allowed='a file, not a directory'
      elif ! can_write "$value"; then
        allowed='a file that can be written'
      fi
      ;;
    DIR)
      if [[ -z $value || (-e $value && ! -d $value) ]]; then
        allowed='a directory'
      elif ! can_write "$value"; then
        allowed='a directory that can be written'
      fi
      ;;
    LIST) check_list "$option" "$value" ;;
    NAME) check_name "$name" "$option" "$value" ;;
    *) [[ -n $value ]] || allowed='a value' ;;
  esac
  [[ -z $allowed ]] || fail_misuse "$option is '$value': give $allowed (see ./$name --help)"
}

# Sets "allowed" if an item of a list is empty or of another form than the option needs.
check_list() {
  local item='[^,]+' items='items with a comma between them'
  case $1 in
    --sizes) item=$size_form items='sizes of at least 1k, such as 4k,1m' ;;
    --modes) item="(${shuffle_modes//, /|})" items="names of $shuffle_modes" ;;
  esac
  [[ ${2,,} =~ ^$item(,$item)*$ ]] || allowed=$items
}

# Sets "allowed" if a job is not among those of the command, or a name is empty.
check_name() {
  local name=$1 option=$2 value=$3 jobs
  case $name$option in
    quickstart--job) jobs='groupby terasort' ;;
    'bench regress--job') jobs="$(list_jobs | awk 'NR > 1 { print $1 }' | xargs) transfer latency" ;;
    *)
      [[ -n $value ]] || allowed='a value'
      return
      ;;
  esac
  [[ " $jobs " == *" $value "* ]] || allowed="one of ${jobs// /, }"
}

# Whether a file or directory can be written, or created together with its folders. File systems such as
# /proc refuse new files in spite of the permissions, so this creates a directory and deletes it.
can_write() {
  local path probe
  path=$(realpath -m -- "$1")
  if [[ -e $path && ! -d $path ]]; then
    [[ -w $path ]]
    return
  fi
  while [[ ! -e $path ]]; do
    path=$(dirname -- "$path")
  done
  probe=$(mktemp -d -- "$path/.writable.XXXXXX" 2>/dev/null) && rmdir -- "$probe"
}

# True when no source has changed since the start of the last build. Maven's package phase leaves the time
# stamp; a deleted or renamed file changes the time of its directory.
is_built() {
  local stamp=$project/benchmarks/target/built module sources=("$project/pom.xml" "$project/.mvn" "$project/dev/build")
  sources+=("$project/benchmarks/src/spark-home/pom.xml")
  for module in rdma-core-java shuffle-plugin benchmarks; do
    sources+=("$project/$module/pom.xml" "$project/$module/src/main")
  done
  [[ -f $stamp && -n $(class_path) && -d $project/benchmarks/target/spark-home/jars ]] \
    && [[ -z $(find "${sources[@]}" -newer "$stamp" -print -quit) ]]
}

# Prints the class path of the benchmarks module's commands; prints nothing before the first build.
class_path() {
  local target=$project/benchmarks/target benchmarks plugin
  benchmarks=$(find_jar benchmarks benchmarks) || return 0
  plugin=$(find_jar shuffle-plugin spark-rdma-shuffle) || return 0
  echo "$benchmarks:$plugin:$target/job-jars/*:$target/spark-home/jars/*"
}

# Prints the path of the jar NAME of a module as users get it; fails when there is none.
#   find_jar MODULE NAME
find_jar() {
  local jar=$project/$1/target/$2.jar
  [[ -f $jar ]] && echo "$jar"
}

# Prints the module that Maven is building, read from its log.
current_module() {
  sed -n 's/^\[INFO\] Building \([^ :]*\):* .*/\1/p' "$1" | tail -n 1
}

# Runs Maven in the background: a signal ends it at once, and progress can be shown. The arguments after the log are
# the modules and what else Maven needs for them, by default those of ./bench.
run_maven() {
  local log=$1 started=$SECONDS maven= options=("${@:2}")
  ((${#options[@]} > 0)) || options=(-DskipTests -Dmaven.test.skip=true -pl benchmarks -am)
  # A signal runs these while the function runs, so they use its variables.
  trap 'end_maven 130' INT
  trap 'end_maven 143' TERM
  ./mvnw -B -ntp -Pquick "${options[@]}" package >"$log" 2>&1 &
  maven=$!
  while kill -0 "$maven" 2>/dev/null; do
    sleep 1
    if (((SECONDS - started) % 15 == 0)); then
      echo "still building, $((SECONDS - started)) s: $(current_module "$log")"
    fi
  done
  if ! wait "$maven"; then
    grep -E '^\[(ERROR|WARNING)\]' "$log" | tail -n 20 >&2 || true
    fail "the build failed: the whole log is $log."
  fi
  rm -f "$log"
  trap - INT TERM
}

# Ends Maven, and the script with an exit code.
end_maven() {
  if [[ -n $maven ]]; then
    kill "$maven" 2>/dev/null || true
    wait "$maven" 2>/dev/null || true
  fi
  rm -f -- "$log"
  exit "$1"
}

# Builds the plug-in, the commands and a Spark home with the JDK in JAVA_HOME.
build() {
  local caller_directory=$PWD
  cd "$project"
  echo "building the plug-in and a Spark home with $JAVA_HOME"
  [[ -d benchmarks/target/spark-home ]] \
    || echo "(the first build downloads about 300 MB from Maven Central)"
  run_maven "$(mktemp "${TMPDIR:-/tmp}/$program-build.XXXXXX")"
  cd "$caller_directory"
}

# Replaces this process by a command of the benchmarks module; builds first if sources have changed.
launch() {
  local command_class=$1
  shift
  JAVA_HOME=$(find_jdk)
  export JAVA_HOME
  local options=(--project "$project")
  [[ " $* " == *" --work-dir"* ]] || options+=(--work-dir "$project/.$program")
  is_built || build
  exec "$JAVA_HOME/bin/java" -Xmx256m -cp "$(class_path)" org.sparkrdma.launch.Launcher "$command_class" \
    "${options[@]}" "$@"
}
