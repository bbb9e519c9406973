// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.ibverbs;

import java.net.InetSocketAddress;
import java.util.Arrays;
import org.sparkrdma.verbs.cm.GidSocketAddress;

/**
 * Private data of a connection request between GIDs. Stateless.
 *
 * <p>With IP addresses the kernel puts its own header in front of the private data: version 0, the
 * version of IP, the addresses. With AF_IB it puts nothing there, but the peer's kernel still looks
 * for that header: it takes the request for one by GID only if the first byte is 0 and the upper
 * half of the second is neither 4 nor 6, and rejects it otherwise (cma_user_data_offset,
 * cma_save_ip_info and cma_ib_id_from_event in drivers/infiniband/core/cma.c). So these bytes are
 * sent in front, and removed by the peer. A request has 92 bytes for both.
 */
final class RequestData {
  private static final int PREFIX_BYTES = 4;

  private RequestData() {}

  /** The data of a request, as it is sent to this address. */
  static byte[] toSend(InetSocketAddress remote, byte[] data) {
    if (!(remote instanceof GidSocketAddress)) {
      return data;
    }
    byte[] all = new byte[PREFIX_BYTES + data.length];
    System.arraycopy(data, 0, all, PREFIX_BYTES, data.length);
    return all;
  }

  /** The data of a request that was received from this address. */
  static byte[] received(InetSocketAddress remote, byte[] all) {
    return remote instanceof GidSocketAddress
        ? Arrays.copyOfRange(all, Math.min(PREFIX_BYTES, all.length), all.length)
        : all;
  }
}
