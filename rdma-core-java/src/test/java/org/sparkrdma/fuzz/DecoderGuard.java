// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.fuzz;

import com.sun.management.ThreadMXBean;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;

/**
 * Checks a decoder of bytes from a peer: it returns a value or throws the declared exception, in
 * bounded time and with memory in proportion to the input's length. Confined to the test's thread.
 */
public final class DecoderGuard {
  private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();
  private static final Path REPORTS = Path.of("target", "fuzz");

  /** Memory for an exception with its stack trace, or a buffer of fixed length. */
  private static final long FIXED_BYTES = 64 << 10;

  private static final int BYTES_PER_INPUT_BYTE = 64;

  private static final int MAX_RUNS = 3;

  /** Long enough that a pause of the machine does not count as a hang. */
  private static final long MAX_NS = Duration.ofSeconds(10).toNanos();

  private final String target;
  private final Class<? extends Exception> declared;
  private long inputs;
  private long refused;

  /** Decodes one input and uses the value; may be run more than once. */
  @FunctionalInterface
  public interface Decoding {
    /** May throw what the decoder throws. */
    void run() throws Exception;
  }

  /**
   * @param target name in the report
   * @param declared the only exception that the decoder may throw
   */
  public DecoderGuard(String target, Class<? extends Exception> declared) {
    this.target = target;
    this.declared = declared;
  }

  /**
   * Runs the decoder.
   *
   * @return whether the decoder accepted the input
   * @throws AssertionError when a check fails
   */
  public boolean accepts(int inputBytes, Decoding decoding) {
    inputs++;
    long maxBytes = FIXED_BYTES + (long) inputBytes * BYTES_PER_INPUT_BYTE;
    long allocatedBytes = Long.MAX_VALUE;
    long tookNs = Long.MAX_VALUE;
    boolean accepted = false;
    // Class loading takes time and allocates memory as well, but only once.
    for (int i = 0; i < MAX_RUNS && (allocatedBytes > maxBytes || tookNs > MAX_NS); i++) {
      long before = THREADS.getCurrentThreadAllocatedBytes();
      long startedNs = System.nanoTime();
      accepted = runOnce(decoding);
      tookNs = System.nanoTime() - startedNs;
      allocatedBytes = THREADS.getCurrentThreadAllocatedBytes() - before;
    }
    require(allocatedBytes <= maxBytes, "little memory", allocatedBytes);
    require(tookNs <= MAX_NS, "a result in time", inputBytes);
    refused += accepted ? 0 : 1;
    return accepted;
  }

  private boolean runOnce(Decoding decoding) {
    boolean accepted = true;
    try {
      decoding.run();
    } catch (Exception e) {
      if (!declared.isInstance(e)) {
        throw new AssertionError("undeclared exception: target=" + target, e);
      }
      accepted = false;
    }
    return accepted;
  }

  /** An assertion that allocates nothing when it holds. */
  public static void require(boolean held, String what, long actual) {
    if (!held) {
      throw new AssertionError("expected: " + what + ", actual=" + actual);
    }
  }

  /** Writes how many inputs there were to a file in {@code target/fuzz}. */
  public void report() throws IOException {
    Files.createDirectories(REPORTS);
    Files.writeString(
        REPORTS.resolve(target + ".txt"),
        String.format("%-24s inputs=%d refused=%d%n", target, inputs, refused));
  }
}
