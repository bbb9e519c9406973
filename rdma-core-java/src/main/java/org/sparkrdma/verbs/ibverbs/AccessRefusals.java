// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.ibverbs;

import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Devices whose drivers have refused to change the access of a connected queue pair, as hns did on
 * Linux 5.8 (check_qp_state in hns_roce_hw_v2.c). Such a device does not claim {@code
 * QUEUE_PAIR_ACCESS} any more. Kept for the life of the process, because an engine is loaded again
 * at each start of its user. Safe for any thread.
 */
final class AccessRefusals {
  /** Addresses of contexts, which librdmacm keeps as long as the device exists. */
  private static final Set<Long> CONTEXTS = ConcurrentHashMap.newKeySet();

  private AccessRefusals() {}

  static void add(long context) {
    CONTEXTS.add(context);
  }

  static boolean contains(long context) {
    return CONTEXTS.contains(context);
  }

  /** Forgets all; used by tests, whose simulated device has the same address in each of them. */
  static void clear() {
    CONTEXTS.clear();
  }
}
