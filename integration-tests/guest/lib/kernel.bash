# shellcheck shell=bash
# ./dev/guest build: where the kernel is cached and how it is built.
#
# SPDX-License-Identifier: Apache-2.0

# Version of the kernel, as in the names of Debian's packages.
readonly series=${SPARKRDMA_GUEST_LINUX:-6.12}
readonly source_package=linux-source-$series
readonly build_tools=(apt-get apt-cache dpkg gcc make flex bison bc xz tar flock nice)
readonly build_space_mib=3000
kernel_cache=${SPARKRDMA_GUEST_CACHE:-${XDG_CACHE_HOME:-${HOME:-/tmp}/.cache}/sparkrdma-guest}
readonly kernel_cache
# Files with options of the kernel.
configs=("${tool:?}/kernel.config" ${SPARKRDMA_GUEST_CONFIG:+"$(realpath -m "$SPARKRDMA_GUEST_CONFIG")"})
readonly configs

build_usage() {
  cat <<'HELP'
Usage: ./dev/guest build

Builds the guest's kernel from Debian's package linux-source-6.12 (apt-get download, no root), unless
the one for this version and configuration is cached already, and prints its path. Takes four minutes on
two cores and 3 GB of disk meanwhile; 8 MB stay. Builds at the same time wait for each other.

SPARKRDMA_GUEST_LINUX=6.1 takes linux-source-6.1 instead, SPARKRDMA_GUEST_CONFIG=FILE adds options of the kernel, both
here and in ./dev/guest run. integration-tests/guest/kernel.matrix.config has xfs, NFS, bonds, limits of
RDMA and refused allocations.

The cache is SPARKRDMA_GUEST_CACHE, else sparkrdma-guest in XDG_CACHE_HOME, else in ~/.cache.
HELP
}

build_command() {
  case ${1:-} in
    '')
      check_configs
      ensure_kernel
      echo "$kernel"
      ;;
    -h | --help) build_usage ;;
    *) fail "unknown option of build: $1; allowed is --help" ;;
  esac
}

check_configs() {
  [[ -f ${configs[-1]} ]] || fail "SPARKRDMA_GUEST_CONFIG is ${configs[-1]}, which is not a file"
}

fragment_hash() {
  cat "${configs[@]}" | sha256sum | cut -c1-12
}

# Prints the newest cached kernel with today's fragment; fails when there is none.
cached_kernel() {
  local newest
  newest=$(find "$kernel_cache" -maxdepth 1 -name "linux-$series.*-$(fragment_hash)" -type f 2>/dev/null \
    | sort -V | tail -n 1)
  [[ -n $newest ]] && echo "$newest"
}

# Prints the version of the source that apt would install; fails when there is none.
source_version() {
  local version
  version=$(apt-cache policy "$source_package" 2>/dev/null | sed -n 's/^ *Candidate: //p')
  [[ -n $version && $version != '(none)' ]] && echo "$version"
}

# Finds the kernel, or builds it: one build at a time for a cache. Leaves its path in kernel.
ensure_kernel() {
  local version
  if find_newest; then return; fi
  if (($(id -u) == 0)) && command -v apt-get >/dev/null; then
    print_message "updating apt's lists"
    apt-get -qq update >&2 || true
    if find_newest; then return; fi
  fi
  if [[ -z $version ]] && kernel=$(cached_kernel); then
    print_message "apt has no $source_package: using the cached kernel $kernel"
    return
  fi
  need "${build_tools[@]}"
  [[ -n $version ]] || fail "apt knows no $source_package: run apt-get update; it is in Debian 12's" \
    "security archive and in Debian 13"
  mkdir -p "$kernel_cache" || fail "cannot make the cache $kernel_cache: set SPARKRDMA_GUEST_CACHE"
  exec {lock}>"$kernel_cache/lock"
  if ! flock -n "$lock"; then
    print_message "another build runs in $kernel_cache: waiting for it"
    flock "$lock"
  fi
  [[ -x $kernel ]] || build_kernel "$version" >&2
  exec {lock}>&-
}

# Finds the kernel of the newest source; also sets the source's version for the caller.
find_newest() {
  version=$(source_version) || version=''
  kernel=$kernel_cache/linux-$version-$(fragment_hash)
  [[ -n $version && -x $kernel ]]
}

# Builds in a directory that is deleted at every exit.
build_kernel() {
  local version=$1 started=$SECONDS free
  free=$(df -Pm "$kernel_cache" | awk 'NR == 2 {print $4}')
  ((free >= build_space_mib)) || fail "the build needs $build_space_mib MiB in $kernel_cache and" \
    "$free are free: set SPARKRDMA_GUEST_CACHE to another place"
  # Deletes directories of killed builds.
  find "$kernel_cache" -maxdepth 1 -name 'build.??????' -exec rm -rf {} +
  log=$kernel_cache/build.log
  work=$(mktemp -d "$kernel_cache/build.XXXXXX")
  trap 'end_build' EXIT
  trap 'exit 130' INT
  trap 'exit 143' TERM HUP
  : >"$log"
  print_message "building a kernel from $source_package $version; log: $log"
  step "downloading the source (150 MB)" download "$version"
  step "unpacking" unpack
  step "configuring" configure
  step "compiling (6 minutes of processor time)" compile
  strip -o "$work/linux" "$work/source/linux"
  mv "$work/linux" "$kernel"
  end_build
  trap - EXIT INT TERM HUP
  print_message "built $kernel in $((SECONDS - started)) s"
}

end_build() {
  [[ -z ${job:-} ]] || kill -KILL -- "-$job" 2>/dev/null || true
  rm -rf "$work"
}

# Runs one step of the build in the background, so that a signal ends it at once.
step() {
  local what=$1 started=$SECONDS last=0
  shift
  print_message "$what"
  set -m # a process group of its own
  (
    cd "$work" || exit
    "$@"
  ) >>"$log" 2>&1 </dev/null &
  job=$!
  set +m
  while kill -0 "$job" 2>/dev/null; do
    sleep 1
    if (((SECONDS - started) / 30 > last)); then
      last=$(((SECONDS - started) / 30))
      print_message "$what: $((SECONDS - started)) s, $(tail -n 1 "$log" | cut -c1-60)"
    fi
  done
  wait "$job" || {
    tail -n 15 "$log" >&2
    fail "$what failed; the whole log is $log"
  }
  job=''
}

download() {
  apt-get -qq -o APT::Sandbox::User= download "$source_package=$1"
}

unpack() {
  dpkg -x ./*.deb package && rm ./*.deb \
    && mkdir source \
    && tar -C source --strip-components=1 -xf package/usr/src/"$source_package".tar.xz \
    && rm -r package
}

configure() {
  cd source && make ARCH=um defconfig \
    && scripts/kconfig/merge_config.sh -m -O . .config "${configs[@]}" \
    && make ARCH=um olddefconfig && check_config
}

# Kconfig silently drops options that it cannot select.
check_config() {
  local option
  while read -r option; do
    grep -qx "$option" .config || {
      echo "the configuration lacks $option"
      return 1
    }
  done < <(grep -h '^CONFIG_.*=[y0-9]' "${configs[@]}")
}

compile() {
  exec nice make -C source ARCH=um -j"$(nproc)" linux
}
