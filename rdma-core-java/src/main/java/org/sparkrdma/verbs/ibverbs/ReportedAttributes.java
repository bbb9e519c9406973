// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.ibverbs;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.sparkrdma.verbs.ibverbs.ffi.Layouts.IbvDeviceAttr;
import org.sparkrdma.verbs.ibverbs.ffi.Layouts.IbvDeviceAttrEx;
import org.sparkrdma.verbs.ibverbs.ffi.Layouts.IbvPortAttr;
import org.sparkrdma.verbs.ibverbs.ffi.Memory;

/**
 * Attributes that a device and its ports report, under the names and with the words of
 * ibv_devinfo(1), in its order. A value is a Long, a String, or a List of Strings. Stateless.
 */
final class ReportedAttributes {
  private static final String UNKNOWN = "unknown ";
  private static final String ETHERNET = "Ethernet";
  private static final String LINK_LAYER = "link_layer";
  private static final String GID_TABLE_LENGTH = "gid_tbl_len";

  /** The members of struct ibv_device_attr from max_qp on, of 32 bits each. */
  private static final String[] NUMBERS =
      words(
          "max_qp max_qp_wr device_cap_flags max_sge max_sge_rd max_cq max_cqe max_mr max_pd"
              + " max_qp_rd_atom max_ee_rd_atom max_res_rd_atom max_qp_init_rd_atom"
              + " max_ee_init_rd_atom atomic_cap max_ee max_rdd max_mw max_raw_ipv6_qp"
              + " max_raw_ethy_qp max_mcast_grp max_mcast_qp_attach max_total_mcast_qp_attach"
              + " max_ah max_fmr max_map_per_fmr max_srq max_srq_wr max_srq_sge");

  /** Bits of enum ibv_device_cap_flags; - is none. */
  private static final String[] DEVICE_FLAGS =
      words(
          "RESIZE_MAX_WR BAD_PKEY_CNTR BAD_QKEY_CNTR RAW_MULTI AUTO_PATH_MIG CHANGE_PHY_PORT"
              + " UD_AV_PORT_ENFORCE CURR_QP_STATE_MOD SHUTDOWN_PORT INIT_TYPE PORT_ACTIVE_EVENT"
              + " SYS_IMAGE_GUID RC_RNR_NAK_GEN SRQ_RESIZE N_NOTIFY_CQ - - MEM_WINDOW UD_IP_CSUM"
              + " - XRC MEM_MGT_EXTENSIONS - MEM_WINDOW_TYPE_2A MEM_WINDOW_TYPE_2B RC_IP_CSUM"
              + " RAW_IP_CSUM - - MANAGED_FLOW_STEERING");

  /** Bits of enum ibv_port_cap_flags. */
  private static final String[] PORT_FLAGS =
      words(
          "- SM NOTICE_SUP TRAP_SUP OPT_IPD_SUP AUTO_MIGR_SUP SL_MAP_SUP MKEY_NVRAM PKEY_NVRAM"
              + " LED_INFO_SUP - SYS_IMAGE_GUID_SUP PKEY_SW_EXT_PORT_TRAP_SUP -"
              + " EXTENDED_SPEEDS_SUP CAP_MASK2_SUP CM_SUP SNMP_TUNNEL_SUP REINIT_SUP"
              + " DEVICE_MGMT_SUP VENDOR_CLASS_SUP DR_NOTICE_SUP CAP_MASK_NOTICE_SUP"
              + " BOOT_MGMT_SUP LINK_LATENCY_SUP CLIENT_REG_SUP IP_BASED_GIDS");

  /** Bits of enum ibv_odp_transport_cap_bits. */
  private static final String[] PAGING_FLAGS =
      words("SUPPORT_SEND SUPPORT_RECV SUPPORT_WRITE SUPPORT_READ SUPPORT_ATOMIC SUPPORT_SRQ");

  private static final String[] PORT_STATES =
      words("PORT_NOP PORT_DOWN PORT_INIT PORT_ARMED PORT_ACTIVE PORT_ACTIVE_DEFER");
  private static final String[] PHYSICAL_STATES =
      words("- SLEEP POLLING DISABLED TRAINING LINK_UP LINK_ERROR_RECOVERY PHY_TEST");

