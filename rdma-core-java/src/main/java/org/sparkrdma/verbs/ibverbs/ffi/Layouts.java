// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.ibverbs.ffi;

/**
 * Sizes and offsets of the C structs, on 64-bit Linux: the ABI of rdma-core since 2017. The names
 * are those of the headers, {@code STRUCT_FIELD}; a test compares each with the C compilers' of
 * both architectures. Values that depend on the {@link Architecture} are methods of it too.
 */
public final class Layouts {
  private Layouts() {}

  /** struct ibv_device. */
  public static final class IbvDevice {
    public static final int TRANSPORT_TYPE = 20;
    public static final int NAME = 24;

    private IbvDevice() {}
  }

  /** struct ibv_context; the functions lie in its member ops. */
  public static final class IbvContext {
    public static final int DEVICE = 0;
    public static final int OPS_POLL_CQ = 96;
    public static final int OPS_REQ_NOTIFY_CQ = 104;
    public static final int OPS_POST_SEND = 208;
    public static final int OPS_POST_RECV = 216;
    public static final int ASYNC_FD = 268;
    public static final int NUM_COMP_VECTORS = 272;
    public static final int ABI_COMPAT = abiCompat(Architecture.CURRENT);

    /** Offset of the member mutex; abi_compat follows it. */
    private static final int MUTEX = 280;

    private IbvContext() {}

    public static int abiCompat(Architecture architecture) {
      return MUTEX + architecture.pthreadMutexBytes();
    }

    static int size(Architecture architecture) {
      return abiCompat(architecture) + Long.BYTES;
    }
  }

  /**
   * struct verbs_context, whose last member is a struct ibv_context. New members come first, so a
   * member has the same distance from the last one, and from the end, in each version.
   */
  public static final class VerbsContext {
    public static final int QUERY_DEVICE_EX_TO_CONTEXT = 104;
    public static final int QUERY_DEVICE_EX_TO_END = queryDeviceExToEnd(Architecture.CURRENT);
    public static final int SZ_TO_CONTEXT = 8;

    private VerbsContext() {}

    public static int queryDeviceExToEnd(Architecture architecture) {
      return QUERY_DEVICE_EX_TO_CONTEXT + IbvContext.size(architecture);
    }
  }

  /** struct ibv_device_attr_ex; begins with struct ibv_device_attr. */
  public static final class IbvDeviceAttrEx {
    public static final int SIZE = 400;
    public static final int ODP_CAPS_GENERAL = 240;
    public static final int ODP_CAPS_RC = 248;

    private IbvDeviceAttrEx() {}
  }

  /** struct ibv_device_attr. */
  public static final class IbvDeviceAttr {
    public static final int SIZE = 232;
    public static final int NODE_GUID = 64;
    public static final int MAX_MR_SIZE = 80;
    public static final int VENDOR_ID = 96;
    public static final int VENDOR_PART_ID = 100;
    public static final int MAX_QP = 108;
    public static final int MAX_QP_WR = 112;
    public static final int MAX_SGE = 120;
    public static final int MAX_SGE_RD = 124;
    public static final int MAX_CQE = 132;
    public static final int MAX_MR = 136;
    public static final int MAX_QP_RD_ATOM = 144;
    public static final int MAX_QP_INIT_RD_ATOM = 156;
    public static final int PHYS_PORT_CNT = 227;

    private IbvDeviceAttr() {}
  }

  /** struct ibv_port_attr; see {@link VerbsLibrary#PORT_ATTRIBUTES_BYTES} for its size. */
  public static final class IbvPortAttr {
    public static final int STATE = 0;
    public static final int ACTIVE_MTU = 8;
    public static final int MAX_MSG_SZ = 20;
    public static final int LINK_LAYER = 46;

    private IbvPortAttr() {}
  }

  /** struct ibv_mr. */
  public static final class IbvMr {
    public static final int LKEY = 36;
    public static final int RKEY = 40;

    private IbvMr() {}
  }

  /** struct ibv_comp_channel. */
  public static final class IbvCompChannel {
    public static final int FD = 8;

    private IbvCompChannel() {}
  }

  /** struct ibv_cq. */
  public static final class IbvCq {
    public static final int CQE = 28;

    private IbvCq() {}
  }

  /** struct ibv_qp. */
  public static final class IbvQp {
    public static final int QP_NUM = 52;

    private IbvQp() {}
  }

  /** struct ibv_qp_init_attr. */
  public static final class IbvQpInitAttr {
    public static final int SIZE = 64;
    public static final int SEND_CQ = 8;
    public static final int RECV_CQ = 16;
    public static final int CAP_MAX_SEND_WR = 32;
    public static final int CAP_MAX_RECV_WR = 36;
    public static final int CAP_MAX_SEND_SGE = 40;
    public static final int CAP_MAX_RECV_SGE = 44;
    public static final int QP_TYPE = 52;

