// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.benchmarks.ceiling;

import java.util.List;
import java.util.Optional;
import org.sparkrdma.benchmarks.transfer.TransferEngine;

/** A round: both clients' samples, taken directly after each other. */
record CeilingRound(int blockBytes, int peers, CeilingSample rdma, CeilingSample netty) {
  static CeilingRound of(int blockBytes, int peers, List<CeilingShare> shares) {
    return new CeilingRound(
        blockBytes,
        peers,
        CeilingSample.of(shares, TransferEngine.RDMA),
        CeilingSample.of(shares, TransferEngine.NETTY));
  }

  /** The reason why the round is invalid, in one sentence. */
  Optional<String> objection() {
    return objection(rdma, rdma.blocks() * blockBytes).or(() -> objection(netty, 0));
  }

  private static Optional<String> objection(CeilingSample sample, long wantedBytes) {
    long rdmaBytes = sample.client().rdmaBytes();
    return rdmaBytes == wantedBytes
        ? Optional.empty()
        : Optional.of(
            "%d bytes used RDMA READ, expected %d: client=%s"
                .formatted(rdmaBytes, wantedBytes, sample.client().engine()));
  }
}
