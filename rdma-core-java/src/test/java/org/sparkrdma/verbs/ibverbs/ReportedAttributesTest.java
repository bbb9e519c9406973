// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.ibverbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.sparkrdma.verbs.VerbsEngine;
import org.sparkrdma.verbs.device.DeviceInfo;
import org.sparkrdma.verbs.ibverbs.ffi.ScriptedLibrary;

/** Attributes of a device in C, each with a value of its own. */
@Timeout(value = 60, unit = TimeUnit.SECONDS)
class ReportedAttributesTest {
  private static final int EIO = 5;

  private static ScriptedLibrary library;
  private static DeviceInfo device;

  @BeforeAll
  static void query() throws Exception {
    library = ScriptedLibrary.load();
    try (VerbsEngine engine = ScriptedEngine.over(library)) {
      device = engine.devices().get(0);
    }
  }

  @Test
  void shouldReportEveryAttributeOfADevice() {
    Map<String, Object> reported = device.reported();
    assertThat(reported)
        .containsEntry("fw_ver", "1.2.3")
        .containsEntry("node_guid", "0102:0304:0506:0708")
        .containsEntry("sys_image_guid", "1112:1314:1516:1718")
        .containsEntry("vendor_id", "0x2c9")
        .containsEntry("vendor_part_id", 4_119L)
        .containsEntry("hw_ver", "0xa0")
        .containsEntry("phys_port_cnt", 1L)
        .containsEntry("max_mr_size", "0xffffffffffffffff")
        .containsEntry("page_size_cap", "0xfffff000")
        .containsEntry(
            "device_cap_flags",
            List.of("0x20101000", "RC_RNR_NAK_GEN", "XRC", "MANAGED_FLOW_STEERING"))
        .containsEntry("atomic_cap", "ATOMIC_HCA")
        .containsEntry("max_pkeys", 65_000L)
        .containsEntry("local_ca_ack_delay", 200L)
        .containsEntry("num_comp_vectors", 4L)
        .containsEntry("max_qp", 64L)
        .containsEntry("max_qp_wr", 1_024L)
        .containsEntry("max_sge", 4L)
        .containsEntry("max_sge_rd", 0L)
        .containsEntry("max_cqe", 1_024L)
        .containsEntry("max_mr", 1_024L)
        .containsEntry("max_qp_rd_atom", 16L)
        .containsEntry("max_qp_init_rd_atom", 16L)
        .containsEntry("general_odp_caps", List.of("0x0"))
        .containsEntry("xrc_odp_caps", List.of("0x0"));
  }

  @Test
  void shouldReportNumbersUnderTheNamesOfTheirMembers() {
    List<String> inOrder =
        Stream.of(
                "cq pd ee_rd_atom res_rd_atom ee_init_rd_atom ee rdd mw raw_ipv6_qp raw_ethy_qp"
                    .split(" ", -1),
                "mcast_grp mcast_qp_attach total_mcast_qp_attach ah fmr map_per_fmr srq srq_wr"
                    .split(" ", -1),
                new String[] {"srq_sge"})
            .flatMap(Stream::of)
            .toList();
    assertThat(inOrder).hasSize(19);
    for (int i = 0; i < inOrder.size(); i++) {
      assertThat(device.reported()).containsEntry("max_" + inOrder.get(i), 2_001L + i);
    }
  }

  @Test
  void shouldReportThePathMtuOfAConnection() throws Exception {
    try (VerbsEngine engine = ScriptedEngine.over(library);
        ScriptedExchange exchange = new ScriptedExchange(engine)) {
      exchange.connect();
      library.fail("ibv_query_qp", EIO, 1, 1);
      assertThatThrownBy(() -> exchange.queuePair().pathMtuBytes())
          .hasMessageStartingWith("ibv_query_qp failed: errno=5 ");
      assertThat(exchange.queuePair().pathMtuBytes()).hasValue(2_048);
      exchange.disconnect();
      assertThat(exchange.queuePair().pathMtuBytes()).isEmpty();
    }
  }

  @Test
  void shouldReportEveryAttributeOfAPort() {
    assertThat(device.ports().get(0).reported())
        .hasSize(20)
        .containsEntry("state", "PORT_ACTIVE")
        .containsEntry("max_mtu", 4_096L)
        .containsEntry("active_mtu", 1_024L)
        .containsEntry("sm_lid", 3_004L)
        .containsEntry("port_lid", 65_001L)
        .containsEntry("port_lmc", 7L)
        .containsEntry("link_layer", "Ethernet")
        .containsEntry("max_msg_sz", "0x40000000")
        .containsEntry("port_cap_flags", List.of("0x4010000", "CM_SUP", "IP_BASED_GIDS"))
        .containsEntry("max_vl_num", 8L)
        .containsEntry("bad_pkey_cntr", 3_001L)
        .containsEntry("qkey_viol_cntr", 3_002L)
        .containsEntry("sm_sl", 9L)
        .containsEntry("pkey_tbl_len", 3_003L)
        .containsEntry("gid_tbl_len", 1L)
        .containsEntry("subnet_timeout", 18L)
        .containsEntry("init_type_reply", 10L)
        .containsEntry("active_width", "4X")
        .containsEntry("active_speed", "25.0 Gbps")
        .containsEntry("phys_state", "LINK_UP");
  }
}
