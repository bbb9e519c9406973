// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.benchmarks.transfer;

import java.util.Map;
import java.util.Optional;

/** Checks that all bytes of a measurement are right and used the path of its engine. */
public final class SampleCheck {
  private static final String RDMA_BYTES = "rdma.bytes.read";

  private SampleCheck() {}

  /** The error of a sample, in one sentence. */
  static Optional<String> objection(Sample sample) {
    return objection(sample.engine(), sample.bytes(), sample.intact(), sample.counters());
  }

  /**
   * The error of a measurement, in one sentence: the bytes read differ from those written, not all
   * bytes of the plug-in's client used RDMA READ, or some of Spark's own did.
   *
   * @param bytes fetched
   * @param intact whether the sums of the bytes read and written are equal
   * @param counters growth of the plug-in's counters in both executors
   */
  public static Optional<String> objection(
      TransferEngine engine, long bytes, boolean intact, Map<String, Long> counters) {
    if (!intact) {
      return Optional.of("bytes read differ from bytes written: engine=" + engine);
    }
    long rdmaBytes = counters.getOrDefault(RDMA_BYTES, 0L);
    long wantedBytes = engine == TransferEngine.RDMA ? bytes : 0;
    if (rdmaBytes == wantedBytes) {
      return Optional.empty();
    }
    return Optional.of(
        "%d of %d bytes used RDMA READ, expected %d: engine=%s %s"
            .formatted(rdmaBytes, bytes, wantedBytes, engine, counters));
  }
}
