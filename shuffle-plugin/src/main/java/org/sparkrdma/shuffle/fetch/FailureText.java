// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.fetch;

/** Text of a failure for a log line. */
public final class FailureText {
  private FailureText() {}

  /** Like {@link Throwable#toString}, but never throws, because blocks wait for their answers. */
  public static String of(Throwable failure) {
    try {
      return failure.toString();
    } catch (Throwable noMemory) {
      return "no memory to describe the failure";
    }
  }

  /** The operation, and its failure. */
  public static String of(String operation, Throwable failure) {
    try {
      return operation + ": " + of(failure);
    } catch (Throwable noMemory) {
      return operation;
    }
  }
}
