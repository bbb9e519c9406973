# shellcheck shell=bash
# ./dev/guest run: options, the state directory, namespaces, output, the time limit.
#
# SPDX-License-Identifier: Apache-2.0

readonly run_tools=(unshare setpriv setsid mkfifo getent stty ip tc ethtool rdma tcpdump perl)
readonly timed_out=124

# Where runs keep their state: one directory each. Without blanks, because it is a kernel parameter.
state_root=/tmp/sparkrdma-guest-$(id -u)
readonly state_root

# Required by a JVM in the guest: each page that it touches is a mapping on the host.
readonly max_map_count=8000000 least_map_count=1000000

# Maximum bytes in flight on a wire: more than the answers to all READs in flight of a connection.
readonly wire_bytes=$((32 << 20))

run_usage() {
  cat <<'HELP'
Usage: ./dev/guest run [options] -- command [arguments]

Boots one or two kernels and runs the command in each. The exit code is that of node 1, or that of node
2 if node 1's is 0. The command runs in the current directory, by default as root of the guest. It sees
the host's files under an overlay: files that it writes are lost at the end, except under --share.

  --nodes N          kernels, 1 (the default) or 2; two have a wire of their own between them
  --timeout SECONDS  time limit of the whole run, default 300; at its end all is killed, exit code 124
  --memory SIZE      memory of each kernel, default 3G
  --transport NAME   which devices: rocev2 (rxe0), iwarp (siw0) or both, the default
  --rails N          RoCE devices of a kernel, 1 (the default) or 2; the second one is rxe1
  --mtu BYTES        of the wires, 1500 to 9000, default 4200
  --wire KIND        direct (the default), or filtered: a program carries each frame, and ./dev/guest ctl NAME
                     lose makes it lose single messages; needs two nodes, not with --rails 2
  --name NAME        name for ./dev/guest ctl, default run-PID
  --share DIR        a directory of the host that all kernels see at the same path and may write
  --env KEY=VALUE    environment variable of the command; may be repeated
  --user USER        name or number of the user in the guest, without any capability
  --ulimit-memlock K limit of locked memory in KiB, as ulimit -l; default unlimited
  --netem RULE       tc netem on both ends of the wire, such as 'loss 1%'; needs two nodes
  --capture FILE     write the packets on the wire as pcap; needs two nodes. With --rails 2 it has each
                     packet of RoCE twice, before and after the switch, and with --wire filtered each packet
                     twice, before and after the program
  --output DIR       keep the output there: nodeN.out, nodeN.err, nodeN.exit, nodeN.console, and with
                     --wire filtered the messages that were lost
  --help             this text

Environment of the command (N is 1 or 2):
  GUEST_NODE, GUEST_NODES             this node's number; how many there are
  GUEST_ADDRESS, GUEST_PEER_ADDRESS   IPv4 of the first transport here and at the peer
  GUEST_ADDRESS6, GUEST_PEER_ADDRESS6 the same, IPv6
  GUEST_ROCEV2_ADDRESS, GUEST_ROCEV2_PEER_ADDRESS, ..._ADDRESS6   on wire1: 10.99.1.N, fd99:1::N
  GUEST_IWARP_ADDRESS, GUEST_IWARP_PEER_ADDRESS, ..._ADDRESS6     on wire2: 10.99.2.N, fd99:2::N
  GUEST_RAIL2_ADDRESS, GUEST_RAIL2_PEER_ADDRESS, ..._ADDRESS6     on wire3: 10.99.3.N, fd99:3::N
  GUEST_SHARE                         the directory of --share
Of the host's environment it has PATH, JAVA_HOME and LANG. With one node the peer is the node itself.
Exit codes: the command's; 124 time limit; 125 the tool failed or a kernel died; 137 a kernel was killed.
HELP
}

readonly run_options="--nodes, --timeout, --memory, --transport, --rails, --mtu, --wire, --name, --share, --env,
--user, --ulimit-memlock, --netem, --capture, --output and --help"

