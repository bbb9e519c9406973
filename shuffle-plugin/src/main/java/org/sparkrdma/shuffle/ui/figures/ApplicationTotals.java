// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.ui.figures;

/**
 * Sums over the executors of an application, for Spark's metrics system. Sums of bytes and blocks
 * include executors that have ended.
 *
 * @param withRdma running executors whose RDMA is up
 * @param withoutRdma running executors that have reported another state
 * @param pinnedFull running executors that have pinned at least 95 % of what they may
 * @param bytes by path
 * @param fallbackBlocks blocks that used TCP although the plug-in is on
 * @param quarantines of peers
 */
public record ApplicationTotals(
    long withRdma,
    long withoutRdma,
    long pinnedFull,
    BytesByPath bytes,
    long fallbackBlocks,
    long quarantines) {
  /** The line that the driver logs at the end of the application. */
  public String summary() {
    return "readBytes=%d copiedBytes=%d tcpBytes=%d localBytes=%d fallbackBlocks=%d quarantines=%d"
        .formatted(
            bytes.read(), bytes.copied(), bytes.tcp(), bytes.local(), fallbackBlocks, quarantines);
  }
}
