// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.guest;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.io.InputStream;
import java.util.List;

/**
 * One line of the table {@code guest/matrix.csv}. Columns without a guest option become lines of
 * bash that prepare a node.
 */
record MatrixCell(
    String name,
    String kernel,
    String transport,
    String files,
    String mtu,
    String network,
    String settings,
    String limit,
    String fault,
    String expected) {
  private static final String TABLE = "/guest/matrix.csv";

  /** Local directories of the executors are below it. */
  static final String LOCAL = "/local";

  /** A server of NFS 4 on each node, for the node itself. */
  private static final String NFS_SERVER =
      "mkdir /run/export && truncate -s 400M /run/local.img && mkfs.ext4 -q /run/local.img"
          + " && mount -o loop /run/local.img /run/export && chmod 1777 /run/export"
          + " && mount -t nfsd nfsd /proc/fs/nfsd && mount -t tmpfs state /var/lib/nfs"
          + " && mkdir /var/lib/nfs/v4recovery /var/lib/nfs/sm && touch /var/lib/nfs/{e,rm,x}tab"
          + " && exportfs -o rw,fsid=0,insecure,no_root_squash '127.0.0.1:/run/export'"
          + " && rpc.mountd -N 3 && rpc.nfsd -N 3 2"
          + " && echo Y >/proc/fs/nfsd/v4_end_grace";

  /**
   * Both wires as one, of which one carries all packets. With fail_over_mac active the bond takes
   * over the hardware address of that wire: only then does the kernel report that an address has
   * moved (cma_netdev_change in drivers/infiniband/core/cma.c).
   */
  private static final String BOND =
      "rdma link delete rxe0 && rdma link delete rxe1"
          + " && ip link add pair type bond mode active-backup miimon 100 fail_over_mac %2$s"
          + " && for wire in wire1 wire3; do ip addr flush dev $wire && ip link set $wire down"
          + " && ip link set $wire master pair || exit; done"
          + " && ip link set pair up && ip addr add 10.99.1.%1$d/24 dev pair"
          + " && rdma link add rxe0 type rxe netdev pair";

  /**
   * The address of the wire on a VLAN of it. The packet sockets of the host remove the first tag of
   * a packet, so all packets get one more.
   */
  private static final String VLAN =
      "ip addr flush dev wire1 && tc qdisc add dev wire1 root handle 1: prio"
          + " && tc filter add dev wire1 parent 1: matchall action vlan push id 4000"
          + " && ip link add link wire1 name vlan5 type vlan id 5"
          + " && ip link set vlan5 mtu $(($(</sys/class/net/wire1/mtu) - 100)) up && ip addr add 10.99.1.%1$d/24 dev vlan5";

  /** Name of the network namespace in which the processes of a node run. */
  private static final String NAMESPACE = "executor";

  /**
   * The wire of iWARP in a network namespace, and the device of it made again there: siw removes a
   * device whose wire leaves the namespace.
   */
  private static final String OWN_NAMESPACE =
      "ip netns add executor && ip link set wire2 netns executor"
          + " && while [[ -e /sys/class/infiniband/siw0 ]]; do sleep 0.1; done"
          + " && ip -n executor link set lo up && ip -n executor link set wire2 up"
          + " && ip -n executor addr add 10.99.2.%1$d/24 dev wire2"
          + " && ip netns exec executor rdma link add siw0 type siw netdev wire2";

  /** The cells of the table. */
  static List<MatrixCell> all() {
    try (InputStream in = MatrixCell.class.getResourceAsStream(TABLE)) {
      return new String(in.readAllBytes(), UTF_8)
          .lines()
          .filter(line -> !line.startsWith("#"))
          .skip(1)
          .map(MatrixCell::parse)
          .toList();
    } catch (IOException e) {
      throw new IllegalStateException("cannot read " + TABLE, e);
    }
  }

  private static MatrixCell parse(String line) {
    String[] values = line.split(",", -1);
    return new MatrixCell(
        values[0], values[1], values[2], values[3], values[4], values[5], values[6], values[7],
        values[8], values[9]);
  }

  /** Whether the kernel refuses allocations while memory is registered. */
  boolean hasFailingAllocations() {
    return FailingAllocations.isFault(fault);
  }

  boolean hasFault() {
    return !fault.equals("none");
  }

  /** Whether this kernel would write registered map outputs to their server again. */
  boolean copiesMapOutputs() {
    return kernel.equals("6.1") && !files.equals("tmpfs");
  }

  /** Name of the application, see {@code ClusterNode}. */
  String application() {
    return transport
        + (network.equals("rails") ? "-rails" : "")
        + (network.equals("two-addresses") ? "-two-addresses" : "")
        + (hasFault() ? "-cell-fault" : "-cell")
        + (settings.equals("shipped") ? "-shipped" : "");
  }

  /** The run of the cell's cluster. */
  ClusterRun cluster() throws IOException {
    ClusterRun run = ClusterRun.named("cell-" + name);
    run =
        run.onKernel(kernel)
            .with("--mtu", mtu)
            .with("--env", "SPARK_LOCAL_DIRS=" + LOCAL)
            .prepared(String.join(" && ", prepareFiles(), prepareNetwork(), prepareLimit()));
    if (needsMoreOptions()) {
      run = run.onKernelWith("kernel.matrix.config");
    }
    if (network.equals("rails") || isOnBond()) {
      run = run.with("--rails", "2");
    }
    if (limit.startsWith("memlock-")) {
      run = run.asUser("nobody").with("--ulimit-memlock", Integer.toString(memlockKib()));
    }
    if (hasFailingAllocations()) {
      run = FailingAllocations.prepare(run);
    }
    if (network.equals("own-netns")) {
      run = run.inNamespace(NAMESPACE);
    }
    return hasFault() ? run.script("fault", faultLine()).script("repair", repairLine(run)) : run;
  }

  /**
   * Whether the cell needs more options of the kernel than other tests. The old kernel has them in
   * all cells, so that one build of it is enough.
   */
  private boolean needsMoreOptions() {
    return kernel.equals("6.1")
        || files.equals("xfs")
        || files.equals("nfs")
        || isOnBond()
        || network.equals("vlan")
        || hasFailingAllocations()
        || limitsObjects();
  }

  private boolean isOnBond() {
    return network.equals("bond") || network.equals("bond-keeps");
  }

  private int memlockKib() {
    return switch (limit) {
      case "memlock-64k" -> 64;
      case "memlock-8m" -> 8 << 10;
      case "memlock-256m" -> 256 << 10;
      default -> throw unknown("limit", limit);
    };
  }

  /** A pattern of the beginning of the reason why the fault ends RDMA. */
  String reasonOfLoss() {
    return switch (fault) {
      case "failover" -> "the listener's address moved to another link";
      case "device-return" ->
          "(an address of the listeners was removed|a port of the device is down): device=rxe0";
      case "address-change" -> "an address of the listeners was removed";
      default -> "";
    };
  }

  /** Text in the reason why RDMA is off under the limit. */
  String reason() {
    return switch (limit) {
      case "memlock-64k" -> "RLIMIT_MEMLOCK=65536 neededBytes=";
      case "objects-3" -> "raise hca_object in rdma.max";
      case "handles-0" -> "(hca_handle in its rdma.max)";
      default -> throw unknown("limit", limit);
    };
  }

  private String prepareFiles() {
    String mount =
        switch (files) {
          case "ext4" ->
              "truncate -s 400M /run/local.img && mkfs.ext4 -q /run/local.img"
                  + " && mount -o loop /run/local.img ";
          case "xfs" ->
              "truncate -s 400M /run/local.img && mkfs.xfs -q /run/local.img"
                  + " && mount -o loop /run/local.img ";
          case "nfs" -> NFS_SERVER + " && mount -t nfs4 127.0.0.1:/ ";
          case "tmpfs" -> "mount -t tmpfs local ";
          case "overlay" -> "true ";
          default -> throw unknown("files", files);
        };
    return "mkdir " + LOCAL + " && " + mount + LOCAL + " && chmod 1777 " + LOCAL;
  }

  private String prepareNetwork() {
    return switch (network) {
      case "wire", "rails" -> "true";
      case "netns" -> "rdma system set netns exclusive";
      case "bond" -> BOND.replace("%2$s", "active");
      case "bond-keeps" -> BOND.replace("%2$s", "none");
      case "vlan" -> VLAN;
      case "own-netns" -> OWN_NAMESPACE;
      // Spark's own connections keep the first one.
      case "two-addresses" -> "ip addr add 10.99.9.%1$d/24 dev wire2";
      default -> throw unknown("network", network);
    };
  }

  private boolean limitsObjects() {
    return limit.startsWith("objects-") || limit.startsWith("handles-");
  }

  private String prepareLimit() {
    if (!limitsObjects()) {
      return "true";
    }
    String count = limit.substring(limit.indexOf('-') + 1);
    // An executor opens the device once. Without a handle it must not find another device.
    return "mkdir /sys/fs/cgroup/objects && for device in rxe0 siw0; do echo $device "
        + (limit.startsWith("handles-")
            ? "hca_handle=" + count
            : "hca_handle=1 hca_object=" + count)
        + " >/sys/fs/cgroup/objects/rdma.max || exit; done"
        + " && for process in $(</sys/fs/cgroup/cgroup.procs);"
        + " do echo $process >/sys/fs/cgroup/objects/cgroup.procs || true; done 2>/dev/null";
  }

  private String faultLine() {
    return switch (fault) {
      case "failslab", "failpages" -> FailingAllocations.faultLine(fault);
      case "failover" -> "((%1$d == 1)) || ip link set wire1 down";
      case "address-change" ->
          network.equals("two-addresses")
              ? "((%1$d == 1)) || { ip addr del 10.99.9.2/24 dev wire2"
                  + " && ip addr add 10.99.9.22/24 dev wire2; }"
              : "((%1$d == 1)) || { ip addr del fd99:1::2/64 dev wire1 && ip addr del 10.99.1.2/24 dev wire1"
                  + " && ip addr add 10.99.1.22/24 dev wire1; }";
      // The device ends when its last user has closed it, which the loss of its port causes.
      case "device-return" ->
          "((%1$d == 1)) || { ip link set wire1 down && setsid -f >/dev/null 2>&1 </dev/null"
              + " rdma link delete rxe0; }";
      default -> throw unknown("fault", fault);
    };
  }

  private String repairLine(ClusterRun run) {
    return switch (fault) {
      case "failslab", "failpages" -> FailingAllocations.repairLine(run);
      case "failover" -> "((%1$d == 1)) || ip link set wire1 up";
      case "address-change" -> "true";
      case "device-return" ->
          "((%1$d == 1)) || { while [[ -e /sys/class/infiniband/rxe0 ]]; do sleep 0.1; done;"
              + " ip link set wire1 up && rdma link add rxe0 type rxe netdev wire1; }";
      default -> throw unknown("fault", fault);
    };
  }

  private IllegalStateException unknown(String column, String value) {
    return new IllegalStateException(
        "bad table: cell=" + name + " column=" + column + " value=" + value);
  }
}
