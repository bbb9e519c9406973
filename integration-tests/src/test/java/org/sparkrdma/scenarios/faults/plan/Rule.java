// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.scenarios.faults.plan;

import java.io.Serializable;

/**
 * A fault: at which step it fires, what it does and how often.
 *
 * @param step at which it fires
 * @param act what it does
 * @param argument of the act; may be empty
 * @param chance probability at each step, between 0 and 1
 * @param maxFires maximum number of times
 * @param seed of chance and noise
 */
public record Rule(Step step, Act act, String argument, double chance, int maxFires, long seed)
    implements Serializable {
  /** The same with another seed. */
  public Rule withSeed(long newSeed) {
    return new Rule(step, act, argument, chance, maxFires, newSeed);
  }

  /** The same with another argument. */
  public Rule with(String newArgument) {
    return new Rule(step, act, newArgument, chance, maxFires, seed);
  }
}
