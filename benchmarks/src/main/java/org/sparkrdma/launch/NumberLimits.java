// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.launch;

import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;

/**
 * Limits of whole numbers that options give. An error is one sentence with the option, its value
 * and what is allowed.
 *
 * @param command the command that has the options
 */
public record NumberLimits(CommandSpec command) {
  /** Maximum number of rounds, and of warm-ups. */
  private static final int MAX_ROUNDS = 1_000;

  /**
   * Checks one option.
   *
   * @throws ParameterException when the value is not from {@code min} to {@code max}
   */
  public void check(String option, long value, long min, long max) {
    if (value < min || value > max) {
      throw new ParameterException(
          command.commandLine(),
          "%s is '%d': give a whole number from %d to %d".formatted(option, value, min, max));
    }
  }

  /** Checks {@code --rounds} and {@code --warm-ups}, as {@link #check}. */
  public void checkRounds(int rounds, int warmUps) {
    check("--rounds", rounds, 1, MAX_ROUNDS);
    checkWarmUps(warmUps);
  }

  /** Checks {@code --warm-ups}, as {@link #check}. */
  public void checkWarmUps(int warmUps) {
    check("--warm-ups", warmUps, 0, MAX_ROUNDS);
  }
}
