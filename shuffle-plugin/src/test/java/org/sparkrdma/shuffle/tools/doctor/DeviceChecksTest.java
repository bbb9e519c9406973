// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.tools.doctor;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.InetAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.sparkrdma.verbs.device.DeviceInfo;
import org.sparkrdma.verbs.device.PortInfo;
import org.sparkrdma.verbs.device.PortState;
import org.sparkrdma.verbs.device.Transport;

/**
 * Checks of devices, their ports and their files on directories like the files of several machines.
 */
class DeviceChecksTest extends FakeMachineFixture {
  @Test
  void shouldDescribeADeviceOfSoftRoce() {
    machine.rxe();
    assertThat(machine.findings(PortsCheck::run))
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
    assertThat(machine.findings(HostChecks::modules))
        .contains("OK RDMA devices: rxe0. | nothing")
        .allMatch(text -> text.startsWith("OK "));
    assertThat(machine.findings(HostChecks::deviceFiles))
        .containsExactly(
            "OK user=spark may use /dev/infiniband/rdma_cm. | nothing",
            "OK user=spark may use /dev/infiniband/uverbs0. | nothing");
    assertThat(machine.findings(HostChecks::namespace))
        .containsExactly("OK RDMA devices are shared by all network namespaces. | nothing");
  }

  /** A link that leads nowhere: root can open every file that exists. */
  @Test
  void shouldSayHowAUserMayUseADeviceFileThatIsRestricted() throws IOException {
    machine.rxe();
    delete("dev/infiniband/uverbs0");
    Files.createSymbolicLink(root.resolve("dev/infiniband/uverbs0"), Path.of("missing"));
    assertThat(machine.findings(HostChecks::deviceFiles))
        .contains(
            "PROBLEM user=spark may not read and write /dev/infiniband/uverbs0."
                + " | add the user to the group of that file, or remove the udev rule that restricts"
                + " it: the kernel creates it with rw for all users");
  }

  @Test
  void shouldReportRoceInterfacesThatAnswerArpForEachOther() {
    machine.rxe();
    assertThat(machine.findings(NetworkChecks::arp)).isEmpty();

    machine
        .port("rxe1", "4: ACTIVE", "2.5 Gb/sec (1X SDR)", "wire3")
        .file("proc/sys/net/ipv4/conf/all/arp_ignore", "0\n")
        .file("proc/sys/net/ipv4/conf/wire1/arp_ignore", "0\n");
    assertThat(machine.findings(NetworkChecks::arp))
        .singleElement()
        .asString()
        .startsWith("NOTE The interfaces wire1, wire3 may answer ARP for each other's addresses")
        .contains("net.ipv4.conf.all.arp_ignore=1 net.ipv4.conf.all.arp_announce=2");

    // iWARP, whose GIDs have RoCE's type in the kernel's files.
    machine.file("sys/class/infiniband/rxe1/node_type", "4: RNIC\n");
    assertThat(machine.findings(NetworkChecks::arp)).isEmpty();
    machine.file("sys/class/infiniband/rxe1/node_type", "1: CA\n");

    machine.file("proc/sys/net/ipv4/conf/wire1/arp_ignore", "1\n");
    assertThat(machine.findings(NetworkChecks::arp))
        .singleElement()
        .asString()
        .startsWith("NOTE The interfaces wire3 may");

    machine.file("proc/sys/net/ipv4/conf/all/arp_ignore", "2\n");
    assertThat(machine.findings(NetworkChecks::arp))
        .containsExactly("OK The interfaces wire1, wire3 answer ARP each for itself. | nothing");
  }

  @Test
  void shouldSayWhetherThePortMapperOfAnIwarpCardRuns() {
    machine.file("sys/class/infiniband/siw0/node_type", "4: RNIC\n");
    machine.file("sys/class/infiniband/siw0/node_desc", "Software iWARP stack\n");
    machine.file("sys/class/infiniband/mlx5_0/node_type", "1: CA\n");
    assertThat(machine.findings(NetworkChecks::portMapper)).isEmpty();

    machine.file("sys/class/infiniband/cxgb4_0/node_type", "4: RNIC\n");
    machine.file("proc/net/udp", udp("0100007F:0F5E"));
    assertThat(machine.findings(NetworkChecks::portMapper))
        .singleElement()
        .asString()
        .startsWith("NOTE iWARP card cxgb4_0: the port mapper iwpmd does not run here")
        .contains("must allow the TCP port spark.shuffle.rdma.listen.port");

    machine.file("proc/net/udp6", udp("00000000000000000000000000000000:0F5F"));
    assertThat(machine.findings(NetworkChecks::portMapper))
        .singleElement()
        .asString()
        .startsWith("NOTE iWARP card cxgb4_0: the port mapper iwpmd runs")
        .contains("UDP port 3935 and all TCP ports");

    machine.file("proc/net/udp6", "");
    machine.file("proc/net/udp", udp("00000000:0F5F"));
    assertThat(machine.findings(NetworkChecks::portMapper))
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
    assertThat(machine.findings(PortsCheck::run))
        .singleElement()
        .asString()
        .startsWith("WARNING mlx5_0 port 1: link layer Ethernet, state DOWN")
        .contains("The port carries no data. | check cable and switch, and run: ip link set");
  }

