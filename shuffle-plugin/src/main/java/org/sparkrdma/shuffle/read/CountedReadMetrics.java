// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.read;

import org.apache.spark.TaskContext;
import org.apache.spark.shuffle.ShuffleReadMetricsReporter;
import org.apache.spark.util.TaskCompletionListener;
import org.sparkrdma.shuffle.metrics.ShuffleCounters;

/**
 * Counts the remote bytes of a reader of Spark's own as bytes by TCP of the task's stage, at the
 * end of the task, and forwards all to Spark's metrics. Confined to the task's thread.
 */
public final class CountedReadMetrics implements ShuffleReadMetricsReporter {
  private final ShuffleReadMetricsReporter spark;
  private long remoteBytes;

  private CountedReadMetrics(ShuffleReadMetricsReporter spark) {
    this.spark = spark;
  }

  /** Metrics for a reader of this task. */
  public static ShuffleReadMetricsReporter of(
      ShuffleReadMetricsReporter spark, TaskContext task, ShuffleCounters counters) {
    CountedReadMetrics counted = new CountedReadMetrics(spark);
    var unused =
        task.addTaskCompletionListener(
            (TaskCompletionListener)
                ended -> counters.stages().add(ended.stageId(), 0, 0, counted.remoteBytes));
    return counted;
  }

  @Override
  public void incRemoteBytesRead(long bytes) {
    remoteBytes += bytes;
    spark.incRemoteBytesRead(bytes);
  }

  @Override
  public void incRemoteBlocksFetched(long count) {
    spark.incRemoteBlocksFetched(count);
  }

  @Override
  public void incLocalBlocksFetched(long count) {
    spark.incLocalBlocksFetched(count);
  }

  @Override
  public void incRemoteBytesReadToDisk(long bytes) {
    spark.incRemoteBytesReadToDisk(bytes);
  }

  @Override
  public void incLocalBytesRead(long bytes) {
    spark.incLocalBytesRead(bytes);
  }

  @Override
  public void incFetchWaitTime(long ms) {
    spark.incFetchWaitTime(ms);
  }

  @Override
  public void incRecordsRead(long count) {
    spark.incRecordsRead(count);
  }

  @Override
  public void incCorruptMergedBlockChunks(long count) {
    spark.incCorruptMergedBlockChunks(count);
  }

  @Override
  public void incMergedFetchFallbackCount(long count) {
    spark.incMergedFetchFallbackCount(count);
  }

  @Override
  public void incRemoteMergedBlocksFetched(long count) {
    spark.incRemoteMergedBlocksFetched(count);
  }

  @Override
  public void incLocalMergedBlocksFetched(long count) {
    spark.incLocalMergedBlocksFetched(count);
  }

  @Override
  public void incRemoteMergedChunksFetched(long count) {
    spark.incRemoteMergedChunksFetched(count);
  }

  @Override
  public void incLocalMergedChunksFetched(long count) {
    spark.incLocalMergedChunksFetched(count);
  }

  @Override
  public void incRemoteMergedBytesRead(long bytes) {
    spark.incRemoteMergedBytesRead(bytes);
  }

  @Override
  public void incLocalMergedBytesRead(long bytes) {
    spark.incLocalMergedBytesRead(bytes);
  }

  @Override
  public void incRemoteReqsDuration(long ms) {
    spark.incRemoteReqsDuration(ms);
  }

  @Override
  public void incRemoteMergedReqsDuration(long ms) {
    spark.incRemoteMergedReqsDuration(ms);
  }
}
