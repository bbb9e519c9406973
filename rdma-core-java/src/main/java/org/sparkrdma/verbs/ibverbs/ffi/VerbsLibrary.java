// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.ibverbs.ffi;

/**
 * libibverbs.so.1. Each method is the C function of that name; those that return a pointer return 0
 * when they fail, see {@link SetUpCalls#errno}, those that return an int return C's result. Each
 * throws a LinkageError when the library lacks the function.
 */
public final class VerbsLibrary {
  public static final String FILE = "libibverbs.so.1";

  /**
   * Memory for {@link #queryPort}. The exported function fills 48 bytes in every version, since the
   * members that struct ibv_port_attr got later are for an inline function of the header.
   */
  public static final int PORT_ATTRIBUTES_BYTES = 128;

  public static final int QP_TYPE_RC = 2;
  public static final int QP_STATE_RTS = 3;
  public static final int QP_STATE_ERR = 6;
  public static final int ATTR_STATE = 1;
  public static final int ATTR_ACCESS_FLAGS = 1 << 3;
  public static final int ATTR_MIN_RNR_TIMER = 1 << 15;
  public static final int TRANSPORT_IB = 0;
  public static final int TRANSPORT_IWARP = 1;
  public static final int LINK_LAYER_ETHERNET = 2;
  public static final int SEND_FENCE = 1;
  public static final int SEND_SIGNALED = 1 << 1;

  /** Bit of rc_odp_caps in struct ibv_odp_caps; the next one is a bit of its general_caps. */
  public static final int ODP_SUPPORT_READ = 1 << 3;

  public static final int ODP_SUPPORT = 1;

  /**
   * Without it the calls that destroy objects fail with EIO after the removal of a device such as
   * mlx5's, and leave the memory and descriptors of the process as they are (ibverbs_init in
   * libibverbs/init.c, verbs_is_destroy_err in cmd_write.h). With it EIO counts as success, also
   * that of a device that is not removed. With it no other thread may take events of an object that
   * is being destroyed, see ibv_open_device(3): the thread that takes events destroys queues and
   * queue pairs, or has ended before.
   */
  private static final String DESTROY_WITHOUT_DEVICE = "RDMAV_ALLOW_DISASSOC_DESTROY";

  /** __VERBS_ABI_IS_EXTENDED. */
  private static final long ABI_IS_EXTENDED = -1;

  private final Symbols symbols;

  // Of each wait.
  private final long getCqEvent;
  private final long ackCqEvents;

  private VerbsLibrary(Symbols symbols) {
    this.symbols = symbols;
    getCqEvent = symbols.get("ibv_get_cq_event");
    ackCqEvents = symbols.get("ibv_ack_cq_events");
  }

  /**
   * Loads the system's library, which stays loaded until the process ends.
   *
   * @throws IllegalArgumentException when there is none
   */
  public static VerbsLibrary load() {
    return load(FILE);
  }

  /** Same as {@link #load()}, from another file. */
  static VerbsLibrary load(String file) {
    // Before the library's first call, which reads it.
    Libc.setEnvironment(DESTROY_WITHOUT_DEVICE, "1");
    return new VerbsLibrary(Symbols.open(file));
  }

  public long getDeviceList(long count) {
    return SetUpCalls.call(symbols.get("ibv_get_device_list"), count);
  }

  public void freeDeviceList(long list) {
    SetUpCalls.callInt(symbols.get("ibv_free_device_list"), list);
  }

  /** See ibv_open_device(3); 0 when it fails. */
  public long openDevice(long device) {
    return SetUpCalls.call(symbols.get("ibv_open_device"), device);
  }

  public void closeDevice(long context) {
    SetUpCalls.callInt(symbols.get("ibv_close_device"), context);
  }

  public int queryDevice(long context, long attributes) {
    return SetUpCalls.callInt(symbols.get("ibv_query_device"), context, attributes);
  }

