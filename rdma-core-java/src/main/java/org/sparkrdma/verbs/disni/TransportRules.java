// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.disni;

import com.ibm.disni.verbs.IbvMr;
import java.util.Set;
import org.sparkrdma.verbs.AccessFlag;
import org.sparkrdma.verbs.device.Transport;

/** Differences between InfiniBand (with RoCE) and iWARP. */
enum TransportRules {
  INFINIBAND,
  IWARP;

  static TransportRules of(Transport transport) {
    return transport == Transport.IWARP ? IWARP : INFINIBAND;
  }

  boolean hasImmediateData() {
    return this == INFINIBAND;
  }

  /**
   * Access flags that the device requires for a region. On iWARP the answer to a READ is a tagged
   * write into the reader's memory, so a local sink needs remote write access. The peer receives
   * its key with the request and cannot use it after the connection.
   */
  int regionAccess(Set<AccessFlag> access) {
    int bits = 0;
    for (AccessFlag flag : access) {
      bits |=
          switch (flag) {
            case LOCAL_WRITE -> IbvMr.IBV_ACCESS_LOCAL_WRITE;
            case REMOTE_WRITE -> IbvMr.IBV_ACCESS_REMOTE_WRITE;
            case REMOTE_READ -> IbvMr.IBV_ACCESS_REMOTE_READ;
            case ON_DEMAND -> throw new UnsupportedOperationException("no on-demand paging");
            // Its ibv_reg_mr takes no optional flags.
            case RELAXED_ORDERING -> 0;
          };
    }
    boolean sink = bits == IbvMr.IBV_ACCESS_LOCAL_WRITE;
    return this == IWARP && sink ? bits | IbvMr.IBV_ACCESS_REMOTE_WRITE : bits;
  }
}
