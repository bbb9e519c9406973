// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.tools.doctor;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.InetAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.sparkrdma.verbs.device.DeviceInfo;
import org.sparkrdma.verbs.device.PortInfo;
import org.sparkrdma.verbs.device.PortState;
import org.sparkrdma.verbs.device.Transport;

/** Checks of the host on directories like the files of several machines. */
class HostChecksTest {
  @TempDir private Path root;
  private FakeMachine machine;

  @BeforeEach
  void create() {
    machine = new FakeMachine(root);
  }

  @Test
  void shouldExplainABareMachine() {
    Doctor.Report report = machine.report();
    assertThat(report.usable()).isFalse();
    assertThat(report.summary()).isEqualTo("RDMA will not be used: ibverbs: no RDMA device");
    assertThat(machine.findings(new LibrariesCheck()))
        .contains(
            "PROBLEM libibverbs.so.1 was not found. | apt install libibverbs1 librdmacm1"
                + " ibverbs-providers, or dnf install libibverbs librdmacm");
    assertThat(machine.findings(new ModulesCheck()))
        .contains("PROBLEM The module ib_uverbs is not loaded. | modprobe ib_uverbs (on the host)")
        .last()
        .asString()
        .startsWith("PROBLEM No driver of an RDMA device is loaded")
        .contains("rdma link add rxe0 type rxe");
    assertThat(machine.findings(new PortsCheck())).isEmpty();
    assertThat(report.count(Level.PROBLEM)).isGreaterThanOrEqualTo(6);
  }

  @Test
  void shouldOnlyNoteMissingModulesAndLibrariesWhenTheDeviceOfAnyEngineIsLoopback() {
    machine.device("fourth", Transport.LOOPBACK);
    assertThat(machine.findings(new ModulesCheck())).allMatch(text -> text.startsWith("NOTE "));
    assertThat(machine.findings(new LibrariesCheck())).allMatch(text -> text.startsWith("NOTE "));
  }

  @Test
  void shouldReportMissingModulesAndLibrariesWhenTheDeviceIsHardware() {
    machine.device("fourth", Transport.INFINIBAND);
    assertThat(machine.findings(new ModulesCheck())).anyMatch(text -> text.startsWith("PROBLEM "));
    assertThat(machine.findings(new LibrariesCheck()))
        .anyMatch(text -> text.startsWith("PROBLEM "));
  }

  @Test
  void shouldDescribeADeviceOfSoftRoce() {
    machine.rxe();
    assertThat(machine.findings(new PortsCheck()))
        .hasSize(2)
        .anyMatch(
            text ->
                text.startsWith(
                    "NOTE rxe0 port 1: link layer Ethernet, state ACTIVE, speed 2.5 Gb/sec (1X SDR),"
                        + " MTU 1500 of wire1."))
        .anyMatch(
            text ->
                text.startsWith("OK rxe0 port 1 has 2 GIDs: 0 RoCE v2 fe80:")
                    && text.contains("1 RoCE v2 10.99.1.1."));
    assertThat(machine.findings(new ModulesCheck()))
        .contains("OK Drivers: rdma_rxe. | nothing")
        .allMatch(text -> text.startsWith("OK "));
    assertThat(machine.findings(new DeviceNodesCheck()))
        .containsExactly(
            "OK user=spark may use /dev/infiniband/rdma_cm. | nothing",
            "OK user=spark may use /dev/infiniband/uverbs0. | nothing");
    assertThat(machine.findings(new NamespaceCheck()))
        .containsExactly("OK RDMA devices are shared by all network namespaces. | nothing");
  }

  /** A link that leads nowhere: root can open every file that exists. */
  @Test
  void shouldSayHowAUserMayUseADeviceFileThatIsRestricted() throws IOException {
    machine.rxe();
    delete("dev/infiniband/uverbs0");
    Files.createSymbolicLink(root.resolve("dev/infiniband/uverbs0"), Path.of("missing"));
    assertThat(machine.findings(new DeviceNodesCheck()))
        .contains(
            "PROBLEM user=spark may not read and write /dev/infiniband/uverbs0."
                + " | add the user to the group of that file, or remove the udev rule that restricts"
                + " it: the kernel creates it with rw for all users");
  }

