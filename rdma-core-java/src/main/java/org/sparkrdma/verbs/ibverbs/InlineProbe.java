// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.ibverbs;

import org.sparkrdma.verbs.ibverbs.ffi.Layouts.IbvQpInitAttr;
import org.sparkrdma.verbs.ibverbs.ffi.Memory;
import org.sparkrdma.verbs.ibverbs.ffi.NativeArena;
import org.sparkrdma.verbs.ibverbs.ffi.VerbsLibrary;

/**
 * Finds the maximum inline data of a send. No query reports it, so queue pairs are created with
 * ever less until the device accepts one.
 */
final class InlineProbe {
  /** The first number of bytes that is tried; more would make each work request larger. */
  private static final int MAX_BYTES = 220;

  private InlineProbe() {}

  /** Returns at most {@value #MAX_BYTES} bytes; 0 when the device has no inline sends. */
  static int of(VerbsLibrary verbs, long context) {
    long pd = verbs.allocPd(context);
    long cq = verbs.createCq(context, 1, 0, 0);
    try (NativeArena arena = new NativeArena()) {
      for (int bytes = MAX_BYTES; pd != 0 && cq != 0 && bytes > 0; bytes /= 2) {
        if (agrees(verbs, pd, cq, bytes, arena.allocate(IbvQpInitAttr.SIZE))) {
          return bytes;
        }
      }
      return 0;
    } finally {
      if (cq != 0) {
        verbs.destroyCq(cq);
      }
      if (pd != 0) {
        verbs.deallocPd(pd);
      }
    }
  }

  private static boolean agrees(VerbsLibrary verbs, long pd, long cq, int bytes, long attributes) {
    QueuePairAttributes.write(attributes, cq, cq, 1, 1, 1, bytes);
    long qp = verbs.createQp(pd, attributes);
    if (qp == 0) {
      return false;
    }
    verbs.destroyQp(qp);
    return Memory.getInt(attributes + IbvQpInitAttr.CAP_MAX_INLINE_DATA) >= bytes;
  }
}
