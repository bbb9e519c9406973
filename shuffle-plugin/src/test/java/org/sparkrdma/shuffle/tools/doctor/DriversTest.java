// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.tools.doctor;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.sparkrdma.verbs.device.SysfsTree;

/** Checks of ports on the files of several drivers; the texts say which of them were captured. */
class DriversTest {
  private static final String NOT_GROWN = " They did not grow while this command looked. | ";

  @TempDir private Path root;

  @Test
  void shouldDescribeMlx5OnInfiniBand() throws Exception {
    assertThat(ports("mlx5-infiniband"))
        .containsExactly(
            "OK mlx5_0 port 1: link layer InfiniBand, state ACTIVE, speed 200 Gb/sec (4X HDR)."
                + " | nothing");
    assertThat(counters("mlx5-infiniband"))
        .satisfiesExactly(
            text ->
                assertThat(text)
                    .startsWith("NOTE mlx5_0 port 1, damaged packets: link_downed=1." + NOT_GROWN),
            text ->
                assertThat(text)
                    .startsWith("NOTE mlx5_0 port 1, congestion: port_xmit_wait=17." + NOT_GROWN));
  }

  @Test
  void shouldDescribeMlx5OnEthernet() throws Exception {
    assertThat(ports("mlx5-roce"))
        .singleElement()
        .asString()
        .startsWith("OK mlx5_0 port 1: link layer Ethernet, state ACTIVE");
    assertThat(counters("mlx5-roce"))
        .hasSize(2)
        .anyMatch(text -> text.contains(", lost or repeated packets: packet_seq_err=3."))
        .anyMatch(
            text ->
                text.contains(
                    ": np_cnp_sent=40, np_ecn_marked_roce_packets=41, rp_cnp_handled=7."));
  }

  @Test
  void shouldDescribeIrdma() throws Exception {
    assertThat(counters("irdma"))
        .singleElement()
        .asString()
        .contains(", congestion: RxECNMrkd=12, cnpSent=11");
  }

  @Test
  void shouldDescribeBnxtRe() throws Exception {
    assertThat(counters("bnxt_re"))
        .singleElement()
        .asString()
        .contains(", lost or repeated packets: oos_drop_count=5, seq_err_naks_rcvd=6.");
  }

  private List<String> ports(String tree) throws IOException {
    SysfsTree.unpack(tree, root);
    return new FakeMachine(root).findings(PortChecks::states);
  }

  private List<String> counters(String tree) throws IOException {
    SysfsTree.unpack(tree, root);
    return new FakeMachine(root).findings(PortChecks::counters);
  }
}
