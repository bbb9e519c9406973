// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.benchmarks.jobs;

/**
 * A commit of this project.
 *
 * @param name as the user gave it
 * @param hash all digits
 * @param subject first line of its message
 */
public record Commit(String name, String hash, String subject) {
  private static final int SHORT_HASH = 10;

  /** The first digits of the hash, to print. */
  public String shortHash() {
    return hash.substring(0, Math.min(SHORT_HASH, hash.length()));
  }

  @Override
  public String toString() {
    return shortHash() + " " + subject;
  }
}