  private ReportedAttributes() {}

  /**
   * Those of a device.
   *
   * @param device address of a struct ibv_device_attr
   * @param extended address of a struct ibv_device_attr_ex, zero where nothing is reported
   */
  static Map<String, Object> ofDevice(long device, long extended) {
    Map<String, Object> all = new LinkedHashMap<>();
    all.put("fw_ver", Memory.string(device));
    all.put("node_guid", guid(Memory.getLong(device + IbvDeviceAttr.NODE_GUID)));
    all.put("sys_image_guid", guid(Memory.getLong(device + IbvDeviceAttr.SYS_IMAGE_GUID)));
    all.put("vendor_id", hex(number(device + IbvDeviceAttr.VENDOR_ID)));
    all.put("vendor_part_id", number(device + IbvDeviceAttr.VENDOR_PART_ID));
    all.put("hw_ver", hex(number(device + IbvDeviceAttr.HW_VER)));
    all.put("phys_port_cnt", small(device + IbvDeviceAttr.PHYS_PORT_CNT));
    all.put("max_mr_size", hex(Memory.getLong(device + IbvDeviceAttr.MAX_MR_SIZE)));
    all.put("page_size_cap", hex(Memory.getLong(device + IbvDeviceAttr.PAGE_SIZE_CAP)));
    for (int i = 0; i < NUMBERS.length; i++) {
      all.put(NUMBERS[i], number(device + IbvDeviceAttr.MAX_QP + (long) i * Integer.BYTES));
    }
    all.computeIfPresent("device_cap_flags", (name, bits) -> flags((long) bits, DEVICE_FLAGS));
    all.computeIfPresent(
        "atomic_cap",
        (name, code) -> word((long) code, "ATOMIC_NONE", "ATOMIC_HCA", "ATOMIC_GLOB"));
    all.put("max_pkeys", shortNumber(device + IbvDeviceAttr.MAX_PKEYS));
    all.put("local_ca_ack_delay", small(device + IbvDeviceAttr.LOCAL_CA_ACK_DELAY));
    all.put(
        "general_odp_caps",
        flags(
            Memory.getLong(extended + IbvDeviceAttrEx.ODP_CAPS_GENERAL),
            "ODP_SUPPORT",
            "ODP_SUPPORT_IMPLICIT"));
    all.put("rc_odp_caps", flags(number(extended + IbvDeviceAttrEx.ODP_CAPS_RC), PAGING_FLAGS));
    all.put("uc_odp_caps", flags(number(extended + IbvDeviceAttrEx.ODP_CAPS_UC), PAGING_FLAGS));
    all.put("ud_odp_caps", flags(number(extended + IbvDeviceAttrEx.ODP_CAPS_UD), PAGING_FLAGS));
    all.put("xrc_odp_caps", flags(number(extended + IbvDeviceAttrEx.XRC_ODP_CAPS), PAGING_FLAGS));
    all.put("hca_core_clock", Memory.getLong(extended + IbvDeviceAttrEx.HCA_CORE_CLOCK));
    return all;
  }

