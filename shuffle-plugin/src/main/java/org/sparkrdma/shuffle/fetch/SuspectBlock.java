// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.fetch;

import java.io.IOException;
import java.util.Locale;
import java.util.function.Consumer;
import org.apache.spark.network.buffer.ManagedBuffer;

/**
 * A block fetched by RDMA whose recorded checksum does not match. Spark's checksums are not always
 * right, so the block is fetched by TCP and compared before the peer is quarantined. Safe for any
 * thread.
 */
public final class SuspectBlock {
  private final long sizeBytes;
  private final long crc32c;
  private final Consumer<Boolean> verdict;
  private volatile String sums;

  /**
   * @param sizeBytes of the RDMA data
   * @param crc32c of the RDMA data
   * @param verdict receives whether the TCP data is the same
   */
  public SuspectBlock(long sizeBytes, long crc32c, Consumer<Boolean> verdict) {
    this.sizeBytes = sizeBytes;
    this.crc32c = crc32c;
    this.verdict = verdict;
  }

  /**
   * Compares the block with the TCP data; the buffer stays unchanged.
   *
   * @return whether both are equal; then the recorded checksum was wrong, not the READ
   * @throws IOException when the buffer cannot be read
   */
  public boolean compare(ManagedBuffer tcp) throws IOException {
    return compare(tcp.size(), BlockSum.crc32c(tcp));
  }

  /** Lengths and checksums of both, for a log; null before the comparison. */
  public String sums() {
    return sums;
  }

  public boolean compare(long tcpBytes, long tcpCrc32c) {
    sums =
        String.format(
            Locale.ROOT,
            "rdmaBytes=%d tcpBytes=%d rdmaCrc32c=%08x tcpCrc32c=%08x",
            sizeBytes,
            tcpBytes,
            crc32c,
            tcpCrc32c);
    boolean same = tcpBytes == sizeBytes && tcpCrc32c == crc32c;
    verdict.accept(same);
    return same;
  }
}
