# shellcheck shell=bash
# Functions shared by the parts of the guest tool.
#
# SPDX-License-Identifier: Apache-2.0

# The tool itself failed; 124 is the time limit, everything else is the command's.
readonly tool_failed=125

readonly packages=(gcc libc6-dev make flex bison bc xz-utils util-linux iproute2 ethtool tcpdump
  iputils-ping rdma-core ibverbs-providers ibverbs-utils rdmacm-utils perftest libibverbs1
  librdmacm1)

print_message() {
  echo "guest: $*" >&2
}

fail() {
  print_message "$*"
  exit "$tool_failed"
}

# Fails with one sentence that names the packages to install, if one of these commands is missing.
need() {
  local command missing=()
  PATH=$PATH:/usr/sbin:/sbin
  for command in "$@"; do
    command -v "$command" >/dev/null || missing+=("$command")
  done
  ((${#missing[@]} == 0)) \
    || fail "not found: ${missing[*]}; on Debian or Ubuntu: apt-get install -y ${packages[*]}"
}
