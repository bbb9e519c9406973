// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.settings;

import java.util.Map;
import java.util.TreeMap;

/**
 * SparkRDMA's keys, and former ones of the plug-in, which a user may still have, and what became of
 * each, which {@link ShuffleSettings} notes for the driver's log. Stateless.
 */
final class FormerSettings {
  private static final String NOT_NEEDED = "not needed: Spark does it, or the plug-in computes it";
  private static final String METRICS = "replaced by the metrics source rdma";
  private static final Map<String, String> REPLACEMENTS = new TreeMap<>();

  /** Former keys of the plug-in. */
  private static final Map<String, String> OWN =
      Map.of("quarantine.max", "not needed: a budget limits what is waited for peers in vain");

  static {
    String notNeeded =
        """
        recvQueueDepth sendQueueDepth recvWrSize swFlowControl useOdp collectOdpStats cpuList
        shuffleWriteBlockSize shuffleReadBlockSize preAllocateBuffers maxAggBlock maxAggPrealloc
        driverPort teardownListenTimeout maxConnectionAttempts shuffleWriterMethod
        shuffleWriteChunkSize shuffleWriteFlushSize shuffleWriteMaxInMemoryStoragePerExecutor""";
    for (String key : notNeeded.split("\\s+", -1)) {
      REPLACEMENTS.put(key, NOT_NEEDED);
    }
    REPLACEMENTS.put("maxBufferAllocationSize", replacedBy("pinned.max"));
    REPLACEMENTS.put("device.num", replacedBy("device"));
    REPLACEMENTS.put("maxBytesInFlight", "replaced by spark.reducer.maxSizeInFlight");
    REPLACEMENTS.put("executorPort", replacedBy("listen.port"));
    REPLACEMENTS.put("rdmaCmEventTimeout", replacedBy("connect.timeout"));
    REPLACEMENTS.put("resolvePathTimeout", replacedBy("connect.timeout"));
    REPLACEMENTS.put("partitionLocationFetchTimeout", replacedBy("request.timeout"));
    REPLACEMENTS.put("collectShuffleReaderStats", METRICS);
    REPLACEMENTS.put("fetchTimeBucketSizeInMs", METRICS);
    REPLACEMENTS.put("fetchTimeNumBuckets", METRICS);
  }

  private FormerSettings() {}

  private static String replacedBy(String name) {
    return "replaced by " + ShuffleSetting.PREFIX + name;
  }

  /** Replacement of a former key, which is given without its prefix; null for any other key. */
  static String replacement(String name) {
    return OWN.getOrDefault(name, REPLACEMENTS.get(name));
  }

  /** The replacement of each key of SparkRDMA, by its name without the prefix. */
  static Map<String, String> all() {
    return REPLACEMENTS;
  }
}
