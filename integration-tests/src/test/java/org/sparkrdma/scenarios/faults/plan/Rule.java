// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.scenarios.faults.plan;

import java.io.Serializable;

/**
 * When something goes wrong.
 *
 * @param step where
 * @param act what
 * @param argument of the act; may be empty
 * @param chance of each time, between 0 and 1
 * @param most times that it strikes
 * @param seed of chance and noise
 */
public record Rule(Step step, Act act, String argument, double chance, int most, long seed)
    implements Serializable {
  /** The same with another seed. */
  public Rule withSeed(long newSeed) {
    return new Rule(step, act, argument, chance, most, newSeed);
  }

  /** The same with another argument. */
  public Rule with(String newArgument) {
    return new Rule(step, act, newArgument, chance, most, seed);
  }
}
