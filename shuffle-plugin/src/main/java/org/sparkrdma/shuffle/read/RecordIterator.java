// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.read;

import java.io.InputStream;
import org.apache.spark.serializer.SerializerInstance;
import org.apache.spark.shuffle.ShuffleReadMetricsReporter;
import org.apache.spark.storage.BlockId;
import scala.Tuple2;
import scala.collection.AbstractIterator;
import scala.collection.Iterator;

/**
 * Iterates over the records of all streams and counts them. Confined to the task's thread.
 *
 * <p>Scala's flatMap and map cannot be used: their signatures differ between Scala 2.12 and 2.13.
 */
public final class RecordIterator extends AbstractIterator<Tuple2<Object, Object>> {
  private final Iterator<Tuple2<BlockId, InputStream>> streams;
  private final SerializerInstance serializer;
  private final ShuffleReadMetricsReporter metrics;
  private Iterator<Tuple2<Object, Object>> records;
  private boolean begun;

  /**
   * @param metrics count each record
   */
  public RecordIterator(
      Iterator<Tuple2<BlockId, InputStream>> streams,
      SerializerInstance serializer,
      ShuffleReadMetricsReporter metrics) {
    this.streams = streams;
    this.serializer = serializer;
    this.metrics = metrics;
  }

  @Override
  public boolean hasNext() {
    while (records == null || !records.hasNext()) {
      if (!streams.hasNext()) {
        return false;
      }
      // At its end this iterator closes the stream below it.
      records = serializer.deserializeStream(streams.next()._2()).asKeyValueIterator();
    }
    return true;
  }

  @Override
  public Tuple2<Object, Object> next() {
    if (!hasNext()) {
      throw new java.util.NoSuchElementException("no more records");
    }
    Tuple2<Object, Object> record = records.next();
    metrics.incRecordsRead(1);
    begun = true;
    return record;
  }

  /** Whether a record was handed out, perhaps to a function of the job. */
  boolean hasBegun() {
    return begun;
  }
}
