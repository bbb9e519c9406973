# SPDX-License-Identifier: Apache-2.0
# READs between two guests by perf of the plug-in and by ib_read_bw, in turn: node 2 answers, node 1 prints for each run
# of ib_read_bw "ib SIZE READS MODE MICROSECONDS" and writes the answers of perf to $GUEST_SHARE. ib_read_bw computes its
# figures from a cycle counter that these kernels lack, so the whole program is timed, with few READs and with many.
set -u
share=$GUEST_SHARE
options="--conf $share/spark-defaults.conf --host $GUEST_ADDRESS"

runs() {
  local round size mode few many reads
  for round in 1 2 3; do
    for size in 4096 65536 1048576; do
      case $size in
        4096) few=1000 many=21000 ;;
        65536) few=200 many=3200 ;;
        *) few=20 many=220 ;;
      esac
      for mode in polls -e; do
        for reads in $few $many; do
          echo "$round $size $mode $reads"
        done
      done
    done
  done
}

# Its arguments: size, mode, number of READs, and at node 1 the server's address.
read_bw() {
  local mode=${2#polls}
  ib_read_bw -d rxe0 -x 1 -F -t 16 -s "$1" -n "$3" $mode ${4-} </dev/null
}

runs >/tmp/runs
if ((GUEST_NODE == 2)); then
  $PLUGIN perf server $options >"$share/up" 2>&1 &
  server=$!
  while read -r round size mode reads; do
    until [[ -e $share/perf.$round.over ]]; do sleep 0.1; done
    touch "$share/ready.$round.$size.$mode.$reads"
    read_bw "$size" "$mode" "$reads" >"$share/server.log" 2>&1
  done </tmp/runs
  kill $server
  exit 0
fi
until [[ -s $share/up ]]; do sleep 0.1; done
measured=0
while read -r round size mode reads; do
  if ((round != measured)); then
    measured=$round
    $PLUGIN perf client "$GUEST_PEER_ADDRESS" $options --json --sizes 4k,64k,1m --ms 2000 \
      </dev/null >"$share/perf.$round.json" || exit 1
    touch "$share/perf.$round.over"
  fi
  until [[ -e $share/ready.$round.$size.$mode.$reads ]]; do sleep 0.1; done
  # The server listens a moment later.
  for attempt in {1..20}; do
    sleep 0.5
    begin=$EPOCHREALTIME
    read_bw "$size" "$mode" "$reads" "$GUEST_PEER_ADDRESS" >/tmp/answer 2>&1
    end=$EPOCHREALTIME
    if grep -q "^ $size " /tmp/answer; then
      echo "ib $size $reads $mode $((${end/./} - ${begin/./}))"
      break
    fi
    ((attempt < 20)) || { cat /tmp/answer; exit 1; }
  done
done </tmp/runs
