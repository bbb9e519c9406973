// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.guest.cluster;

import java.io.IOException;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import org.apache.spark.SparkConf;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.sparkrdma.executors.ExecutorChecks;
import org.sparkrdma.executors.LeakLog;
import org.sparkrdma.scenarios.MasterAndWorkers;

/**
 * The program of each kernel: a Worker, and on node 1 also the Master and the applications named by
 * the arguments. Ends after the last application. Spark's TCP uses the wire of iWARP, so that the
 * wire of RoCE can fail alone.
 */
public final class ClusterNode {
  private static final Logger LOG = LoggerFactory.getLogger(ClusterNode.class);
  private static final int MASTER_PORT = 7077;
  private static final String MANAGER = "org.sparkrdma.shuffle.RdmaShuffleManager";

  /** Options of executors. */
  private static final String JVM = System.getProperty("guest.jvm");

  private static final String IN_BACKGROUND = "exec 2 setsid -f >/dev/null 2>&1 </dev/null ";
  private static final String AUTHENTICATED = "authenticated";
  private static final String TRANSFER = "transfer";
  private static final String DISNI = "disni";
  private static final String IPV6 = "ipv6";

  /** Two RoCE devices in each kernel, each pair of them in a subnet of its own. */
  private static final String TWO_SUBNETS = "rocev2-two-subnets";

  /** Two RoCE devices in each kernel, all in one subnet. */
  private static final String ONE_SUBNET = "rocev2-one-subnet";

  /** Same as {@link #TWO_SUBNETS}, in a cell of the guest matrix. */
  private static final String RAILS_CELL = "rocev2-rails-cell";

  /** An address for RDMA alone, which is replaced by another one. */
  private static final String TWO_ADDRESSES_CELL = "iwarp-two-addresses-cell-fault";

  /** In the names of applications on devices that have IPv6 link-local addresses only. */
  private static final String LINK_LOCAL = "-link-local";

  /** End of the name of one of them whose settings select these addresses. */
  private static final String LINK_LOCAL_SELECTED = LINK_LOCAL + "-selected";

  /** End of the names of applications that set no more than a user must. */
  private static final String SHIPPED = "-shipped";

  private static final String PREFER_IPV6 = " -Djava.net.preferIPv6Addresses=true";
  private static final String FINISHED = "finished";
  private static final long PAUSE_NS = 200_000_000;
  private static final long END_NS = 15_000_000_000L;

  private final Path share = Path.of(System.getenv("GUEST_SHARE"));
  private final Path answers = Path.of(System.getProperty("guest.answers"));
  private final HostControl host = new HostControl(share);
  private final boolean authenticate;
  private final String jvm;
  private final String own;
  private final String masterHost;

  private ClusterNode(boolean authenticate, boolean ipv6) {
    this.authenticate = authenticate;
    jvm = ipv6 ? JVM + PREFER_IPV6 : JVM;
    String family = ipv6 ? "6" : "";
    own = address("GUEST_IWARP_ADDRESS" + family);
    String peer = address("GUEST_IWARP_PEER_ADDRESS" + family);
    masterHost = System.getenv("GUEST_NODE").equals("1") ? own : peer;
  }

  /** Returns an address in the notation of Spark. */
  private static String address(String variable) {
    try {
      InetAddress address = InetAddress.getByName(System.getenv(variable));
      String literal = address.getHostAddress();
      return address instanceof Inet6Address ? "[" + literal + "]" : literal;
    } catch (UnknownHostException e) {
      throw new IllegalStateException("invalid address: variable=" + variable, e);
    }
  }

  public static void main(String[] arguments) throws Exception {
    List<String> applications = List.of(arguments);
    // Does not wait for Spark's threads.
    Thread.setDefaultUncaughtExceptionHandler(
        (thread, failure) -> {
          LOG.error("failed", failure);
          if (thread.getName().equals("main")) {
            Runtime.getRuntime().halt(1);
          }
        });
    new ClusterNode(
            applications.stream().anyMatch(name -> name.endsWith(AUTHENTICATED)),
            applications.stream().anyMatch(name -> name.endsWith(IPV6)))
        .run(applications);
    System.exit(0);
  }