  @Test
  void shouldSayThatAnInfiniBandPortWithoutIpoibIsUsedByItsGid() {
    machine.deviceFiles().infiniBandPort("mlx5_0", "fe80:0000:0000:0000:0002:c903:0029:0001");
    machine
        .file("sys/class/net/eth0/address", "00:02:c9:29:00:01\n")
        .file("sys/class/net/ib9/address", ipoibAddress("02"))
        .file("sys/class/net/ib9/operstate", "up\n");
    assertThat(machine.findings(PortsCheck::run))
        .hasSize(3)
        .contains(
            "NOTE mlx5_0 port 1 has no IPoIB interface, so it has no IP address. Executors on engine"
                + " ibverbs connect by its GID (AF_IB), to ports without an IP address and with the"
                + " same subnet prefix. | nothing, if no host has an IP address on InfiniBand;"
                + " otherwise run: modprobe ib_ipoib && ip link set ib0 up && ip addr add ADDRESS/PREFIX dev ib0");

    machine
        .file("sys/class/net/ib3/address", ipoibAddress("01"))
        .file("sys/class/net/ib3/operstate", "down\n");
    assertThat(machine.findings(PortsCheck::run))
        .contains(
            "WARNING mlx5_0 port 1 has the IPoIB interface ib3, which is down, so the port has no IP"
                + " address in use. | run: ip link set ib3 up && ip addr add ADDRESS/PREFIX dev"
                + " ib3");

    machine.file("sys/class/net/ib3/operstate", "up\n");
    assertThat(machine.findings(PortsCheck::run))
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
    assertThat(machine.findings(PortsCheck::run))
        .anyMatch(text -> text.startsWith("WARNING mlx5_0 port 1: link layer Ethernet, state DOWN"))
        .anyMatch(
            text -> text.startsWith("OK mlx5_1 port 1: ") && text.contains("MTU 9000 of eth2"))
        .anyMatch(text -> text.startsWith("NOTE mlx5_2 port 1: ") && text.contains("MTU 1500"))
        .noneMatch(text -> text.contains("mlx5_0 port 1 has"));
    assertThat(machine.findings(CountersCheck::run))
        .anyMatch(text -> text.startsWith("OK mlx5_1 port 1: all 1 counters of loss"))
        .anyMatch(
            text ->
                text.startsWith(
                    "NOTE mlx5_2 port 1, lost or repeated packets: out_of_sequence=6. "));
    assertThat(machine.findings(HostChecks::deviceFiles)).hasSize(4);
  }

  private static DeviceInfo card(String name, PortState state, String address) throws Exception {
    PortInfo port =
        new PortInfo(1, state, 4_096, List.of(), List.of(InetAddress.getByName(address)));
    return new DeviceInfo(name, "ibverbs", Transport.INFINIBAND, 1, null, Set.of(), List.of(port));
  }

  @Test
  void shouldReportThatDevicesBelongToNetworkNamespaces() {
    machine.file("sys/module/ib_core/parameters/netns_mode", "N\n");
    assertThat(machine.findings(HostChecks::namespace))
        .singleElement()
        .asString()
        .contains("belongs to one network namespace", "rdma dev set DEVICE netns");
  }

  @Test
  void shouldFindTheMissingDeviceFileOfAContainer() {
    machine.rxe().file(".dockerenv", "");
    delete("dev/infiniband/uverbs0");
    delete("dev/infiniband/rdma_cm");
    assertThat(machine.findings(HostChecks::deviceFiles))
        .singleElement()
        .asString()
        .startsWith("PROBLEM The kernel has RDMA devices [rxe0], but this process sees no")
        .contains("| start the container with --device=/dev/infiniband");
    assertThat(machine.findings(HostChecks::environment))
        .containsExactly("OK This process runs in a container. | nothing");
  }

  @Test
  void shouldReportThatConnectionsNeedTheirDeviceFile() {
    machine.rxe();
    delete("dev/infiniband/rdma_cm");
    assertThat(machine.findings(HostChecks::deviceFiles))
        .anyMatch(text -> text.startsWith("PROBLEM /dev/infiniband/rdma_cm is missing"));
  }
}
