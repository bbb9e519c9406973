// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.settings;

import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/**
 * SparkRDMA's keys, and those of earlier versions, which a user may still have, and what became of
 * each. Stateless.
 */
final class FormerSettings {
  private static final String SPARKS_WRITERS = "not needed: Spark's own writers write the files";
  private static final String COMPUTED = "not needed: computed, or found by the plug-in itself";
  private static final String POOLED = "not needed: receive memory is pooled";
  private static final String METRICS = "not needed: see the metrics source rdma";
  private static final Map<String, String> REPLACEMENTS = new TreeMap<>();

  /** Keys of earlier versions of this plug-in; all are computed now. */
  private static final Set<String> REMOVED =
      Set.of(
          """
           ack.retry.max attempts.max chunk.size copy.slot.size copy.slots.max delivery.threads
           device.port gid.type index.cache.max lease.timeout locates.max message.size
           peer.leases.max peer.timeout quarantine.min reads.max spin.timeout window.size"""
              .split("\\s+", -1));

  static {
    REPLACEMENTS.put("recvQueueDepth", COMPUTED);
    REPLACEMENTS.put("sendQueueDepth", COMPUTED);
    REPLACEMENTS.put("recvWrSize", COMPUTED);
    REPLACEMENTS.put("swFlowControl", "not needed: every message is answered");
    REPLACEMENTS.put("maxBufferAllocationSize", replacedBy("pinned.max"));
    REPLACEMENTS.put("device.num", replacedBy("device"));
    REPLACEMENTS.put("useOdp", "not needed: files are registered in windows under pinned.max");
    REPLACEMENTS.put("cpuList", "not needed: one thread serves all connections");
    REPLACEMENTS.put("shuffleWriteBlockSize", COMPUTED);
    REPLACEMENTS.put("shuffleReadBlockSize", COMPUTED);
    REPLACEMENTS.put("maxBytesInFlight", "replaced by spark.reducer.maxSizeInFlight");
    REPLACEMENTS.put("preAllocateBuffers", POOLED);
    REPLACEMENTS.put("collectShuffleReaderStats", METRICS);
    REPLACEMENTS.put("driverPort", "not needed: peers are found through Spark's own driver port");
    REPLACEMENTS.put("executorPort", replacedBy("listen.port"));
    REPLACEMENTS.put("rdmaCmEventTimeout", replacedBy("connect.timeout"));
    REPLACEMENTS.put("teardownListenTimeout", "not needed");
    REPLACEMENTS.put("resolvePathTimeout", replacedBy("connect.timeout"));
    REPLACEMENTS.put("maxConnectionAttempts", COMPUTED);
    REPLACEMENTS.put("partitionLocationFetchTimeout", replacedBy("request.timeout"));
    REPLACEMENTS.put("fetchTimeBucketSizeInMs", METRICS);
    REPLACEMENTS.put("fetchTimeNumBuckets", METRICS);
    REPLACEMENTS.put("collectOdpStats", "not needed");
    REPLACEMENTS.put("maxAggBlock", COMPUTED);
    REPLACEMENTS.put("maxAggPrealloc", POOLED);
    REPLACEMENTS.put("shuffleWriterMethod", SPARKS_WRITERS);
    REPLACEMENTS.put("shuffleWriteChunkSize", SPARKS_WRITERS);
    REPLACEMENTS.put("shuffleWriteFlushSize", SPARKS_WRITERS);
    REPLACEMENTS.put("shuffleWriteMaxInMemoryStoragePerExecutor", SPARKS_WRITERS);
  }

  private FormerSettings() {}

  private static String replacedBy(String name) {
    return "replaced by " + ShuffleSetting.PREFIX + name;
  }

  /** Replacement of a former key, which is given without its prefix; null for any other key. */
  static String replacement(String name) {
    return REPLACEMENTS.getOrDefault(name, REMOVED.contains(name) ? COMPUTED : null);
  }

  /** The replacement of each key of SparkRDMA, by its name without the prefix. */
  static Map<String, String> all() {
    return REPLACEMENTS;
  }
}
