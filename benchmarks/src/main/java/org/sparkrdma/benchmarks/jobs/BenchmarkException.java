// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.benchmarks.jobs;

/** The benchmark cannot go on; the message is one sentence for the user. */
public final class BenchmarkException extends Exception {
  private static final long serialVersionUID = 1L;

  public BenchmarkException(String sentence) {
    super(sentence);
  }
}
