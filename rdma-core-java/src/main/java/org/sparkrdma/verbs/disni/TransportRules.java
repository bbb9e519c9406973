// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.disni;

import com.ibm.disni.verbs.IbvMr;
import com.ibm.disni.verbs.IbvSendWR;
import java.util.Set;
import org.sparkrdma.verbs.AccessFlag;
import org.sparkrdma.verbs.Opcode;
import org.sparkrdma.verbs.WorkRequest;
import org.sparkrdma.verbs.device.Transport;

/** All in which work differs on InfiniBand (with RoCE) and iWARP. */
enum TransportRules {
  INFINIBAND,
  IWARP;

  static TransportRules of(Transport transport) {
    return transport == Transport.IWARP ? IWARP : INFINIBAND;
  }

  boolean hasImmediateData() {
    return this == INFINIBAND;
  }

  /** Whether unsignalled work may fail without a completion; siw drops those. */
  boolean mayFailSilently() {
    return this == IWARP;
  }

  /**
   * siw completes sends and writes before the READs that were posted earlier, unless they wait for
   * those.
   */
  int sendFlags(WorkRequest request) {
    int order = this == IWARP && request.opcode() != Opcode.READ ? IbvSendWR.IBV_SEND_FENCE : 0;
    return request.isSignalled() ? order | IbvSendWR.IBV_SEND_SIGNALED : order;
  }

  /** Elements of a request as the device wants it: of no length, where it has none. */
  int elementCount(WorkRequest request) {
    boolean wanted =
        this == IWARP && (request.opcode() == Opcode.READ || request.opcode() == Opcode.RECEIVE);
    return wanted ? Math.max(1, request.elementCount()) : request.elementCount();
  }

  /**
   * Access of a region as the device wants it. On iWARP the answer to a READ is a tagged write into
   * the reader's memory, so a region that is for that and not open to peers otherwise must be open
   * to writing; the peer learns its key with the request, and loses it with the connection.
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
          };
    }
    boolean sink = bits == IbvMr.IBV_ACCESS_LOCAL_WRITE;
    return this == IWARP && sink ? bits | IbvMr.IBV_ACCESS_REMOTE_WRITE : bits;
  }
}
