// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.ibverbs.ffi;

/**
 * librdmacm.so.1. Each method is the C function of that name; those that return a pointer return 0
 * when they fail and the others -1, see {@link Native#errno}.
 */
public final class CmLibrary {
  public static final String FILE = "librdmacm.so.1";

  private static final int PS_TCP = 0x0106;
  private static final int OPTION_ID = 0;

  private final long getDevices;
  private final long freeDevices;
  private final long createEventChannel;
  private final long destroyEventChannel;
  private final long getCmEvent;
  private final long ackCmEvent;
  private final long createId;
  private final long destroyId;
  private final long bindAddr;
  private final long resolveAddr;
  private final long resolveRoute;
  private final long listen;
  private final long createQp;
  private final long destroyQp;
  private final long connect;
  private final long accept;
  private final long reject;
  private final long disconnect;
  private final long setOption;

  /** Looks up every function of the engine; see {@link #load()}. */
  CmLibrary(Symbols symbols) {
    getDevices = symbols.get("rdma_get_devices");
    freeDevices = symbols.get("rdma_free_devices");
    createEventChannel = symbols.get("rdma_create_event_channel");
    destroyEventChannel = symbols.get("rdma_destroy_event_channel");
    getCmEvent = symbols.get("rdma_get_cm_event");
    ackCmEvent = symbols.get("rdma_ack_cm_event");
    createId = symbols.get("rdma_create_id");
    destroyId = symbols.get("rdma_destroy_id");
    bindAddr = symbols.get("rdma_bind_addr");
    resolveAddr = symbols.get("rdma_resolve_addr");
    resolveRoute = symbols.get("rdma_resolve_route");
    listen = symbols.get("rdma_listen");
    createQp = symbols.get("rdma_create_qp");
    destroyQp = symbols.get("rdma_destroy_qp");
    connect = symbols.get("rdma_connect");
    accept = symbols.get("rdma_accept");
    reject = symbols.get("rdma_reject");
    disconnect = symbols.get("rdma_disconnect");
    setOption = symbols.get("rdma_set_option");
  }

  /**
   * Loads the system's library, which stays loaded until the process ends.
   *
   * @throws IllegalArgumentException when there is none
   * @throws LinkageError when it lacks a function
   */
  public static CmLibrary load() {
    return load(FILE);
  }

  /** Same as {@link #load()}, from another file. */
  static CmLibrary load(String file) {
    return new CmLibrary(Symbols.open(file));
  }

  /** The contexts that all identifiers of this process share, a list that ends with 0. */
  public long getDevices(long count) {
    return Native.call(getDevices, count);
  }

  public void freeDevices(long list) {
    Native.callInt(freeDevices, list);
  }

  public long createEventChannel() {
    return Native.call(createEventChannel);
  }

  public void destroyEventChannel(long channel) {
    Native.callInt(destroyEventChannel, channel);
  }

  public int getCmEvent(long channel, long event) {
    return Native.callInt(getCmEvent, channel, event);
  }

  public void ackCmEvent(long event) {
    Native.callInt(ackCmEvent, event);
  }

  public int createId(long channel, long id) {
    return Native.callInt(createId, channel, id, 0, PS_TCP);
  }

  public int destroyId(long id) {
    return Native.callInt(destroyId, id);
  }

  public int bindAddr(long id, long address) {
    return Native.callInt(bindAddr, id, address);
  }

  public int resolveAddr(long id, long from, long to, int timeoutMs) {
    return Native.callInt(resolveAddr, id, from, to, timeoutMs);
  }

  public int resolveRoute(long id, int timeoutMs) {
    return Native.callInt(resolveRoute, id, timeoutMs);
  }

  public int listen(long id, int backlog) {
    return Native.callInt(listen, id, backlog);
  }

  public int createQp(long id, long pd, long attributes) {
    return Native.callInt(createQp, id, pd, attributes);
  }

  public void destroyQp(long id) {
    Native.callInt(destroyQp, id);
  }

  public int connect(long id, long parameters) {
    return Native.callInt(connect, id, parameters);
  }

  public int accept(long id, long parameters) {
    return Native.callInt(accept, id, parameters);
  }

  public int reject(long id, long privateData, int lengthBytes) {
    return Native.callInt(reject, id, privateData, lengthBytes);
  }

  public int disconnect(long id) {
    return Native.callInt(disconnect, id);
  }

  /**
   * Sets an option of level RDMA_OPTION_ID with a value of one byte.
   *
   * @return 0, or the error number
   */
  public int setOption(long id, int option, int value) {
    try (NativeArena one = new NativeArena()) {
      long at = one.allocate(1);
      Native.putByte(at, value);
      return Native.callInt(setOption, id, OPTION_ID, option, at, 1) == 0 ? 0 : Native.errno();
    }
  }
}