  @Test
  void shouldReportRoceInterfacesThatAnswerArpForEachOther() {
    machine.rxe();
    assertThat(machine.findings(new ArpCheck())).isEmpty();

    machine
        .port("rxe1", "4: ACTIVE", "2.5 Gb/sec (1X SDR)", "wire3")
        .file("proc/sys/net/ipv4/conf/all/arp_ignore", "0\n")
        .file("proc/sys/net/ipv4/conf/wire1/arp_ignore", "0\n");
    assertThat(machine.findings(new ArpCheck()))
        .singleElement()
        .asString()
        .startsWith("NOTE The interfaces wire1, wire3 may answer ARP for each other's addresses")
        .contains("net.ipv4.conf.all.arp_ignore=1 net.ipv4.conf.all.arp_announce=2");

    // iWARP, whose GIDs have RoCE's type in the kernel's files.
    machine.file("sys/class/infiniband/rxe1/node_type", "4: RNIC\n");
    assertThat(machine.findings(new ArpCheck())).isEmpty();
    machine.file("sys/class/infiniband/rxe1/node_type", "1: CA\n");

    machine.file("proc/sys/net/ipv4/conf/wire1/arp_ignore", "1\n");
    assertThat(machine.findings(new ArpCheck()))
        .singleElement()
        .asString()
        .startsWith("NOTE The interfaces wire3 may");

    machine.file("proc/sys/net/ipv4/conf/all/arp_ignore", "2\n");
    assertThat(machine.findings(new ArpCheck()))
        .containsExactly("OK The interfaces wire1, wire3 answer ARP each for itself. | nothing");
  }

  @Test
  void shouldSayWhetherThePortMapperOfAnIwarpCardRuns() {
    machine.file("sys/class/infiniband/siw0/node_type", "4: RNIC\n");
    machine.file("sys/class/infiniband/siw0/node_desc", "Software iWARP stack\n");
    machine.file("sys/class/infiniband/mlx5_0/node_type", "1: CA\n");
    assertThat(machine.findings(new PortMapperCheck())).isEmpty();

    machine.file("sys/class/infiniband/cxgb4_0/node_type", "4: RNIC\n");
    machine.file("proc/net/udp", udp("0100007F:0F5E"));
    assertThat(machine.findings(new PortMapperCheck()))
        .singleElement()
        .asString()
        .startsWith("NOTE iWARP card cxgb4_0: the port mapper iwpmd does not run here")
        .contains("must allow the TCP port spark.shuffle.rdma.listen.port");

    machine.file("proc/net/udp6", udp("00000000000000000000000000000000:0F5F"));
    assertThat(machine.findings(new PortMapperCheck()))
        .singleElement()
        .asString()
        .startsWith("NOTE iWARP card cxgb4_0: the port mapper iwpmd runs")
        .contains("UDP port 3935 and all TCP ports");

    machine.file("proc/net/udp6", "");
    machine.file("proc/net/udp", udp("00000000:0F5F"));
    assertThat(machine.findings(new PortMapperCheck()))
        .singleElement()
        .asString()
        .contains("iwpmd runs");
  }

  /** A file like that of the kernel with one socket. */
  private static String udp(String localAddress) {
    return "   sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid\n"
        + ("  215: " + localAddress + " 00000000:0000 07 00000000:00000000 00:00000000 00000000\n");
  }

  @Test
  void shouldReportAPortThatIsDown() {
    machine.deviceFiles().port("mlx5_0", "1: DOWN", "40 Gb/sec (4X QDR)", "eth1");
    assertThat(machine.findings(new PortsCheck()))
        .singleElement()
        .asString()
        .startsWith("WARNING mlx5_0 port 1: link layer Ethernet, state DOWN")
        .contains("The port carries no data. | check cable and switch, and run: ip link set");
  }

