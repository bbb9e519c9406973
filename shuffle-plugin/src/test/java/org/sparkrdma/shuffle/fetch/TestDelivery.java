// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.fetch;

import java.util.Map;
import java.util.concurrent.Executor;
import org.apache.spark.network.buffer.ManagedBuffer;
import org.apache.spark.network.util.MapConfigProvider;
import org.apache.spark.network.util.TransportConf;
import org.sparkrdma.shuffle.metrics.ShuffleCounters;

/** A delivery that verifies blocks, with Spark's default settings. */
public final class TestDelivery {
  private TestDelivery() {}

  /**
   * @param threads deliver
   * @param diskThreads write to disk
   */
  public static Delivery on(Executor threads, Executor diskThreads, ShuffleCounters counters) {
    return new Delivery(
        threads,
        diskThreads,
        new TransportConf("shuffle", new MapConfigProvider(Map.of())),
        true,
        counters,
        incarnation -> {});
  }

  /** Whether a fetched block was copied to the heap. */
  public static boolean isCopy(ManagedBuffer block) {
    return block instanceof HeapBlock;
  }
}
