/*
 * Licensed under the Apache License, Version 2.0 (the "License");
 * you may not use this file except in compliance with the License.
 * You may obtain a copy of the License at
 *
 *     http://www.apache.org/licenses/LICENSE-2.0
 *
 * Unless required by applicable law or agreed to in writing, software
 * distributed under the License is distributed on an "AS IS" BASIS,
 * WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
 * See the License for the specific language governing permissions and
 * limitations under the License.
 */
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
