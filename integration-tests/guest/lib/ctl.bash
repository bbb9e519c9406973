# shellcheck shell=bash
# ./dev/guest ctl: faults for a run in progress.
#
# SPDX-License-Identifier: Apache-2.0

ctl_usage() {
  cat <<'HELP'
Usage: ./dev/guest ctl NAME link down|up
       ./dev/guest ctl NAME netem RULE|off
       ./dev/guest ctl NAME lose 'MESSAGE COUNT'
       ./dev/guest ctl NAME kill 1|2
       ./dev/guest ctl NAME exec 1|2 'line of bash'

For a run that was started with ./dev/guest run --name NAME, by the same user.

  link down|up   cuts the wires between two nodes, or mends them: packets get lost, the ports stay up
  netem RULE     tc netem on both ends of the wires, such as 'delay 20ms' or 'loss 1%'; off ends it
  lose MESSAGE   loses the next COUNT of these messages on wires of --wire filtered: REQ, REP, RTU, REJ, MRA,
                 DREQ, DREP of RoCE's connection manager, MPA-REQUEST and MPA-REPLY of iWARP
  kill N         kills node N's kernel at once: a lost node
  exec N LINE    runs a line of bash as root on node N, and ends with its output and exit code
HELP
}

ctl_command() {
  case ${1:-} in
    -h | --help)
      ctl_usage
      return
      ;;
    '' | -*) fail "the name of the run is missing (see ./dev/guest ctl --help)" ;;
  esac
  case "${2:-}:$#" in
    exec:4 | link:3 | netem:3 | lose:3 | kill:3) ;;
    exec:*) fail "exec takes a node and a line of bash (see ./dev/guest ctl --help)" ;;
    link:* | netem:* | lose:* | kill:*) fail "$2 takes one value (see ./dev/guest ctl --help)" ;;
    *) fail "unknown: ${2:-nothing}; allowed are link, netem, lose, kill and exec" ;;
  esac
  state=$state_root/${1//\//}
  until [[ -e $state/started ]]; do
    need_run "$1"
    sleep 0.05
  done
  need_run "$1"
  case $2 in
    exec) run_on "$3" "$4" ;;
    link) set_link "$3" ;;
    netem) set_netem "$3" ;;
    lose) lose_messages "$3" ;;
    kill) kill_node "$3" ;;
  esac
}

need_run() {
  if [[ ! -e $state/owner ]] || ! kill -0 "$(<"$state/owner")" 2>/dev/null; then
    fail "no run named $1 is going on"
  fi
}

# The last rule of each wire is restored with the link. The guests' own kernels apply it, because the host's may
# lack netem.
set_link() {
  case $1 in
    down) apply_netem "loss 100%" ;;
    up) apply_netem "$(cat "$state/netem")" ;;
    *) fail "link $1 is unknown; allowed are down and up" ;;
  esac
}

set_netem() {
  [[ $1 != off ]] || set -- ''
  apply_netem "$1"
  echo "$1" >"$state/netem"
}

# Returns when the filter has taken the order.
lose_messages() {
  local orders
  [[ $1 =~ ^(REQ|REP|RTU|REJ|MRA|DREQ|DREP|MPA-REQUEST|MPA-REPLY)\ [1-9][0-9]?$ ]] \
    || fail "lose '$1' is unknown; allowed is a message and a count of 1 to 99, such as 'REQ 1'"
  [[ -p $state/lose ]] || fail "the wires of this run are not filtered: start it with --wire filtered"
  orders=$(grep -cx "order $1" "$state/filter.log") || true
  echo "$1" 1<>"$state/lose"
  until (($(grep -cx "order $1" "$state/filter.log") > orders)); do
    need_run "${state##*/}"
    sleep 0.05
  done
}

# An empty rule leaves the wires unchanged.
apply_netem() {
  local rule=$1 node change="tc qdisc replace dev \$wire root netem $1"
  [[ -n $rule ]] || change="tc qdisc del dev \$wire root 2>/dev/null || true"
  [[ -e $state/node2.pid ]] || fail "this run has one node, and so no wire"
  for node in 1 2; do
    [[ ! -e $state/control/done$node ]] || continue
    run_on "$node" "for wire in \$(ls /sys/class/net | grep '^wire'); do $change || exit 1; done" \
      || fail "tc does not accept netem '$rule'"
  done
}

# Sends bash commands to a node's first process, and waits for their output and exit code.
run_on() {
  local node=$1 order code
  need_node "$node"
  order=$(mktemp "$state/control/order$node.XXXXXX")
  echo "$2" >"$order"
  echo "${order##*/}" 1<>"$state/orders$node"
  until [[ -e $order.code ]]; do
    need_node "$node"
    sleep 0.05
  done
  cat "$order.out"
  code=$(<"$order.code")
  rm -f "$order" "$order".*
  return "$code"
}

need_node() {
  [[ $1 == [12] && -e $state/node$1.pid ]] || fail "this run has no node $1"
  [[ ! -e $state/control/done$1 ]] || fail "node $1 has ended"
}

kill_node() {
  need_node "$1"
  : >"$state/killed$1"
  kill -KILL "$(<"$state/node$1.pid")" 2>/dev/null || fail "node $1 has ended"
}
