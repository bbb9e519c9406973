# shellcheck shell=bash
# The guest's kernel: where it is cached and how it is built.
#
# Licensed under the Apache License, Version 2.0; see LICENSE.

readonly source_package=linux-source-6.12
readonly build_space_mib=3000
kernel_cache=${SPARKRDMA_GUEST_CACHE:-${XDG_CACHE_HOME:-${HOME:-/tmp}/.cache}/sparkrdma-guest}
readonly kernel_cache

fragment_hash() {
  sha256sum "${tool:?}/kernel.config" | cut -c1-12
}

# Prints the newest cached kernel with today's fragment; fails when there is none.
cached_kernel() {
  local newest
  newest=$(find "$kernel_cache" -maxdepth 1 -name "linux-*-$(fragment_hash)" -type f 2>/dev/null \
    | sort -V | tail -n 1)
  [[ -n $newest ]] && echo "$newest"
}

# Prints the version of the source that apt would bring; fails when it knows none.
source_version() {
  local version
  version=$(apt-cache policy "$source_package" 2>/dev/null | sed -n 's/^ *Candidate: //p')
  [[ -n $version && $version != '(none)' ]] && echo "$version"
}

# Prints the path of the kernel, built if need be: one build at a time for a cache.
ensure_kernel() {
  local version kernel
  if ! version=$(source_version); then
    if kernel=$(cached_kernel); then
      say "apt knows no $source_package: taking the kernel at hand, $kernel"
      echo "$kernel"
      return
    fi
    need apt-get dpkg
    fail "apt knows no $source_package: run apt-get update; it is in Debian 12's security" \
      "archive and in Debian 13"
  fi
  kernel=$kernel_cache/linux-$version-$(fragment_hash)
  if [[ ! -x $kernel ]]; then
    need apt-get dpkg gcc make flex bison bc xz tar flock nice
    mkdir -p "$kernel_cache" || fail "cannot make the cache $kernel_cache: set SPARKRDMA_GUEST_CACHE"
    (
      flock -n 9 || {
        say "another build is going on in $kernel_cache: waiting for it"
        flock 9
      }
      [[ -x $kernel ]] || build_kernel "$version" "$kernel"
    ) 9>"$kernel_cache/lock"
  fi
  echo "$kernel"
}

# Builds in a directory that goes away however this ends.
build_kernel() (
  local version=$1 kernel=$2 started=$SECONDS log=$kernel_cache/build.log free
  free=$(df -Pm "$kernel_cache" | awk 'NR == 2 {print $4}')
  ((free >= build_space_mib)) || fail "the build needs $build_space_mib MiB in $kernel_cache and" \
    "$free are free: set SPARKRDMA_GUEST_CACHE to another place"
  find "$kernel_cache" -maxdepth 1 -name 'build.??????' -exec rm -rf {} + # of builds that were killed
  work=$(mktemp -d "$kernel_cache/build.XXXXXX")
  # shellcheck disable=SC2064 # the directory of now is meant
  trap "rm -rf '$work'" EXIT
  trap 'exit 130' INT
  trap 'exit 143' TERM
  cd "$work"
  : >"$log"
  exec 1>&2
  say "building a kernel from $source_package $version; log: $log"
  step "downloading the source (150 MB)" apt-get -qq -o APT::Sandbox::User= download "$source_package=$version"
  step "unpacking" unpack
  step "configuring" configure
  step "compiling (6 minutes of processor time)" compile
  strip -o linux.stripped source/linux
  chmod 755 linux.stripped
  mv linux.stripped "$kernel"
  say "built $kernel in $((SECONDS - started)) s"
)

# Runs one step of the build in the background, so that a signal ends it at once.
step() {
  local what=$1 started=$SECONDS job last=0
  shift
  say "$what"
  set -m # a process group of its own
  "$@" >>"$log" 2>&1 </dev/null &
  job=$!
  set +m
  # shellcheck disable=SC2064 # the process id of now is meant
  trap "kill -KILL -- -$job 2>/dev/null; rm -rf '$work'" EXIT
  while kill -0 "$job" 2>/dev/null; do
    sleep 1
    if (((SECONDS - started) / 30 > last)); then
      last=$(((SECONDS - started) / 30))
      say "$what: $((SECONDS - started)) s, $(tail -n 1 "$log" | cut -c1-60)"
    fi
  done
  # shellcheck disable=SC2064
  trap "rm -rf '$work'" EXIT
  wait "$job" || {
    tail -n 15 "$log" >&2
    fail "$what failed; the whole log is $log"
  }
}

unpack() {
  dpkg -x ./*.deb package && rm ./*.deb \
    && mkdir source \
    && tar -C source --strip-components=1 -xf package/usr/src/"$source_package".tar.xz \
    && rm -r package
}

configure() {
  cd source && make ARCH=um defconfig \
    && scripts/kconfig/merge_config.sh -m -O . .config "$tool/kernel.config" \
    && make ARCH=um olddefconfig && check_config
}

# Kconfig drops silently what it cannot choose.
check_config() {
  local option
  while read -r option; do
    grep -qx "$option" .config || {
      echo "the configuration lacks $option"
      return 1
    }
  done < <(grep '^CONFIG_.*=[y0-9]' "$tool/kernel.config")
}

compile() {
  exec nice make -C source ARCH=um -j"$(nproc)" linux
}