  @Test
  void shouldSayThatAnInfiniBandPortWithoutIpoibCannotBeUsed() {
    machine.deviceFiles().infiniBandPort("mlx5_0", "fe80:0000:0000:0000:0002:c903:0029:0001");
    machine
        .file("sys/class/net/eth0/address", "00:02:c9:29:00:01\n")
        .file("sys/class/net/ib9/address", ipoibAddress("02"))
        .file("sys/class/net/ib9/operstate", "up\n");
    assertThat(machine.findings(new PortsCheck()))
        .hasSize(3)
        .contains(
            "WARNING mlx5_0 port 1 has no IPoIB interface, so it has no IP address. This version"
                + " connects by IP addresses only and cannot use the port. | run: modprobe ib_ipoib"
                + " && ip link set ib0 up && ip addr add ADDRESS/PREFIX dev ib0");

    machine
        .file("sys/class/net/ib3/address", ipoibAddress("01"))
        .file("sys/class/net/ib3/operstate", "down\n");
    assertThat(machine.findings(new PortsCheck()))
        .contains(
            "WARNING mlx5_0 port 1 has the IPoIB interface ib3, which is down, so the port has no IP"
                + " address in use. | run: ip link set ib3 up && ip addr add ADDRESS/PREFIX dev"
                + " ib3");

    machine.file("sys/class/net/ib3/operstate", "up\n");
    assertThat(machine.findings(new PortsCheck()))
        .contains("OK mlx5_0 port 1 has the IPoIB interface ib3. | nothing");
  }

  /** Number of a queue pair, then the GID. */
  private static String ipoibAddress(String last) {
    return "00:00:10:86:fe:80:00:00:00:00:00:00:00:02:c9:03:00:29:00:" + last + "\n";
  }

  @Test
  void shouldChooseAmongSeveralCardsAndReportEachOfThem() throws Exception {
    String counter = "sys/class/infiniband/%s/ports/1/hw_counters/out_of_sequence";
    machine
        .rxe()
        .port("mlx5_0", "1: DOWN", "100 Gb/sec (4X EDR)", "eth1")
        .port("mlx5_1", "4: ACTIVE", "100 Gb/sec (4X EDR)", "eth2")
        .port("mlx5_2", "4: ACTIVE", "25 Gb/sec (1X EDR)", "eth3")
        .file("dev/infiniband/uverbs1", "")
        .file("dev/infiniband/uverbs2", "")
        .file("sys/class/net/eth2/mtu", "9000\n")
        .file("sys/class/net/eth3/mtu", "1500\n")
        .file(counter.formatted("mlx5_1"), "0\n")
        .file(counter.formatted("mlx5_2"), "6\n");
    InetAddress spark = InetAddress.getByName("10.2.0.5");
    machine.usedOf(
        spark,
        List.of(
            card("mlx5_0", PortState.DOWN, "10.2.0.5"),
            card("mlx5_2", PortState.ACTIVE, "10.3.0.5"),
            card("mlx5_1", PortState.ACTIVE, "10.2.0.5")));
    Doctor.Report report = machine.report();
    assertThat(report.summary()).startsWith("RDMA will be used: device mlx5_1 port 1 of engine ");
    assertThat(machine.findings(new PortsCheck()))
        .anyMatch(text -> text.startsWith("WARNING mlx5_0 port 1: link layer Ethernet, state DOWN"))
        .anyMatch(
            text -> text.startsWith("OK mlx5_1 port 1: ") && text.contains("MTU 9000 of eth2"))
        .anyMatch(text -> text.startsWith("NOTE mlx5_2 port 1: ") && text.contains("MTU 1500"))
        .noneMatch(text -> text.contains("mlx5_0 port 1 has"));
    assertThat(machine.findings(new CountersCheck()))
        .anyMatch(text -> text.startsWith("OK mlx5_1 port 1: all counters are 0 of out of seq"))
        .anyMatch(
            text ->
                text.startsWith("NOTE mlx5_2 port 1, out of sequence: ")
                    && text.contains(". out_of_sequence=6. "));
    assertThat(machine.findings(new DeviceNodesCheck())).hasSize(4);
  }

