// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.settings;

import java.util.Map;
import java.util.TreeMap;

/** SparkRDMA's keys, which a user may still have, and what became of each. Stateless. */
final class FormerSettings {
  private static final String SPARKS_WRITERS = "not needed: Spark's own writers write the files";
  private static final String COMPUTED = "not needed: computed, or found by the plug-in itself";
  private static final String POOLED = "not needed: receive memory is pooled";
  private static final String METRICS = "not needed: see the metrics source rdma";
  private static final Map<String, String> REPLACEMENTS = new TreeMap<>();

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

  /** The replacement of each key, which is given without its prefix. */
  static Map<String, String> all() {
    return REPLACEMENTS;
  }
}
