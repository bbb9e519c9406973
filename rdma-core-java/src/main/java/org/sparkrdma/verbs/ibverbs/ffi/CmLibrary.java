// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.ibverbs.ffi;

/**
 * librdmacm.so.1. Each method is the C function of that name; those that return a pointer return 0
 * when they fail and the others -1, see {@link SetUpCalls#errno}. Each throws a LinkageError when
 * the library lacks the function.
 */
public final class CmLibrary {
  public static final String FILE = "librdmacm.so.1";

  private static final int PS_TCP = 0x0106;
  private static final int OPTION_ID = 0;

  private final Symbols symbols;

  private CmLibrary(Symbols symbols) {
    this.symbols = symbols;
  }

  /**
   * Loads the system's library, which stays loaded until the process ends.
   *
   * @throws IllegalArgumentException when there is none
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
    return SetUpCalls.call(symbols.get("rdma_get_devices"), count);
  }

  public void freeDevices(long list) {
    SetUpCalls.callInt(symbols.get("rdma_free_devices"), list);
  }

  public long createEventChannel() {
    return SetUpCalls.call(symbols.get("rdma_create_event_channel"));
  }

  public void destroyEventChannel(long channel) {
    SetUpCalls.callInt(symbols.get("rdma_destroy_event_channel"), channel);
  }

  public int getCmEvent(long channel, long event) {
    return SetUpCalls.callInt(symbols.get("rdma_get_cm_event"), channel, event);
  }

  public void ackCmEvent(long event) {
    SetUpCalls.callInt(symbols.get("rdma_ack_cm_event"), event);
  }

  public int createId(long channel, long id) {
    return SetUpCalls.callInt(symbols.get("rdma_create_id"), channel, id, 0, PS_TCP);
  }

  public int destroyId(long id) {
    return SetUpCalls.callInt(symbols.get("rdma_destroy_id"), id);
  }

  public int bindAddr(long id, long address) {
    return SetUpCalls.callInt(symbols.get("rdma_bind_addr"), id, address);
  }

  public int resolveAddr(long id, long from, long to, int timeoutMs) {
    return SetUpCalls.callInt(symbols.get("rdma_resolve_addr"), id, from, to, timeoutMs);
  }

  public int resolveRoute(long id, int timeoutMs) {
    return SetUpCalls.callInt(symbols.get("rdma_resolve_route"), id, timeoutMs);
  }

  public int listen(long id, int backlog) {
    return SetUpCalls.callInt(symbols.get("rdma_listen"), id, backlog);
  }

  public int createQp(long id, long pd, long attributes) {
    return SetUpCalls.callInt(symbols.get("rdma_create_qp"), id, pd, attributes);
  }

  public void destroyQp(long id) {
    SetUpCalls.callInt(symbols.get("rdma_destroy_qp"), id);
  }

  public int connect(long id, long parameters) {
    return SetUpCalls.callInt(symbols.get("rdma_connect"), id, parameters);
  }

  public int accept(long id, long parameters) {
    return SetUpCalls.callInt(symbols.get("rdma_accept"), id, parameters);
  }

  public int reject(long id, long privateData, int lengthBytes) {
    return SetUpCalls.callInt(symbols.get("rdma_reject"), id, privateData, lengthBytes);
  }

  public int disconnect(long id) {
    return SetUpCalls.callInt(symbols.get("rdma_disconnect"), id);
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
      return SetUpCalls.callInt(symbols.get("rdma_set_option"), id, OPTION_ID, option, at, 1) == 0
          ? 0
          : SetUpCalls.errno();
    }
  }
}
