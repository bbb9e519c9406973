// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.serve;

import java.nio.file.Path;
import java.util.List;

/**
 * Decides whether to copy out of an unregistered window or to register it.
 *
 * <p>Ski rental: copy until the copies cost as much as one registration, then register. The total
 * is at most twice the optimum. {@link CostProbe} measures the costs. Where the kernel writes a
 * registered window to its disk once more, that write is part of the cost of the registration. Used
 * with the server's lock.
 */
final class CopyOrRegisterPolicy {
  private final ServingCosts costs;
  private final List<Path> writtenAgain;

  /**
   * @param writtenAgain directories whose registered files are written to a disk once more
   */
  CopyOrRegisterPolicy(ServingCosts costs, List<Path> writtenAgain) {
    this.costs = costs;
    this.writtenAgain = writtenAgain;
  }

  /** Whether to copy this many bytes instead of registering the window. */
  boolean shouldCopy(ServedOutput output, int window, long windowBytes, long askedBytes) {
    long copiesNs = output.copyCostNs(window) + costs.copyNs(askedBytes);
    long windowNs = costs.windowNs(windowBytes);
    return copiesNs <= windowNs
        || (copiesNs <= windowNs + ServingCosts.writeNs(windowBytes) && countsWrite(output));
  }

  /** Whether the kernel writes a registered window of this map output to its disk once more. */
  boolean countsWrite(ServedOutput output) {
    return output.mapOutput().isIn(writtenAgain);
  }

  /** Accounts for a copy out of a window. */
  void copied(ServedOutput output, int window, long bytes) {
    output.addCopyCost(window, costs.copyNs(bytes));
  }
}
