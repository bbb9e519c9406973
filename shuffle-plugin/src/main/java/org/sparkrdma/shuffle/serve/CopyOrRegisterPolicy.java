// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.serve;

/**
 * Decides whether to copy out of an unregistered window or to register it.
 *
 * <p>Ski rental: copy until the copies cost as much as one registration, then register. The total
 * is at most twice the optimum. {@link CostProbe} measures the costs. Used with the server's lock.
 */
final class CopyOrRegisterPolicy {
  private final ServingCosts costs;

  CopyOrRegisterPolicy(ServingCosts costs) {
    this.costs = costs;
  }

  /** Whether to copy this many bytes instead of registering the window. */
  boolean shouldCopy(ServedOutput output, int window, long windowBytes, long askedBytes) {
    return output.copyCostNs(window) + costs.copyNs(askedBytes) <= costs.windowNs(windowBytes);
  }

  /** Accounts for a copy out of a window. */
  void copied(ServedOutput output, int window, long bytes) {
    output.addCopyCost(window, costs.copyNs(bytes));
  }
}
