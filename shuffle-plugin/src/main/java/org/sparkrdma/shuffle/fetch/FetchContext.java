// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.fetch;

import org.apache.spark.network.shuffle.BlockStoreClient;
import org.sparkrdma.shuffle.links.MissingLinks;
import org.sparkrdma.shuffle.metrics.ShuffleCounters;

/**
 * Objects that all fetch requests of an executor share. Safe for any thread.
 *
 * @param spark Spark's own client
 * @param fallback fetches failed blocks through it
 * @param verify whether blocks are verified with their checksums
 * @param maxOomAttempts as {@code spark.shuffle.maxAttemptsOnNettyOOM}
 * @param unusable map outputs whose recorded checksums are wrong
 * @param log why blocks use TCP
 * @param missing takes errors about methods and fields that Spark lacks
 */
public record FetchContext(
    BlockStoreClient spark,
    FetchRequest.Fallback fallback,
    ShuffleCounters counters,
    boolean verify,
    int maxOomAttempts,
    UnusableChecksums unusable,
    FallbackLog log,
    MissingLinks missing) {
  /** A context without known map outputs, of which nothing is missing so far. */
  public FetchContext(
      BlockStoreClient spark,
      FetchRequest.Fallback fallback,
      ShuffleCounters counters,
      boolean verify,
      int maxOomAttempts,
      FallbackLog log) {
    this(
        spark,
        fallback,
        counters,
        verify,
        maxOomAttempts,
        new UnusableChecksums(),
        log,
        new MissingLinks());
  }
}
