# shellcheck shell=bash
# What the scripts in the project's root share; they set program, their name, and source this.
#
# Licensed under the Apache License, Version 2.0; see LICENSE.

set -euo pipefail

fail() {
  echo "${program:?}: $*" >&2
  exit 1
}

# Prints the home of a JDK that is new enough, JAVA_HOME before the one on the PATH.
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

# What Maven is at, as its own log says.
current_module() {
  sed -n 's/^\[INFO\] Building \([^ :]*\):* .*/\1/p' "$1" | tail -n 1
}

# Runs the build in the background, so that a signal ends it at once and progress can be shown.
build() {
  local log=$1 started=$SECONDS
  ./mvnw -B -ntp -Pquick -DskipTests -pl benchmarks -am package >"$log" 2>&1 &
  local maven=$!
  # shellcheck disable=SC2064 # the process id of now is meant
  trap "kill $maven 2>/dev/null; wait $maven 2>/dev/null || true; rm -f '$log'; exit 130" INT TERM
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

# Finds a JDK and builds the project, which becomes the current directory.
prepare() {
  local project=$1
  JAVA_HOME=$(find_jdk)
  export JAVA_HOME
  cd "$project"
  echo "building the plug-in and a Spark home with $JAVA_HOME"
  [[ -d benchmarks/target/spark-home ]] \
    || echo "(the first time this downloads about 300 MB from Maven Central)"
  build "$(mktemp "${TMPDIR:-/tmp}/$program-build.XXXXXX")"
}

# Runs the JMH benchmarks of the benchmarks module in our place, by a JDK of 22 or newer.
launch_jmh() {
  local project=$1 home
  shift
  prepare "$project"
  home=$("$JAVA_HOME/bin/java" "$project/.mvn/FindJdk.java" 22)
  [[ -n $home ]] || fail "no JDK of 22 or newer found: install one or name it in JAVA22_HOME."
  command -v cc >/dev/null || fail "no C compiler found: install gcc, libibverbs-dev and librdmacm-dev."
  local target=$project/benchmarks/target
  exec "$home/bin/java" -Xmx256m \
    -cp "$target/java22-classes:$target/*:$project/rdma-core-java/target/*:$target/jmh-jars/*:$target/spark-home/jars/*" \
    org.openjdk.jmh.Main -prof gc "$@"
}

# Builds the project and runs a main class of the benchmarks module in our place.
launch() {
  local main_class=$1 project=$2
  shift 2
  local caller_directory=$PWD
  prepare "$project"

  local options=(--project "$project")
  [[ -t 1 ]] && options+=(--terminal)
  [[ " $* " == *" --work-dir"* ]] || options+=(--work-dir "$project/.$program")
  cd "$caller_directory"
  exec "$JAVA_HOME/bin/java" -Xmx256m \
    -cp "$project/benchmarks/target/*:$project/benchmarks/target/job-jars/*:$project/benchmarks/target/spark-home/jars/*" \
    "$main_class" "${options[@]}" "$@"
}
