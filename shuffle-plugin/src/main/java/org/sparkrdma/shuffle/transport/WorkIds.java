// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.transport;

/**
 * The 64 bits of a work request's id.
 *
 * <pre>
 *   63      62 .. 32              31 .. 0
 *  +-------+---------------------+---------------------------------------------+
 *  | recv  | connection's index  | number of the send, or index of the receive |
 *  +-------+---------------------+---------------------------------------------+
 * </pre>
 */
final class WorkIds {
  static final long LOW_MASK = 0xFFFF_FFFFL;
  private static final long RECEIVE = 1L << 63;

  private WorkIds() {}

  static long sends(int index) {
    return (long) index << 32;
  }

  static long receives(int index) {
    return RECEIVE | sends(index);
  }

  static int index(long id) {
    return (int) ((id & ~RECEIVE) >>> 32);
  }

  static boolean isReceive(long id) {
    return (id & RECEIVE) != 0;
  }
}