  private static DeviceInfo card(String name, PortState state, String address) throws Exception {
    PortInfo port =
        new PortInfo(1, state, 4_096, List.of(), List.of(InetAddress.getByName(address)));
    return new DeviceInfo(name, "ibverbs", Transport.INFINIBAND, 1, null, Set.of(), List.of(port));
  }

  @Test
  void shouldAdviseAStepTowardsRdmaWhenOnlyTheEngineHasAReason() {
    machine.rxe();
    Map<String, String> steps =
        Map.of(
            "no usable device: rxe0 port 1 is not active: state=DOWN",
                "bring a port up: ip link set",
            "no usable device: mlx5_0 port 1 has no IP address in this network namespace: give",
                "give the port an IP address as the sentence says",
            "no usable device: mlx5_0 port 1 has only link-local addresses, which",
                "give the port an IP address as the sentence says",
            "no usable device: rxe0 is not in spark.shuffle.rdma.device",
                "choose a device, a port and an address of those under ports",
            "ibverbs: no permission: user=spark may not read", "give this user access",
            "ibverbs: no RDMA device: the kernel lists none", "run this on a host with",
            "memory cannot be registered: start the container with --ulimit", "do as the sentence",
            "no room for an executor: start fewer executors on this host", "do as the sentence",
            "disni: java.lang.UnsatisfiedLinkError", "run ibv_devinfo here");
    steps.forEach(
        (reason, step) ->
            assertThat(new EngineCheck().run(machine.reason(reason).facts(), false))
                .singleElement()
                .satisfies(finding -> assertThat(finding.level()).isEqualTo(Level.PROBLEM))
                .satisfies(finding -> assertThat(finding.advice()).startsWith(step)));
  }

  @Test
  void shouldSendToTheProblemsAboveOfWhichTheReasonOfTheEngineFollows() {
    machine.rxe().reason("ibverbs: /dev/infiniband/rdma_cm is not there: load the module rdma_ucm");
    delete("dev/infiniband/rdma_cm");
    assertThat(machine.report().findings().get("engine"))
        .singleElement()
        .satisfies(
            finding ->
                assertThat(finding.advice())
                    .isEqualTo("solve the problems above, then run this again"));
  }

  @Test
  void shouldReportThatDevicesBelongToNetworkNamespaces() {
    machine.file("sys/module/ib_core/parameters/netns_mode", "N\n");
    assertThat(machine.findings(new NamespaceCheck()))
        .singleElement()
        .asString()
        .contains("belongs to one network namespace", "rdma dev set DEVICE netns");
  }

  @Test
  void shouldAdviseHowToRaiseALimitOfLockedMemoryThatIsTooSmall() {
    machine.memlock("65536", "131072").variable("KUBERNETES_SERVICE_HOST", "10.0.0.1");
    assertThat(machine.findings(new LockedMemoryCheck()))
        .last()
        .asString()
        .startsWith(
            "PROBLEM This process may lock 65536 bytes (soft limit), at most 131072 (hard limit)."
                + " That is too little for any RDMA; an executor uses up to 536870912 bytes (512 MiB). | in"
                + " Kubernetes add the capability IPC_LOCK");
  }

  @Test
  void shouldAcceptASmallLimitOfLockedMemoryWithTheCapability() {
    machine
        .memlock("65536", "65536")
        .file("proc/self/uid_map", "         0          0 4294967295\n")
        .file("proc/self/status", "Name:\tjava\nCapEff:\t0000000000004000\n");
    assertThat(machine.findings(new LockedMemoryCheck()))
        .last()
        .asString()
        .startsWith("OK ")
        .contains("CAP_IPC_LOCK");
  }

  @Test
  void shouldFindTheMissingDeviceFileOfAContainer() {
    machine.rxe().file(".dockerenv", "");
    delete("dev/infiniband/uverbs0");
    delete("dev/infiniband/rdma_cm");
    assertThat(machine.findings(new DeviceNodesCheck()))
        .singleElement()
        .asString()
        .startsWith("PROBLEM The kernel has RDMA devices [rxe0], but this process sees no")
        .contains("| start the container with --device=/dev/infiniband");
    assertThat(machine.findings(new EnvironmentCheck()))
        .containsExactly("OK This process runs in a container. | nothing");
  }

