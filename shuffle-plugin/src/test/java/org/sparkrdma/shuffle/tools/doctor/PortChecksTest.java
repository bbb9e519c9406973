// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.tools.doctor;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** State, ARP and counters of ports, on directories like those of several drivers. */
class PortChecksTest {
  private static final String PORT = "sys/class/infiniband/%s/ports/1/";
  private static final String HW = PORT.formatted("rxe0") + "hw_counters/";

  @TempDir private Path root;
  private FakeMachine machine;

  @BeforeEach
  void create() {
    machine = new FakeMachine(root).rxe();
  }

  @Test
  void shouldReportCountersThatGrow() {
    machine
        .file(HW + "rcvd_seq_err", "7\n")
        .file(HW + "completer_retry_err", "2\n")
        .file(HW + "retry_exceeded_err", "0\n")
        .file(HW + "np_cnp_sent", "3\n")
        .file(HW + "sent_pkts", "1000\n")
        .pause(() -> machine.file(HW + "rcvd_seq_err", "12\n"));
    assertThat(findings())
        .satisfiesExactly(
            text ->
                assertThat(text)
                    .startsWith(
                        "WARNING rxe0 port 1, lost or repeated packets: completer_retry_err=2,"
                            + " rcvd_seq_err=12 (+5). They grew while this command looked. | if"),
            text ->
                assertThat(text)
                    .startsWith(
                        "NOTE rxe0 port 1, congestion: np_cnp_sent=3. They did not grow while"));
  }

  @Test
  void shouldNotCallACounterZeroThatWasNotRead() {
    machine.file(HW + "rcvd_seq_err", "0\n").file(HW + "out_of_seq_request", "");
    assertThat(findings())
        .containsExactly("OK rxe0 port 1: all 1 counters of loss and congestion are 0. | nothing");
  }

  private List<String> findings() {
    return machine.findings(PortChecks::counters);
  }

  @Test
  void shouldReportAPortThatIsDown() {
    FakeMachine other = new FakeMachine(root.resolve("other"));
    other.deviceFiles().port("mlx5_0", "1: DOWN", "40 Gb/sec (4X QDR)", "eth1");
    assertThat(other.findings(PortChecks::states))
        .singleElement()
        .asString()
        .startsWith("WARNING mlx5_0 port 1: link layer Ethernet, state DOWN")
        .contains("The port carries no data. | check cable and switch, and run: ip link set");
  }

  @Test
  void shouldReportRoceInterfacesThatAnswerArpForEachOther() {
    assertThat(machine.findings(PortChecks::arp)).isEmpty();

    machine
        .port("rxe1", "4: ACTIVE", "2.5 Gb/sec (1X SDR)", "wire3")
        .file("proc/sys/net/ipv4/conf/all/arp_ignore", "0\n")
        .file("proc/sys/net/ipv4/conf/wire1/arp_ignore", "0\n");
    assertThat(machine.findings(PortChecks::arp))
        .singleElement()
        .asString()
        .startsWith("NOTE The interfaces wire1, wire3 may answer ARP for each other's addresses")
        .contains("net.ipv4.conf.all.arp_ignore=1 net.ipv4.conf.all.arp_announce=2");

    // iWARP, whose GIDs have RoCE's type in the kernel's files.
    machine.file("sys/class/infiniband/rxe1/node_type", "4: RNIC\n");
    assertThat(machine.findings(PortChecks::arp)).isEmpty();
    machine.file("sys/class/infiniband/rxe1/node_type", "1: CA\n");

    machine.file("proc/sys/net/ipv4/conf/wire1/arp_ignore", "1\n");
    assertThat(machine.findings(PortChecks::arp))
        .singleElement()
        .asString()
        .startsWith("NOTE The interfaces wire3 may");

    machine.file("proc/sys/net/ipv4/conf/all/arp_ignore", "2\n");
    assertThat(machine.findings(PortChecks::arp)).isEmpty();
  }
}