run_command() {
  parse_run "$@"
  need "${run_tools[@]}"
  check_configs
  kernel=$(cached_kernel) || ensure_kernel
  check_memory
  raise_map_count
  choose_namespaces
  run_nodes
}

# Fills the options' variables, which the functions below read.
parse_run() {
  nodes=1 limit=300 memory_mib=3072 wires=(1 2) rails=1 name=run-$$ share='' user='' memlock=unlimited
  netem='' capture='' output='' environment=() mtu=4200 wire_kind=direct
  while (($# > 0)); do
    case $1 in
      --) break ;;
      -h | --help)
        run_usage
        exit 0
        ;;
      --nodes | --timeout | --memory | --transport | --rails | --mtu | --wire | --name | --share \
        | --env | --user | --ulimit-memlock | --netem | --capture | --output)
        if (($# == 1)) || [[ $2 == -- ]]; then fail "$1 needs a value (see ./dev/guest run --help)"; fi
        set_run_option "$1" "$2"
        shift 2
        ;;
      -*) fail "unknown option of run: $1; allowed are ${run_options//$'\n'/ }" ;;
      *) fail "unexpected: $1; the command comes after --, as in ./dev/guest run -- ls" ;;
    esac
  done
  [[ ${1:-} == -- ]] && shift
  (($# > 0)) || fail "the command is missing: ./dev/guest run [options] -- command"
  command_line=("$@")
  if ((nodes == 1)) && [[ -n $netem$capture ]]; then
    fail "--netem and --capture need a wire, which there is with --nodes 2"
  fi
  if [[ $wire_kind == filtered ]]; then
    ((nodes == 2)) || fail "--wire filtered needs a wire, which there is with --nodes 2"
    ((rails == 1)) || fail "--wire filtered and --rails 2 exclude each other"
  fi
  if ((rails == 2)); then
    [[ ${wires[0]} == 1 ]] || fail "--rails 2 needs RoCE, which --transport iwarp leaves out"
    wires+=(3)
  fi
}

set_run_option() {
  local option=$1 value=$2
  case $option in
    --nodes)
      [[ $value == [12] ]] || fail "--nodes is $value; allowed are 1 and 2"
      nodes=$value
      ;;
    --timeout)
      [[ $value =~ ^[1-9][0-9]{0,5}$ ]] || fail "--timeout is $value; allowed are 1 to 999999 seconds"
      limit=$value
      ;;
    --memory)
      [[ $value =~ ^([1-9][0-9]{0,5})([MmGg])$ ]] || fail "--memory is $value; allowed is such as 512M or 3G"
      memory_mib=${BASH_REMATCH[1]}
      [[ ${BASH_REMATCH[2]} == [Mm] ]] || memory_mib=$((memory_mib * 1024))
      ((memory_mib >= 128)) || fail "--memory is $value; a kernel needs 128M"
      ;;
    --transport)
      case $value in
        rocev2) wires=(1) ;;
        iwarp) wires=(2) ;;
        both) wires=(1 2) ;;
        *) fail "--transport is $value; allowed are rocev2, iwarp and both" ;;
      esac
      ;;
    --rails)
      [[ $value == [12] ]] || fail "--rails is $value; allowed are 1 and 2"
      rails=$value
      ;;
    --mtu)
      [[ $value =~ ^[1-9][0-9]{3}$ ]] && ((value >= 1500 && value <= 9000)) \
        || fail "--mtu is $value; allowed are 1500 to 9000"
      mtu=$value
      ;;
    --wire)
      [[ $value == direct || $value == filtered ]] || fail "--wire is $value; allowed are direct and filtered"
      wire_kind=$value
      ;;
    --name)
      [[ $value =~ ^[A-Za-z0-9_.-]{1,40}$ && $value != .* ]] \
        || fail "--name is $value; allowed are up to 40 letters, digits and _.-"
      name=$value
      ;;
    --share)
      share=$(cd "$value" 2>/dev/null && pwd -P) || fail "--share $value is no directory"
      [[ $share != *[,\ ]* ]] || fail "--share $share: no blanks or commas can be in it"
      ;;
    --env)
      [[ $value =~ ^[A-Za-z_][A-Za-z0-9_]*= ]] || fail "--env is $value; allowed is NAME=VALUE"
      environment+=("$value")
      ;;
    --user)
      [[ $value =~ ^[0-9]+$ ]] || getent passwd "$value" >/dev/null || fail "--user $value: no such user"
      user=$value
      ;;
    --ulimit-memlock)
      [[ $value == unlimited || $value =~ ^[0-9]{1,9}$ ]] \
        || fail "--ulimit-memlock is $value; allowed are KiB and unlimited"
      memlock=$value
      ;;
    --netem) netem=$value ;;
    --capture)
      : >"$value" || fail "--capture $value cannot be written"
      capture=$(readlink -f "$value")
      ;;
    --output)
      mkdir -p "$value" || fail "--output $value cannot be made"
      output=$(cd "$value" && pwd -P)
      ;;
  esac
}