  @Test
  void shouldReportThatConnectionsNeedTheirDeviceFile() {
    machine.rxe();
    delete("dev/infiniband/rdma_cm");
    assertThat(machine.findings(new DeviceNodesCheck()))
        .anyMatch(text -> text.startsWith("PROBLEM /dev/infiniband/rdma_cm is missing"));
  }

  @Test
  void shouldNameVersionsOfLibrariesAndTheirPartsForCards() throws IOException {
    String folder = "usr/lib/x86_64-linux-gnu/";
    machine
        .file(folder + "libibverbs.so.1.14.44.0", "")
        .file(folder + "librdmacm.so.1.3.44.0", "")
        .file(folder + "libibverbs/libmlx5-rdmav34.so", "")
        .file(folder + "libibverbs/librxe-rdmav34.so", "");
    link(folder + "libibverbs.so.1", "libibverbs.so.1.14.44.0");
    link(folder + "librdmacm.so.1", "librdmacm.so.1.3.44.0");
    assertThat(machine.findings(new LibrariesCheck()))
        .containsExactly(
            "OK libibverbs.so.1 is /" + folder + "libibverbs.so.1.14.44.0. | nothing",
            "OK librdmacm.so.1 is /" + folder + "librdmacm.so.1.3.44.0. | nothing",
            "OK libibverbs has parts for: mlx5 rxe. | nothing");
    delete(folder + "libibverbs/libmlx5-rdmav34.so");
    delete(folder + "libibverbs/librxe-rdmav34.so");
    assertThat(machine.findings(new LibrariesCheck()))
        .anyMatch(text -> text.contains("no part for any card"));
  }

  @Test
  void shouldWarnThatLinux61WritesMapOutputsAgain() {
    assertThat(machine.findings(new SystemCheck()))
        .containsExactly("OK Linux 6.12.117 on amd64. | nothing");
    machine.file("proc/sys/kernel/osrelease", "6.1.0-31-amd64\n");
    assertThat(machine.findings(new SystemCheck()))
        .singleElement()
        .asString()
        .startsWith("WARNING Linux 6.1.0-31-amd64")
        .endsWith(
            " | use Linux 6.2 or newer (6.12 was tested), or set spark.shuffle.rdma.serve=copy");
    machine.file("proc/sys/kernel/osrelease", "6.2.0\n");
    assertThat(machine.findings(new SystemCheck()))
        .containsExactly("OK Linux 6.2.0 on amd64. | nothing");
    assertThat(machine.java("os.name", "Mac OS X").findings(new SystemCheck()))
        .singleElement()
        .asString()
        .startsWith("PROBLEM This is Mac OS X");
  }

  @Test
  void shouldFindATemporaryFolderWithoutExecutableFiles() {
    assertThat(machine.findings(new JavaCheck())).singleElement().asString().startsWith("OK ");
    machine.file(
        "proc/self/mountinfo",
        "22 1 0:18 / / rw - ext4 /dev/sda1 rw\n23 22 0:20 / /tmp rw,noexec - tmpfs tmpfs rw\n");
    assertThat(machine.findings(new JavaCheck()))
        .singleElement()
        .asString()
        .startsWith("PROBLEM Java 17.0.15")
        .contains("mounted noexec", "jffi.extract.dir")
        .contains(" in spark.executor.extraJavaOptions and spark.driver.extraJavaOptions, with");
    assertThat(machine.java("java.specification.version", "25").findings(new JavaCheck()))
        .singleElement()
        .asString()
        .contains("through java.lang.foreign");
  }