  private void run(List<String> applications) throws Exception {
    String node = System.getenv("GUEST_NODE");
    try (MasterAndWorkers cluster = new MasterAndWorkers(security(new SparkConf()))) {
      if (node.equals("1")) {
        cluster.startMaster(masterHost, MASTER_PORT);
      }
      cluster.startWorker(
          "spark://" + masterHost + ":" + MASTER_PORT, own, 1, share.resolve("work" + node) + "");
      if (node.equals("1")) {
        try {
          for (int i = 0; i < applications.size(); i++) {
            runApplication(applications.get(i), i == 0);
            awaitEndOfExecutors();
          }
        } finally {
          HostControl.put(share, FINISHED, "");
        }
      } else {
        while (!Files.exists(share.resolve(FINISHED))) {
          LockSupport.parkNanos(PAUSE_NS);
        }
        awaitEndOfExecutors();
      }
    }
  }

  /** They write the results of their leak checks when they end, which this kernel must outlive. */
  private static void awaitEndOfExecutors() {
    long start = System.nanoTime();
    while (ProcessHandle.current().children().findAny().isPresent()
        && System.nanoTime() - start < END_NS) {
      LockSupport.parkNanos(PAUSE_NS);
    }
  }

  private void runApplication(String name, boolean first) throws Exception {
    if (name.equals(ONE_SUBNET)) {
      moveSecondRailsToFirstSubnet();
    }
    try (Application application = new Application(name, conf(name), share, answers, host)) {
      if (first && !isFirstConnection(name)) {
        application.warmUp();
      }
      switch (name) {
        case "rocev2", "iwarp" -> {
          application.tera("tera");
          application.blocks("blocks");
          application.blocksUnder("loss", "loss 1%");
          application.blocksUnder("reordering", "delay 5ms reorder 25% 50%");
          application.blocksUnder("delay", "delay 20ms");
          application.blocksFromTheStartUnder("link-cut", "cut 10");
          application.blocksDuring(
              "card-deleted", IN_BACKGROUND + "rdma link delete " + devices(name));
          if (name.equals("rocev2")) {
            application.blocksFromTheStartUnder("card-unplugged", "exec 2 ip link set wire1 down");
          }
        }
        case "rocev2-authenticated", "iwarp-authenticated" -> {
          application.tera("tera");
          application.blocksWithLossDuring(
              "executor-killed", "exec 2 pkill -9 -f [C]oarseGrainedExecutor");
          application.slowWires();
          application.blocksWithLossDuring("node-killed", "kill 2");
        }
        case "rocev2-cell-fault", "iwarp-cell-fault", TWO_ADDRESSES_CELL ->
            application.blocksUnderFault("fault", "repair");
        case TWO_SUBNETS,
            ONE_SUBNET,
            RAILS_CELL,
            "rocev2-cell",
            "iwarp-cell",
            "rocev2-cell-shipped",
            "rocev2-ipv6",
            "iwarp-ipv6",
            "rocev2-link-local",
            "iwarp-link-local",
            "rocev2-link-local-selected",
            "iwarp-link-local-selected" ->
            application.blocks("blocks");
        case "rocev2-disni", "iwarp-disni" -> {
          application.tera("tera");
          application.blocks("blocks");
        }
        case "rocev2-lost-req" -> application.firstConnectionUnder("lose REQ 1");
        case "rocev2-lost-rep" -> application.firstConnectionUnder("lose REP 1");
        case "rocev2-lost-rtu" -> application.firstConnectionUnder("lose RTU 1");
        case "iwarp-lost-request" -> application.firstConnectionUnder("lose MPA-REQUEST 1");
        case "iwarp-lost-reply" -> application.firstConnectionUnder("lose MPA-REPLY 1");
        case "rocev2-smoke-transfer" -> {
          application.tera("tera");
          application.transfer();
        }
        case "rocev2-broadcast", "iwarp-broadcast" -> application.broadcasts();
        default -> throw new IllegalArgumentException("no such application: name=" + name);
      }
    }
  }

  /** Both devices of a kernel then have an address in one subnet. */
  private void moveSecondRailsToFirstSubnet() throws IOException {
    for (int node = 1; node <= 2; node++) {
      host.ask(
          "exec %d ip addr add 10.99.1.%d/24 dev wire3 && ip addr del 10.99.3.%d/24 dev wire3"
              .formatted(node, node + 10, node));
    }
  }