# Guest memory is memory of the host, and a kernel that gets less than it was promised crashes.
check_memory() {
  local needed=$((nodes * memory_mib)) available
  available=$(awk '/^MemAvailable:/ {print int($2 / 1024)}' /proc/meminfo)
  ((needed <= available)) \
    || fail "$nodes x $memory_mib MiB for the guest and $available MiB are available: lower --memory"
}

raise_map_count() {
  local count
  count=$(</proc/sys/vm/max_map_count)
  ((count >= max_map_count)) && return
  if { echo "$max_map_count" >/proc/sys/vm/max_map_count; } 2>/dev/null; then return; fi
  ((count >= least_map_count)) \
    || print_message "vm.max_map_count is $count, too low for a JVM in the guest:" \
      "sudo sysctl -w vm.max_map_count=$max_map_count"
}

# A run has its own namespaces of mounts, processes and the network, which end with it.
choose_namespaces() {
  namespaces=(--mount --net --pid)
  if (($(id -u) == 0)) && unshare "${namespaces[@]}" --fork true 2>/dev/null; then return; fi
  namespaces+=(--user --map-current-user --keep-caps)
  unshare "${namespaces[@]}" --fork true 2>/dev/null \
    || fail "this machine lets $(id -un) make no namespaces: run as root, or allow them" \
      "(sysctl kernel.unprivileged_userns_clone, user.max_user_namespaces; in Docker --privileged)"
}

run_nodes() {
  local code=0
  make_state
  readers=() channels=() supervisor='' timer='' widener=''
  trap 'end_run' EXIT
  trap 'exit 130' INT
  trap 'exit 143' TERM HUP
  local node
  for ((node = 1; node <= nodes; node++)); do
    open_channel "$node" out 1
    open_channel "$node" err 2
  done
  # The kernel kills it when this process ends, and then all processes in its namespace.
  setpriv --pdeathsig KILL unshare "${namespaces[@]}" --fork --kill-child=KILL \
    bash "${tool:?}/supervisor" "$state" "$kernel" "${channels[@]}" 3>&2 2>/dev/null </dev/null &
  supervisor=$!
  if ((nodes == 2)); then
    widen_wires &
    widener=$!
  fi
  local channel
  for channel in "${channels[@]}"; do
    exec {channel}>&-
  done
  setpriv --pdeathsig KILL sleep "$limit" >/dev/null 2>&1 &
  timer=$!
  wait -n "$supervisor" "$timer" || code=$?
  if kill -0 "$timer" 2>/dev/null; then
    exit "$code"
  fi
  print_message "time limit of $limit s reached: killed"
  exit "$timed_out"
}

# Called when both kernels have opened their wires; their commands wait for it.
widen_wires() {
  until [[ -e $state/control/ready1 && -e $state/control/ready2 ]]; do
    [[ ! -e $state/control/done1 && ! -e $state/control/done2 && -d $state/control ]] || return 0
    sleep 0.05
  done
  perl "${tool:?}/lib/widen.pl" "$wire_bytes" "uml_dir=$state/" 2>/dev/null \
    || print_message "the wires hold few packets: the kernels' sockets could not be enlarged"
  : >"$state/control/wired"
}

