// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.ibverbs;

import org.sparkrdma.verbs.QueuePairSettings;
import org.sparkrdma.verbs.ibverbs.ffi.Layouts.IbvQpInitAttr;
import org.sparkrdma.verbs.ibverbs.ffi.Memory;
import org.sparkrdma.verbs.ibverbs.ffi.NativeArena;
import org.sparkrdma.verbs.ibverbs.ffi.VerbsLibrary;

/** Fills struct ibv_qp_init_attr, see ibv_create_qp(3). */
final class QueuePairAttributes {
  private QueuePairAttributes() {}

  /** The address of the struct, in memory of the arena. */
  static long write(QueuePairSettings settings, NativeArena arena) {
    long at = arena.allocate(IbvQpInitAttr.SIZE);
    write(
        at,
        ((IbverbsCompletionQueue) settings.sendQueue()).cq(),
        ((IbverbsCompletionQueue) settings.receiveQueue()).cq(),
        settings.sendDepth(),
        settings.receiveDepth(),
        settings.maxSge(),
        settings.maxInlineBytes());
    return at;
  }

  /** Writes the struct into zeroed memory. */
  static void write(
      long at,
      long sendCq,
      long receiveCq,
      int sendDepth,
      int receiveDepth,
      int maxSge,
      int inlineBytes) {
    Memory.putLong(at + IbvQpInitAttr.SEND_CQ, sendCq);
    Memory.putLong(at + IbvQpInitAttr.RECV_CQ, receiveCq);
    Memory.putInt(at + IbvQpInitAttr.CAP_MAX_SEND_WR, sendDepth);
    Memory.putInt(at + IbvQpInitAttr.CAP_MAX_RECV_WR, receiveDepth);
    Memory.putInt(at + IbvQpInitAttr.CAP_MAX_SEND_SGE, maxSge);
    Memory.putInt(at + IbvQpInitAttr.CAP_MAX_RECV_SGE, maxSge);
    Memory.putInt(at + IbvQpInitAttr.CAP_MAX_INLINE_DATA, inlineBytes);
    Memory.putInt(at + IbvQpInitAttr.QP_TYPE, VerbsLibrary.QP_TYPE_RC);
  }
}