    private IbvQpInitAttr() {}
  }

  /** struct ibv_qp_attr. */
  public static final class IbvQpAttr {
    public static final int SIZE = 144;
    public static final int QP_STATE = 0;
    public static final int QP_ACCESS_FLAGS = 32;
    public static final int MIN_RNR_TIMER = 128;

    private IbvQpAttr() {}
  }

  /** struct ibv_sge. */
  public static final class IbvSge {
    public static final int SIZE = 16;
    public static final int ADDR = 0;
    public static final int LENGTH = 8;
    public static final int LKEY = 12;

    private IbvSge() {}
  }

  /** struct ibv_send_wr. */
  public static final class IbvSendWr {
    public static final int SIZE = 128;
    public static final int WR_ID = 0;
    public static final int NEXT = 8;
    public static final int SG_LIST = 16;
    public static final int NUM_SGE = 24;
    public static final int OPCODE = 28;
    public static final int SEND_FLAGS = 32;
    public static final int IMM_DATA = 36;
    public static final int WR_RDMA_REMOTE_ADDR = 40;
    public static final int WR_RDMA_RKEY = 48;

    private IbvSendWr() {}
  }

  /** struct ibv_recv_wr. */
  public static final class IbvRecvWr {
    public static final int SIZE = 32;
    public static final int WR_ID = 0;
    public static final int NEXT = 8;
    public static final int SG_LIST = 16;
    public static final int NUM_SGE = 24;

    private IbvRecvWr() {}
  }

  /** struct ibv_wc. */
  public static final class IbvWc {
    public static final int SIZE = 48;
    public static final int WR_ID = 0;
    public static final int STATUS = 8;
    public static final int OPCODE = 12;
    public static final int VENDOR_ERR = 16;
    public static final int BYTE_LEN = 20;
    public static final int IMM_DATA = 24;
    public static final int WC_FLAGS = 36;

    private IbvWc() {}
  }

  /** struct ibv_async_event. */
  public static final class IbvAsyncEvent {
    public static final int SIZE = 16;
    public static final int ELEMENT = 0;
    public static final int EVENT_TYPE = 8;

    private IbvAsyncEvent() {}
  }

  /** struct rdma_event_channel. */
  public static final class RdmaEventChannel {
    public static final int FD = 0;

    private RdmaEventChannel() {}
  }

  /** struct rdma_cm_id. */
  public static final class RdmaCmId {
    public static final int VERBS = 0;
    public static final int QP = 24;
    public static final int ROUTE_ADDR_SRC_ADDR = 32;
    public static final int ROUTE_ADDR_DST_ADDR = 160;
    public static final int PORT_NUM = 348;

    private RdmaCmId() {}
  }

  /** struct rdma_cm_event. */
  public static final class RdmaCmEvent {
    public static final int ID = 0;
    public static final int LISTEN_ID = 8;
    public static final int EVENT = 16;
    public static final int STATUS = 20;
    public static final int PARAM_CONN_PRIVATE_DATA = 24;
    public static final int PARAM_CONN_PRIVATE_DATA_LEN = 32;
    public static final int PARAM_CONN_RESPONDER_RESOURCES = 33;
    public static final int PARAM_CONN_INITIATOR_DEPTH = 34;
    public static final int PARAM_CONN_QP_NUM = 40;

    private RdmaCmEvent() {}
  }

  /** struct rdma_conn_param. */
  public static final class RdmaConnParam {
    public static final int SIZE = 24;
    public static final int PRIVATE_DATA = 0;
    public static final int PRIVATE_DATA_LEN = 8;
    public static final int RESPONDER_RESOURCES = 9;
    public static final int INITIATOR_DEPTH = 10;
    public static final int FLOW_CONTROL = 11;
    public static final int RETRY_COUNT = 12;
    public static final int RNR_RETRY_COUNT = 13;

    private RdmaConnParam() {}
  }

  /** struct pollfd. */
  public static final class Pollfd {
    public static final int SIZE = 8;
    public static final int FD = 0;
    public static final int EVENTS = 4;
    public static final int REVENTS = 6;

    private Pollfd() {}
  }

  /** struct sockaddr_in. */
  public static final class SockaddrIn {
    public static final int SIN_FAMILY = 0;
    public static final int SIN_PORT = 2;
    public static final int SIN_ADDR = 4;

    private SockaddrIn() {}
  }

  /** struct sockaddr_in6. */
  public static final class SockaddrIn6 {
    public static final int SIZE = 28;
    public static final int SIN6_ADDR = 8;
    public static final int SIN6_SCOPE_ID = 24;

    private SockaddrIn6() {}
  }
}
