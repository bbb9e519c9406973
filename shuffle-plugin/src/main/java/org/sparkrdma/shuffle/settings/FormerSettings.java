// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.settings;

import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * SparkRDMA's keys, and those of earlier versions, which a user may still have, and what became of
 * each. Stateless.
 */
final class FormerSettings {
  private static final String SPARKS_WRITERS = "not needed: Spark's own writers write the files";
  private static final String COMPUTED = "not needed: computed, or found by the plug-in itself";
  private static final Map<String, String> REPLACEMENTS = new TreeMap<>();

  /** Keys of earlier versions of this plug-in. */
  private static final Map<String, String> REMOVED = new TreeMap<>();

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
    REPLACEMENTS.put("preAllocateBuffers", "not needed: receive memory is pooled");
    REPLACEMENTS.put("collectShuffleReaderStats", "not needed: see the metrics source rdma");
    REPLACEMENTS.put("driverPort", "not needed: peers are found through Spark's own driver port");
    REPLACEMENTS.put("executorPort", replacedBy("listen.port"));
    REPLACEMENTS.put("rdmaCmEventTimeout", replacedBy("connect.timeout"));
    REPLACEMENTS.put("teardownListenTimeout", "not needed");
    REPLACEMENTS.put("resolvePathTimeout", replacedBy("connect.timeout"));
    REPLACEMENTS.put("maxConnectionAttempts", COMPUTED);
    REPLACEMENTS.put("partitionLocationFetchTimeout", replacedBy("request.timeout"));
    REPLACEMENTS.put("fetchTimeBucketSizeInMs", "not needed: see the metrics source rdma");
    REPLACEMENTS.put("fetchTimeNumBuckets", "not needed: see the metrics source rdma");
    REPLACEMENTS.put("collectOdpStats", "not needed");
    REPLACEMENTS.put("maxAggBlock", COMPUTED);
    REPLACEMENTS.put("maxAggPrealloc", "not needed: receive memory is pooled");
    REPLACEMENTS.put("shuffleWriterMethod", SPARKS_WRITERS);
    REPLACEMENTS.put("shuffleWriteChunkSize", SPARKS_WRITERS);
    REPLACEMENTS.put("shuffleWriteFlushSize", SPARKS_WRITERS);
    REPLACEMENTS.put("shuffleWriteMaxInMemoryStoragePerExecutor", SPARKS_WRITERS);
    REMOVED.put("reads.max", COMPUTED);
    REMOVED.put("peer.timeout", "not needed: devices detect a dead peer, see ack.timeout");
    REMOVED.put("delivery.threads", "not needed: tasks verify the blocks that they read");
    for (String name :
        List.of(
            "copy.slot.size",
            "copy.slots.max",
            "index.cache.max",
            "peer.leases.max",
            "message.size",
            "locates.max",
            "ack.retry.max",
            "attempts.max",
            "spin.timeout")) {
      REMOVED.put(name, "not needed: its default suits every cluster");
    }
  }

  private FormerSettings() {}

  private static String replacedBy(String name) {
    return "replaced by " + ShuffleSetting.PREFIX + name;
  }

  /** Replacement of a former key, which is given without its prefix; null for any other key. */
  static String replacement(String name) {
    String replacement = REPLACEMENTS.get(name);
    return replacement == null ? REMOVED.get(name) : replacement;
  }

  /** A sentence about a key of Spark's settings; null when it is no former one. */
  static String note(String key) {
    String name = key.substring(ShuffleSetting.PREFIX.length());
    String replacement = replacement(name);
    if (replacement == null) {
      return null;
    }
    String origin = REMOVED.containsKey(name) ? "" : " of SparkRDMA";
    return key + origin + " has no effect: " + replacement;
  }

  /** All keys of SparkRDMA by name. */
  static Map<String, String> all() {
    return REPLACEMENTS;
  }
}