  /**
   * See ibv_query_device_ex(3), which is an inline function of the header: attributes that the
   * device does not report stay unchanged.
   *
   * @param attributes address of {@link Layouts.IbvDeviceAttrEx#SIZE} bytes, all zero
   * @return an errno; 0 also when this device has no such function
   */
  public static int queryDeviceEx(long context, long attributes) {
    if (Native.getLong(context + Layouts.IbvContext.ABI_COMPAT) != ABI_IS_EXTENDED) {
      return 0;
    }
    long known = Native.getLong(context - Layouts.VerbsContext.SZ_TO_CONTEXT);
    long function = Native.getLong(context - Layouts.VerbsContext.QUERY_DEVICE_EX_TO_CONTEXT);
    if (known < Layouts.VerbsContext.QUERY_DEVICE_EX_TO_END || function == 0) {
      return 0;
    }
    int rc = SetUpCalls.callInt(function, context, 0, attributes, Layouts.IbvDeviceAttrEx.SIZE);
    return rc == Libc.EOPNOTSUPP || rc == Libc.ENOSYS ? 0 : rc;
  }

  /**
   * See ibv_query_port(3).
   *
   * @param attributes address of {@link #PORT_ATTRIBUTES_BYTES} bytes, all zero
   */
  public int queryPort(long context, int port, long attributes) {
    return SetUpCalls.callInt(symbols.get("ibv_query_port"), context, port, attributes);
  }

  public long allocPd(long context) {
    return SetUpCalls.call(symbols.get("ibv_alloc_pd"), context);
  }

  public int deallocPd(long pd) {
    return SetUpCalls.callInt(symbols.get("ibv_dealloc_pd"), pd);
  }

  public long regMr(long pd, long address, long lengthBytes, int access) {
    return SetUpCalls.call(symbols.get("ibv_reg_mr"), pd, address, lengthBytes, access);
  }

  public int deregMr(long mr) {
    return SetUpCalls.callInt(symbols.get("ibv_dereg_mr"), mr);
  }

  public long createCompChannel(long context) {
    return SetUpCalls.call(symbols.get("ibv_create_comp_channel"), context);
  }

  public int destroyCompChannel(long channel) {
    return SetUpCalls.callInt(symbols.get("ibv_destroy_comp_channel"), channel);
  }

  public long createCq(long context, int capacity, long channel, int vector) {
    return SetUpCalls.call(symbols.get("ibv_create_cq"), context, capacity, 0, channel, vector);
  }

  public int destroyCq(long cq) {
    return SetUpCalls.callInt(symbols.get("ibv_destroy_cq"), cq);
  }

  /** Keeps no errno. */
  public int getCqEvent(long channel, long cq, long cqContext) {
    return Native.callThree(getCqEvent, channel, cq, cqContext);
  }

  /** Same as {@link #getCqEvent}, and keeps the errno. */
  public int getCqEventOrErrno(long channel, long cq, long cqContext) {
    return SetUpCalls.callInt(getCqEvent, channel, cq, cqContext);
  }

  public void ackCqEvents(long cq, int count) {
    Native.callThree(ackCqEvents, cq, count, 0);
  }

  public long createQp(long pd, long attributes) {
    return SetUpCalls.call(symbols.get("ibv_create_qp"), pd, attributes);
  }

  public int modifyQp(long qp, long attributes, int mask) {
    return SetUpCalls.callInt(symbols.get("ibv_modify_qp"), qp, attributes, mask);
  }

  public int queryQp(long qp, long attributes, int mask, long initAttributes) {
    return SetUpCalls.callInt(symbols.get("ibv_query_qp"), qp, attributes, mask, initAttributes);
  }

  public int destroyQp(long qp) {
    return SetUpCalls.callInt(symbols.get("ibv_destroy_qp"), qp);
  }

  public int getAsyncEvent(long context, long event) {
    return SetUpCalls.callInt(symbols.get("ibv_get_async_event"), context, event);
  }

  public void ackAsyncEvent(long event) {
    SetUpCalls.callInt(symbols.get("ibv_ack_async_event"), event);
  }
}
