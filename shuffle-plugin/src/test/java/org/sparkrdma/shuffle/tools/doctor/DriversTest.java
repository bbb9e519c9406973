// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.tools.doctor;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.sparkrdma.verbs.device.SysfsTree;

/** Checks of ports on the files of several drivers; the texts say which of them were captured. */
class DriversTest {
  @TempDir private Path root;

  @Test
  void shouldDescribeThePortsOfMlx5() throws Exception {
    assertThat(ports("mlx5-infiniband"))
        .containsExactly(
            "OK mlx5_0 port 1: link layer InfiniBand, state ACTIVE, speed 200 Gb/sec (4X HDR)."
                + " | nothing");
    assertThat(ports("mlx5-roce"))
        .singleElement()
        .asString()
        .startsWith("OK mlx5_0 port 1: link layer Ethernet, state ACTIVE");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = ';',
      value = {
        "mlx5-infiniband; 2; , damaged packets: link_downed=1. They did not grow",
        "mlx5-infiniband; 2; , congestion: port_xmit_wait=17. They did not grow",
        "mlx5-roce; 2; , lost or repeated packets: packet_seq_err=3.",
        "mlx5-roce; 2; np_cnp_sent=40, np_ecn_marked_roce_packets=41, rp_cnp_handled=7.",
        "irdma; 1; , congestion: RxECNMrkd=12, cnpSent=11",
        "bnxt_re; 1; , lost or repeated packets: oos_drop_count=5, seq_err_naks_rcvd=6."
      })
  void shouldDescribeTheCountersOfADriver(String tree, int kinds, String text) throws Exception {
    assertThat(counters(tree)).hasSize(kinds).anyMatch(finding -> finding.contains(text));
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