  private SparkConf conf(String name) {
    SparkConf conf =
        security(new SparkConf())
            .setMaster("spark://" + masterHost + ":" + MASTER_PORT)
            .set("spark.driver.host", own)
            .set("spark.driver.bindAddress", own)
            .set("spark.ui.enabled", "false")
            .set("spark.executor.cores", "1")
            .set("spark.executor.memory", "640m")
            .set("spark.executor.extraJavaOptions", jvm)
            .set("spark.cores.max", "2")
            .set("spark.task.maxFailures", "8")
            .set("spark.jars", System.getProperty("guest.jars"));
    if (System.getenv(LeakLog.VARIABLE) != null) {
      conf.set("spark.plugins", ExecutorChecks.class.getName());
    }
    if (authenticate) {
      // A node is killed: Spark must detect this within seconds as well.
      conf.set("spark.executor.heartbeatInterval", "2s")
          .set("spark.network.timeout", "15s")
          .set("spark.network.timeoutInterval", "5s")
          // Otherwise a reader tries four times, for 15 s each, to reach the dead node.
          .set("spark.shuffle.io.connectionCreationTimeout", "5s")
          .set("spark.shuffle.io.retryWait", "1s")
          .set("spark.stage.maxConsecutiveAttempts", "8");
    }
    if (name.endsWith(SHIPPED)) {
      return conf.set("spark.shuffle.manager", MANAGER);
    }
    if (name.equals(TWO_ADDRESSES_CELL)) {
      conf.set("spark.shuffle.rdma.listen.address", "10.99.9.0/24");
    }
    if (name.endsWith(LINK_LOCAL_SELECTED)) {
      conf.set("spark.shuffle.rdma.listen.address", "fe80::/10");
    }
    if (name.endsWith(TRANSFER)) {
      // All tiers of the JIT compiler.
      conf.set("spark.executor.extraJavaOptions", "-XX:+UseSerialGC")
          .set("spark.shuffle.rdma.pinned.max", "160m")
          .set("spark.shuffle.rdma.mode", "required")
          .set("spark.shuffle.rdma.verify", "false")
          // The first connection is established while both ends still compile.
          .set("spark.shuffle.rdma.connect.timeout", "30s")
          .set("spark.task.maxFailures", "1");
    }
    // An emulated kernel takes its time for everything.
    conf.set("spark.shuffle.rdma.waits.factor", "50");
    if (name.endsWith("-broadcast")) {
      BroadcastValues.configure(conf);
    }
    if (!isFirstConnection(name)) {
      conf.set("spark.shuffle.rdma.request.timeout", "10s");
    }
    if (isOnRails(name) || name.endsWith(IPV6)) {
      conf.set("spark.shuffle.rdma.tos", "104");
    }
    if (name.endsWith(DISNI)) {
      conf.set("spark.executor.extraLibraryPath", System.getProperty("guest.disni.library"));
    }
    return conf.set("spark.shuffle.manager", MANAGER)
        .set("spark.shuffle.rdma.engine", name.endsWith(DISNI) ? DISNI : "ibverbs")
        // siw and DiSNI cannot withhold remote access.
        .set(
            "spark.shuffle.rdma.fabric.trusted",
            Boolean.toString(name.startsWith("iwarp") || name.endsWith(DISNI)))
        .set("spark.shuffle.rdma.device", devices(name));
  }

  /** Whether a message of the first connection is lost, under the default time-outs. */
  private static boolean isFirstConnection(String name) {
    return name.contains("-lost-");
  }

  private static boolean isOnRails(String name) {
    return name.equals(TWO_SUBNETS) || name.equals(ONE_SUBNET) || name.equals(RAILS_CELL);
  }

  private static String devices(String name) {
    if (name.equals(RAILS_CELL)) {
      return "rxe0,rxe1";
    }
    if (isOnRails(name)) {
      return "auto";
    }
    if (name.contains(LINK_LOCAL)) {
      return name.startsWith("iwarp") ? "siw1" : "rxe0,rxe1";
    }
    return name.startsWith("iwarp") ? "siw0" : "rxe0";
  }

  private SparkConf security(SparkConf conf) {
    return authenticate
        ? conf.set("spark.worker.timeout", "15")
            .set("spark.authenticate", "true")
            .set("spark.authenticate.secret", "guest-secret")
        : conf;
  }
}