# One run of a name at a time; a directory whose owner has ended may be used.
make_state() {
  [[ -d $state_root ]] || mkdir -m 700 "$state_root" 2>/dev/null || true
  [[ -O $state_root && ! -L $state_root ]] || fail "$state_root belongs to somebody else"
  local old
  for old in "$state_root"/*/; do
    [[ -e $old/owner ]] && ! kill -0 "$(<"$old/owner")" 2>/dev/null && rm -rf "$old"
  done
  state=$state_root/$name
  mkdir "$state" 2>/dev/null || fail "a run named $name is going on: choose another --name"
  echo $$ >"$state/owner"
  mkdir "$state/control" "$state/memory"
  cp "${tool:?}/init" "$state/init"
  chmod 755 "$state/init"
  {
    printf '%s=%q\n' nodes "$nodes" user "$user" memlock "$memlock" \
      netem "$netem" share "$share" directory "$PWD" mtu "$mtu"
    printf 'environment=(%s)\n' "$(printf '%q ' "PATH=$PATH" ${JAVA_HOME:+"JAVA_HOME=$JAVA_HOME"} \
      ${LANG:+"LANG=$LANG"} "${environment[@]}")"
    printf 'command_line=(%s)\n' "$(printf '%q ' "${command_line[@]}")"
    echo "wires=(${wires[*]})"
  } >"$state/control/settings"
  {
    printf '%s=%q\n' nodes "$nodes" memory_mib "$memory_mib" capture "$capture" mtu "$mtu" wire_kind "$wire_kind"
    echo "wires=(${wires[*]})"
  } >"$state/settings"
  echo "$netem" >"$state/netem"
  if grep -qsw amx_tile /proc/cpuinfo; then
    need gcc
    gcc -shared -fPIC -O1 -o "$state/xstate.so" "${tool:?}/lib/xstate.c"
  fi
}

# A pipe for what a node prints; its reader names the node when there are two.
open_channel() {
  local node=$1 stream=$2 target=$3 channel prefix='' keep=/dev/null
  ((nodes == 1)) || prefix="node$node| "
  [[ -z $output ]] || keep=$output/node$node.$stream
  exec {channel}> >(
    trap '' INT TERM
    if [[ -n $prefix ]]; then
      tee "$keep" | sed -u "s/^/$prefix/" >&"$target"
    else
      tee "$keep" >&"$target"
    fi
  )
  readers+=("$!")
  channels+=("$channel")
}

# Kills what is left, waits until it is gone, and lets the readers finish.
end_run() {
  local code=$? init
  trap '' INT TERM HUP
  if [[ -n $supervisor ]] && kill -0 "$supervisor" 2>/dev/null; then
    # The namespace's first process: its end ends all others, and unshare waits for it.
    init=$(cat "$state/supervisor.pid" 2>/dev/null) || true
    kill -KILL "${init:-$supervisor}" 2>/dev/null || true
    { wait "$supervisor" || true; } 2>/dev/null
  fi
  [[ -z $timer ]] || kill "$timer" 2>/dev/null || true
  # It holds the readers' pipes until both kernels have booted.
  [[ -z $widener ]] || kill "$widener" 2>/dev/null || true
  wait "${readers[@]}" 2>/dev/null || true
  keep_results
  rm -rf "$state"
  exit "$code"
}

keep_results() {
  [[ -n $output ]] || return 0
  local node
  [[ ! -e $state/filter.log ]] || grep '^lost' "$state/filter.log" >"$output/lost" || true
  for ((node = 1; node <= nodes; node++)); do
    cp "$state/node$node.console" "$output/node$node.console" 2>/dev/null || true
    cp "$state/node$node.exit" "$output/node$node.exit" 2>/dev/null || true
  done
}
