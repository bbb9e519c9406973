// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.read;

import com.codahale.metrics.MetricSet;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import org.apache.spark.network.shuffle.BlockFetchingListener;
import org.apache.spark.network.shuffle.BlockStoreClient;
import org.apache.spark.network.shuffle.DownloadFileManager;
import org.apache.spark.network.shuffle.MergedBlocksMetaListener;
import org.apache.spark.network.shuffle.checksum.Cause;

/** A fake of Spark's own client: answers at once by default. */
final class FakeSparkClient extends BlockStoreClient {
  /** One call of fetchBlocks. */
  record Call(String host, int port, String executorId, List<String> blockIds) {}

  static final MetricSet METRICS = Map::of;

  final List<Call> calls = new ArrayList<>();
  final Map<String, CountDownLatch> blackHoles = new ConcurrentHashMap<>();
  final Map<String, Throwable> failures = new ConcurrentHashMap<>();

  /** Threads of the calls. */
  final Set<Thread> threads = ConcurrentHashMap.newKeySet();

  volatile Error thrown;

  /** Thrown by each call for a host. */
  final Map<String, Error> failing = new ConcurrentHashMap<>();

  /** Thrown by one call each. */
  final Queue<Error> errors = new ConcurrentLinkedQueue<>();

  /** Number of blocks that a call answers before it throws. */
  volatile int answersBeforeError;

  volatile boolean closed;
  volatile DownloadFileManager files;

  @Override
  public void fetchBlocks(
      String host,
      int port,
      String executorId,
      String[] blockIds,
      BlockFetchingListener listener,
      DownloadFileManager files) {
    synchronized (calls) {
      calls.add(new Call(host, port, executorId, List.of(blockIds)));
      calls.notifyAll();
    }
    threads.add(Thread.currentThread());
    this.files = files;
    CountDownLatch blackHole = blackHoles.get(host);
    if (blackHole != null) {
      awaitQuietly(blackHole);
    }
    Error error = thrown == null ? failing.get(host) : thrown;
    error = error == null ? errors.poll() : error;
    int count = error == null ? blockIds.length : answersBeforeError;
    for (String blockId : List.of(blockIds).subList(0, count)) {
      Throwable failure = failures.get(blockId);
      if (failure == null) {
        listener.onBlockFetchSuccess(blockId, new FakeBuffer(10));
      } else {
        listener.onBlockFetchFailure(blockId, failure);
      }
    }
    if (error != null) {
      throw error;
    }
  }

  private static void awaitQuietly(CountDownLatch latch) {
    try {
      latch.await();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /** Waits until so many calls have begun. */
  void awaitCalls(int count) throws InterruptedException {
    synchronized (calls) {
      while (calls.size() < count) {
        calls.wait();
      }
    }
  }

  List<Call> calls() {
    synchronized (calls) {
      return List.copyOf(calls);
    }
  }

  @Override
  public Cause diagnoseCorruption(
      String host,
      int port,
      String executorId,
      int shuffleId,
      long mapId,
      int reduceId,
      long checksum,
      String algorithm) {
    return Cause.DISK_ISSUE;
  }

  @Override
  public void getMergedBlockMeta(
      String host,
      int port,
      int shuffleId,
      int shuffleMergeId,
      int reduceId,
      MergedBlocksMetaListener listener) {
    listener.onFailure(shuffleId, shuffleMergeId, reduceId, new IllegalStateException("asked"));
  }

  @Override
  public MetricSet shuffleMetrics() {
    return METRICS;
  }

  @Override
  public void close() {
    closed = true;
  }
}
