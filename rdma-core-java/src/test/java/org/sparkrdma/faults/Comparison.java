// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.faults;

/**
 * Result of comparisons with the expected bytes.
 *
 * @param compared number of blocks or READs that were compared
 * @param right number of those that have the expected bytes
 */
public record Comparison(long compared, long right) {
  /** Nothing was compared. */
  public static final Comparison NONE = new Comparison(0, 0);

  /** One comparison. */
  public static Comparison of(boolean right) {
    return new Comparison(1, right ? 1 : 0);
  }

  /** Both together. */
  public Comparison plus(Comparison other) {
    return new Comparison(compared + other.compared, right + other.right);
  }

  /** Whether none has other bytes; also when nothing was compared. */
  public boolean hasNoneWrong() {
    return right == compared;
  }
}
