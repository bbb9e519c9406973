// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.benchmarks.growth;

import java.util.List;
import java.util.Map;

/**
 * Results of the simulation, as it writes them.
 *
 * @param exponents of each quantity, by its name, in the order of the table
 * @param growth the same shuffle on more and more executors, at least two
 * @param incast many servers and one reader with many tasks
 * @param waves a shuffle with all its tasks
 */
public record Growth(
    Map<String, Exponents> exponents,
    List<SimulatedShuffle> growth,
    List<SimulatedShuffle> incast,
    List<SimulatedShuffle> waves) {
  /**
   * Exponents e of a quantity that grows as the number of executors to the e.
   *
   * @param fitted least squares over all sizes
   * @param last from the second largest size to the largest
   */
  public record Exponents(double fitted, double last) {}

  /** Heading of the last exponent, which names its two sizes. */
  String lastInterval() {
    return "from N = %,d to %,d"
        .formatted(
            growth.get(growth.size() - 2).shape().executors(),
            growth.get(growth.size() - 1).shape().executors());
  }
}
