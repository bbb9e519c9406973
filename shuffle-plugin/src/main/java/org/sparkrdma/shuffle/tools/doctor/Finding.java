// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.tools.doctor;

/**
 * One sentence or two about one matter, and what to do about it.
 *
 * @param level its weight
 * @param message what was found
 * @param advice what to do
 */
public record Finding(Level level, String message, String advice) {
  /** Nothing to do. */
  public static Finding ok(String message) {
    return new Finding(Level.OK, message, "nothing");
  }

  /** Good to know. */
  public static Finding note(String message, String advice) {
    return new Finding(Level.NOTE, message, advice);
  }

  /** RDMA works, but worse than it could. */
  public static Finding warning(String message, String advice) {
    return new Finding(Level.WARNING, message, advice);
  }

  /** A cause why RDMA is not used. */
  public static Finding problem(String message, String advice) {
    return new Finding(Level.PROBLEM, message, advice);
  }
}
