// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.benchmarks.transfer;

import java.util.Map;
import java.util.Optional;

/** Checks that all bytes of a sample are right and used the path of its engine. */
final class SampleCheck {
  private static final String RDMA_BYTES = "rdma.bytes.read";

  private SampleCheck() {}

  /**
   * The error of a sample, in one sentence: the bytes read differ from those written, not all bytes
   * of the plug-in's client used RDMA READ, or some of Spark's own did.
   */
  static Optional<String> objection(Sample sample) {
    if (!sample.intact()) {
      return Optional.of("bytes read differ from bytes written: engine=" + sample.engine());
    }
    Map<String, Long> counters = sample.counters();
    long rdmaBytes = counters.getOrDefault(RDMA_BYTES, 0L);
    long wantedBytes = sample.engine() == TransferEngine.RDMA ? sample.bytes() : 0;
    if (rdmaBytes == wantedBytes) {
      return Optional.empty();
    }
    return Optional.of(
        "%d of %d bytes used RDMA READ, expected %d: engine=%s %s"
            .formatted(rdmaBytes, sample.bytes(), wantedBytes, sample.engine(), counters));
  }
}
