// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.ibverbs;

import org.sparkrdma.verbs.ibverbs.ffi.Layouts.RdmaCmEvent;
import org.sparkrdma.verbs.ibverbs.ffi.Native;

/**
 * A copy of a connection manager's event: the acknowledgement frees the original.
 *
 * @param type one of the constants below
 * @param id the event's identifier
 * @param listenId identifier of the listener; only in a request
 * @param status a negative errno, or a reason of the transport
 * @param privateData of the event
 * @param responderResources READs that the peer will have in flight; only in a request
 * @param initiatorDepth READs that the peer answers at once; only in a request
 * @param queuePairNumber of the peer; only in a request, undefined on iWARP
 */
record CmEvent(
    int type,
    long id,
    long listenId,
    int status,
    byte[] privateData,
    int responderResources,
    int initiatorDepth,
    int queuePairNumber) {
  static final int ADDR_RESOLVED = 0;
  static final int ADDR_ERROR = 1;
  static final int ROUTE_RESOLVED = 2;
  static final int ROUTE_ERROR = 3;
  static final int CONNECT_REQUEST = 4;
  static final int CONNECT_ERROR = 6;
  static final int UNREACHABLE = 7;
  static final int REJECTED = 8;
  static final int ESTABLISHED = 9;
  static final int DISCONNECTED = 10;
  static final int DEVICE_REMOVAL = 11;
  static final int ADDR_CHANGE = 14;

  private static final byte[] NOTHING = {};

  /** Whether it is the outcome of a request or a reply, or follows one. */
  boolean isOutcome() {
    return type >= CONNECT_ERROR && type <= DISCONNECTED;
  }

  static CmEvent copy(long at) {
    int type = Native.getInt(at + RdmaCmEvent.EVENT);
    boolean ofConnection = type == CONNECT_REQUEST || type == ESTABLISHED || type == REJECTED;
    long data = ofConnection ? Native.getLong(at + RdmaCmEvent.PARAM_CONN_PRIVATE_DATA) : 0;
    int length = Native.getByte(at + RdmaCmEvent.PARAM_CONN_PRIVATE_DATA_LEN);
    return new CmEvent(
        type,
        Native.getLong(at + RdmaCmEvent.ID),
        Native.getLong(at + RdmaCmEvent.LISTEN_ID),
        Native.getInt(at + RdmaCmEvent.STATUS),
        data == 0 ? NOTHING : Native.bytes(data, length),
        Native.getByte(at + RdmaCmEvent.PARAM_CONN_RESPONDER_RESOURCES),
        Native.getByte(at + RdmaCmEvent.PARAM_CONN_INITIATOR_DEPTH),
        Native.getInt(at + RdmaCmEvent.PARAM_CONN_QP_NUM));
  }
}
