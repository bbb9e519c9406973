// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.benchmarks.transfer;

import java.util.Map;
import java.util.Optional;

/** Makes sure that a sample measured what its name says. */
final class SampleCheck {
  private static final String RDMA_BYTES = "rdma.bytes.read";

  private SampleCheck() {}

  /**
   * What is wrong with a sample, in one sentence: other bytes came than were written, or not all
   * bytes of the plug-in's client, or some of Spark's own, came by RDMA READ.
   */
  static Optional<String> objection(Sample sample) {
    if (!sample.intact()) {
      return Optional.of("other bytes came than were written: engine=" + sample.engine());
    }
    Map<String, Long> counters = sample.counters();
    long rdmaBytes = counters.getOrDefault(RDMA_BYTES, 0L);
    long wantedBytes = sample.engine() == TransferEngine.RDMA ? sample.bytes() : 0;
    if (rdmaBytes == wantedBytes) {
      return Optional.empty();
    }
    return Optional.of(
        "%d of %d bytes came by RDMA READ where %d should have: engine=%s %s"
            .formatted(rdmaBytes, sample.bytes(), wantedBytes, sample.engine(), counters));
  }
}
