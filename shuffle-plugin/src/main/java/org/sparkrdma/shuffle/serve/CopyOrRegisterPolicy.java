// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.serve;

import org.sparkrdma.verbs.device.Transport;

/**
 * Decides whether to copy out of an unregistered window or to register it.
 *
 * <p>Ski rental: copy until the copies cost as much as one registration, then register. The total
 * is at most twice the optimum. Costs are measured by {@code ./bench serve}, see
 * docs/benchmarks.md; hardware pins page by page, the loopback engine does not. Used with the
 * server's lock.
 */
final class CopyOrRegisterPolicy {
  private static final long REGISTER_NS = 45_000;
  private static final long REGISTER_NS_PER_MIB = 40_000;
  private static final long COPY_NS = 12_000;
  private static final long COPY_NS_PER_MIB = 52_000;
  private static final int MIB_SHIFT = 20;

  private final long registerNsPerMib;

  CopyOrRegisterPolicy(Transport transport) {
    this.registerNsPerMib = transport == Transport.LOOPBACK ? 0 : REGISTER_NS_PER_MIB;
  }

  /** Whether to copy this many bytes instead of registering the window. */
  boolean shouldCopy(ServedOutput output, int window, long windowBytes, long askedBytes) {
    long costNs = REGISTER_NS + ((windowBytes * registerNsPerMib) >> MIB_SHIFT);
    return output.copyCostNs(window) + costNs(askedBytes) <= costNs;
  }

  /** Accounts for a copy out of a window. */
  void copied(ServedOutput output, int window, long bytes) {
    output.addCopyCost(window, costNs(bytes));
  }

  private static long costNs(long bytes) {
    return COPY_NS + ((bytes * COPY_NS_PER_MIB) >> MIB_SHIFT);
  }
}
