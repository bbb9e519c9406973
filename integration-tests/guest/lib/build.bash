# shellcheck shell=bash
# ./guest build
#
# Licensed under the Apache License, Version 2.0; see LICENSE.

# shellcheck source=kernel.bash
source "${tool:?}/lib/kernel.bash"

build_usage() {
  cat <<'HELP'
Usage: ./guest build

Builds the guest's kernel from Debian's package linux-source-6.12 (apt-get download, no root), unless
the one for this version and configuration is cached already, and prints its path. Takes four minutes on two
cores and 3 GB of disk meanwhile; 8 MB stay. Builds at the same time wait for each other.

The cache is SPARKRDMA_GUEST_CACHE, else sparkrdma-guest in XDG_CACHE_HOME, else in ~/.cache.
HELP
}

build_command() {
  case ${1:-} in
    '') ensure_kernel ;;
    -h | --help) build_usage ;;
    *) fail "unknown option of build: $1; allowed is --help" ;;
  esac
}
