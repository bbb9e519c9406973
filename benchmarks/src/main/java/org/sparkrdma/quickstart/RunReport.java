// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.quickstart;

import java.util.Map;
import java.util.TreeMap;
import org.sparkrdma.benchmarks.tera.SortResult;
import org.sparkrdma.launch.LaunchException;

/**
 * One run as the report and the table show it.
 *
 * @param seconds wall time of the sort
 * @param checksum of the sorted output
 * @param fallbacks blocks or reads that went by TCP although the plug-in was there, by reason
 * @param executorCpuSeconds CPU time of all executor processes up to the end of the sort
 */
record RunReport(
    ShuffleMode mode,
    double seconds,
    long records,
    String checksum,
    Bytes bytes,
    Map<String, Long> fallbacks,
    double executorCpuSeconds) {

  private static final String RDMA_BYTES = "rdma.bytes.read";
  private static final String TCP_BYTES = "tcp.bytes.read";
  private static final String FALLBACK_PREFIX = "fallback.";

  /** Shuffle bytes that tasks read, by the way they came. */
  record Bytes(long rdma, long tcp, long local) {}

  /**
   * The report of a run whose numbers agree with each other.
   *
   * @param lostExecutor whether an executor was killed, and what it had counted with it
   * @throws LaunchException if the plug-in and Spark count different remote bytes, or if a run that
   *     must show RDMA READ did not use it
   */
  static RunReport of(ShuffleMode mode, SortResult result, boolean lostExecutor)
      throws LaunchException {
    long rdmaBytes = result.counters().getOrDefault(RDMA_BYTES, 0L);
    long ourTcpBytes = result.counters().getOrDefault(TCP_BYTES, 0L);
    long ourBytes = rdmaBytes + ourTcpBytes;
    long sparkBytes = result.sparkRemoteBytes();
    Map<String, Long> fallbacks = fallbacks(result.counters());
    if (mode == ShuffleMode.RDMA && rdmaBytes == 0) {
      throw new LaunchException(
          "the rdma run read no byte by RDMA READ: remoteBytes=%d fallbacks=%s"
              .formatted(sparkBytes, fallbacks));
    }
    if (!lostExecutor && ourBytes != 0 && ourBytes != sparkBytes) {
      throw new LaunchException(
          "the plug-in and Spark disagree on the remote bytes of the %s run: rdma=%d tcp=%d spark=%d"
              .formatted(mode, rdmaBytes, ourTcpBytes, sparkBytes));
    }
    // Without RDMA the reader is Spark's own, which the plug-in's counters do not see.
    long tcpBytes = ourBytes == 0 ? sparkBytes : ourTcpBytes;
    return new RunReport(
        mode,
        result.seconds(),
        result.records(),
        result.checksum(),
        new Bytes(rdmaBytes, tcpBytes, result.sparkLocalBytes()),
        fallbacks,
        result.executorCpuSeconds().values().stream().mapToDouble(Double::doubleValue).sum());
  }

  private static Map<String, Long> fallbacks(Map<String, Long> counters) {
    Map<String, Long> byReason = new TreeMap<>();
    counters.forEach(
        (name, count) -> {
          if (name.startsWith(FALLBACK_PREFIX) && count != 0) {
            byReason.put(name.substring(FALLBACK_PREFIX.length()), count);
          }
        });
    return byReason;
  }
}