  @Test
  void shouldWarnThatThisHostDoesNotHaveSparksAddress() throws IOException {
    Check check = new SparkAddressCheck();
    assertThat(machine.findings(check)).isEmpty();
    // An address for documentation (RFC 5737).
    machine.sparkHost(InetAddress.getByName("203.0.113.77"));
    assertThat(machine.findings(check))
        .containsExactly(
            "WARNING 203.0.113.77, assumed to be Spark's own address, is not an address of this host."
                + " | run this on the host that has it, give an address of this host with --host,"
                + " or correct SPARK_LOCAL_IP or the address of the host's name");
    assertThat(machine.report().findings().get(check.name())).hasSize(1);
    assertThat(machine.sparkHost(InetAddress.getByName("127.0.0.2")).findings(check)).isEmpty();
  }

  @Test
  void shouldFindATemporaryFolderThatIsMissingOrTakesNoFiles() {
    String missing = root.resolve("missing").toString();
    assertThat(machine.java("java.io.tmpdir", missing).findings(new JavaCheck()))
        .singleElement()
        .asString()
        .startsWith("PROBLEM Java 17.0.15 calls the libraries through jffi, ")
        .contains("to " + missing + ". That folder does not exist. | set -Djffi.extract.dir=DIR");
    assertThat(machine.java("java.io.tmpdir", "/proc").findings(new JavaCheck()))
        .singleElement()
        .asString()
        .startsWith("PROBLEM Java 17.0.15 calls the libraries through jffi, ")
        .contains("to /proc. user=spark cannot write there: ");
    assertThat(root.resolve("missing")).doesNotExist();
    assertThat(machine.java("java.specification.version", "25").findings(new JavaCheck()))
        .singleElement()
        .asString()
        .startsWith("NOTE ");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          21 | --none                                                           | OK
          22 | --none                                                           | NOTE
          25 | --enable-native-access=java.base                                 | NOTE
          25 | --enable-native-access=ALL-UNNAMED-NOT                           | NOTE
          25 | -Xms1g --enable-native-access=ALL-UNNAMED -Dany=1                | OK
          25 | --enable-native-access=java.base,ALL-UNNAMED                     | OK
          25 | --enable-native-access ALL-UNNAMED                               | OK
          """)
  void shouldFindExecutorsThatMayNotCallC(String version, String options, String level) {
    List<FakeMachine> machines =
        List.of(
            new FakeMachine(root).setting("spark.executor.extraJavaOptions", options),
            new FakeMachine(root).setting("spark.executor.defaultJavaOptions", options),
            new FakeMachine(root).variable("JDK_JAVA_OPTIONS", options),
            new FakeMachine(root).variable("JAVA_TOOL_OPTIONS", options));
    for (FakeMachine one : machines) {
      String finding =
          one.java("java.specification.version", version).findings(new JavaCheck()).get(0);
      assertThat(finding).startsWith(level + " Java ");
      assertThat(
              finding.contains(
                  "add --enable-native-access=ALL-UNNAMED to spark.executor.extraJavaOptions and"
                      + " spark.driver.extraJavaOptions; "))
          .isEqualTo(level.equals("NOTE"));
    }
  }

  @Test
  void shouldReadLimitsOfDeviceObjectsOfBothVersionsOfControlGroups() {
    machine
        .file("proc/self/cgroup", "0::/pod\n5:rdma:/docker\n")
        .file("sys/fs/cgroup/pod/rdma.max", "mlx5_0 hca_handle=2 hca_object=50\n")
        .file("sys/fs/cgroup/pod/memory.max", "" + (1L << 30))
        .file("sys/fs/cgroup/rdma/docker/rdma.max", "mlx5_1 hca_handle=max hca_object=max\n");
    assertThat(machine.findings(new ControlGroupsCheck()))
        .contains(
            "OK The memory limit of the control groups is 1024 MiB; pinned memory counts as part of it. | nothing")
        .contains(
            "OK The limit of objects of an RDMA device is mlx5_1 hca_handle=max hca_object=max."
                + " | nothing")
        .anyMatch(
            text -> text.startsWith("PROBLEM") && text.contains("hca_object=50. That is too"));
  }

  private void delete(String name) {
    assertThat(root.resolve(name).toFile().delete()).isTrue();
  }

  private void link(String name, String target) throws IOException {
    Files.createSymbolicLink(root.resolve(name), Path.of(target));
  }
}