  /**
   * Those of a port.
   *
   * @param port address of a struct ibv_port_attr
   */
  static Map<String, Object> ofPort(long port) {
    Map<String, Object> all = new LinkedHashMap<>();
    all.put("state", word(number(port + IbvPortAttr.STATE), PORT_STATES));
    all.put("max_mtu", mtuBytes(port + IbvPortAttr.MAX_MTU));
    all.put("active_mtu", mtuBytes(port + IbvPortAttr.ACTIVE_MTU));
    all.put("sm_lid", shortNumber(port + IbvPortAttr.SM_LID));
    all.put("port_lid", shortNumber(port + IbvPortAttr.LID));
    all.put("port_lmc", small(port + IbvPortAttr.LMC));
    all.put(
        LINK_LAYER,
        word(small(port + IbvPortAttr.LINK_LAYER), "Unspecified", "InfiniBand", ETHERNET));
    all.put("max_msg_sz", hex(number(port + IbvPortAttr.MAX_MSG_SZ)));
    all.put("port_cap_flags", flags(number(port + IbvPortAttr.PORT_CAP_FLAGS), PORT_FLAGS));
    all.put("max_vl_num", small(port + IbvPortAttr.MAX_VL_NUM));
    all.put("bad_pkey_cntr", number(port + IbvPortAttr.BAD_PKEY_CNTR));
    all.put("qkey_viol_cntr", number(port + IbvPortAttr.QKEY_VIOL_CNTR));
    all.put("sm_sl", small(port + IbvPortAttr.SM_SL));
    all.put("pkey_tbl_len", shortNumber(port + IbvPortAttr.PKEY_TBL_LEN));
    all.put(GID_TABLE_LENGTH, number(port + IbvPortAttr.GID_TBL_LEN));
    all.put("subnet_timeout", small(port + IbvPortAttr.SUBNET_TIMEOUT));
    all.put("init_type_reply", small(port + IbvPortAttr.INIT_TYPE_REPLY));
    all.put("active_width", width(small(port + IbvPortAttr.ACTIVE_WIDTH)));
    all.put("active_speed", speed(small(port + IbvPortAttr.ACTIVE_SPEED)));
    all.put("phys_state", word(small(port + IbvPortAttr.PHYS_STATE), PHYSICAL_STATES));
    return all;
  }

  /** Whether {@link #ofPort} are those of an Ethernet port. */
  static boolean isEthernet(Map<String, Object> port) {
    return ETHERNET.equals(port.get(LINK_LAYER));
  }

  /** The length of the GID table in {@link #ofPort}; 0 when it was not reported. */
  static int gidTableLength(Map<String, Object> port) {
    return port.get(GID_TABLE_LENGTH) instanceof Long length ? length.intValue() : 0;
  }

  /** The code of an enum ibv_mtu: 1 means 256 bytes, 5 means 4096. */
  static long mtuBytes(long address) {
    return 128L << Memory.getInt(address);
  }

  private static String width(long code) {
    return switch ((int) code) {
      case 1 -> "1X";
      case 2 -> "4X";
      case 4 -> "8X";
      case 8 -> "12X";
      case 16 -> "2X";
      default -> UNKNOWN + code;
    };
  }

  /** Speed of one lane. The library in use reports at most 8 bits of it. */
  private static String speed(long code) {
    return switch ((int) code) {
      case 1 -> "2.5 Gbps";
      case 2 -> "5.0 Gbps";
      case 4, 8 -> "10.0 Gbps";
      case 16 -> "14.0 Gbps";
      case 32 -> "25.0 Gbps";
      case 64 -> "50.0 Gbps";
      case 128 -> "100.0 Gbps";
      default -> UNKNOWN + code;
    };
  }

  private static String word(long code, String... words) {
    return code >= 0 && code < words.length ? words[(int) code] : UNKNOWN + code;
  }

  /** The bits in hexadecimal, then their names; a bit without a name has none. */
  private static List<String> flags(long bits, String... names) {
    List<String> flags = new ArrayList<>();
    flags.add(hex(bits));
    for (int bit = 0; bit < names.length; bit++) {
      if ((bits >> bit & 1) != 0 && !names[bit].equals("-")) {
        flags.add(names[bit]);
      }
    }
    return flags;
  }

  private static String guid(long bigEndian) {
    return "%016x".formatted(Long.reverseBytes(bigEndian)).replaceAll("(.{4})(?=.)", "$1:");
  }

  private static String hex(long value) {
    return "0x" + Long.toHexString(value);
  }

  private static long number(long address) {
    return Integer.toUnsignedLong(Memory.getInt(address));
  }

  private static long shortNumber(long address) {
    return Memory.getShort(address) & 0xFFFF;
  }

  private static long small(long address) {
    return Memory.getByte(address) & 0xFF;
  }

  private static String[] words(String text) {
    return text.split(" ", -1);
  }
}
