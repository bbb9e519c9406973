// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.benchmarks.jobs;

import java.util.Map;
import java.util.TreeMap;
import org.sparkrdma.benchmarks.tera.ShuffleReadTotals;

/**
 * Bytes and blocks that one run read by RDMA READ, by TCP and locally, from the counters of Spark
 * and of the plug-in.
 *
 * @param fallbacks blocks or reads that used TCP under the plug-in, by reason
 */
record PathTotals(RunResult.ByPath bytes, RunResult.ByPath blocks, Map<String, Long> fallbacks) {
  private static final String FALLBACK_PREFIX = "fallback.";

  /** At most this part of the bytes that tasks have taken may be left; 0.02 % in all of TPC-DS. */
  private static final int MAX_LEFT_PART = 100;

  /**
   * Computes the totals and checks that both counters agree.
   *
   * @param counters counters of the plug-in, summed over executors; empty without the plug-in
   * @param complete whether no executor was lost and no task failed, so that no count is missing
   * @throws BenchmarkException if the plug-in and Spark count different remote bytes, or if a run
   *     that must show RDMA READ did not use it
   */
  static PathTotals of(
      ShuffleMode mode, Map<String, Long> counters, ShuffleReadTotals spark, boolean complete)
      throws BenchmarkException {
    Map<String, Long> fallbacks = withPrefix(counters, FALLBACK_PREFIX);
    long read = counters.getOrDefault("rdma.bytes.read", 0L);
    long tcp = counters.getOrDefault("tcp.bytes.read", 0L);
    if (mode.mustRead() && read == 0) {
      throw new BenchmarkException(
          ("no byte was read by RDMA READ with the plug-in: remote bytes=%d, fallbacks=%s; the"
                  + " executors' logs have the reasons")
              .formatted(spark.remoteBytes(), fallbacks));
    }
    // With RDMA switched off the reader is Spark's own, which does not count in the plug-in's
    // counters.
    boolean plugInRead = read + tcp != 0;
    if (complete && plugInRead && !agree(read + tcp, spark.remoteBytes())) {
      throw new BenchmarkException(
          "the plug-in and Spark count different remote bytes: mode=%s read=%d tcp=%d spark=%d"
              .formatted(mode, read, tcp, spark.remoteBytes()));
    }
    return new PathTotals(
        new RunResult.ByPath(read, plugInRead ? tcp : spark.remoteBytes(), spark.localBytes()),
        new RunResult.ByPath(
            counters.getOrDefault("rdma.blocks.read", 0L),
            plugInRead ? counters.getOrDefault("tcp.blocks.read", 0L) : spark.remoteBlocks(),
            spark.localBlocks()),
        fallbacks);
  }

  /**
   * Whether the plug-in has fetched what Spark's tasks have taken. A task that ends early, as with
   * LIMIT, leaves blocks that were fetched for it, which Spark does not count.
   */
  private static boolean agree(long fetchedBytes, long takenBytes) {
    long leftBytes = fetchedBytes - takenBytes;
    return leftBytes >= 0 && leftBytes <= takenBytes / MAX_LEFT_PART;
  }

  /** The counters with this prefix that are not 0, by the rest of their names. */
  private static Map<String, Long> withPrefix(Map<String, Long> counters, String prefix) {
    Map<String, Long> selected = new TreeMap<>();
    counters.forEach(
        (name, count) -> {
          if (name.startsWith(prefix) && count != 0) {
            selected.put(name.substring(prefix.length()), count);
          }
        });
    return selected;
  }
}
