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
  private static final Set<Refusing> DEVICES = ConcurrentHashMap.newKeySet();

  /** A device, for as long as it has its name: another may get the address of its context. */
  private record Refusing(String name, long nodeGuid) {}

  private AccessRefusals() {}

  static void add(String name, long nodeGuid) {
    DEVICES.add(new Refusing(name, nodeGuid));
  }

  static boolean contains(String name, long nodeGuid) {
    return DEVICES.contains(new Refusing(name, nodeGuid));
  }

  /** Forgets all; used by tests, whose simulated device has the same name in each of them. */
  static void clear() {
    DEVICES.clear();
  }
}
