// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.read;

import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ThreadFactory;
import org.apache.spark.network.shuffle.BlockFetchingListener;
import org.apache.spark.network.shuffle.BlockStoreClient;
import org.apache.spark.network.shuffle.DownloadFileManager;
import org.sparkrdma.shuffle.metrics.ShuffleCounters;
import org.sparkrdma.shuffle.thread.TaskThreads;

/**
 * Fetches blocks through Spark's own client when RDMA cannot.
 *
 * <p>Spark's client connects on its caller's thread and may ask the driver whether the executor is
 * alive. So each address has its own queue, on a bounded number of threads: an address that does
 * not answer delays no other, see {@link TcpRequestQueues}. No request is refused, not even after
 * close, because Spark would count the refusal as a failure of the executor. The runtime owns,
 * starts and closes it. Safe for any thread.
 *
 * <p>Many addresses without an answer can hold all these threads, until Spark's time-out of a
 * connect. Healthy ones must not wait for them: peers that have just answered have a few threads of
 * their own, and a task that asks for blocks and finds no thread issues that request itself, as in
 * Spark's own fetch. Other callers never wait before the close, nor does a task for blocks of which
 * it has learned one by one that RDMA does not bring them.
 */
public final class TcpFallback implements AutoCloseable {
  private static final Duration MAX_IDLE = Duration.ofSeconds(30);

  /** Maximum number of threads for peers that have just answered. */
  private static final int ANSWERING_THREADS = 16;

  private final BlockStoreClient client;
  private final ShuffleCounters counters;

  /** Queues of peers that have just answered, so that Spark's client should connect soon. */
  private final TcpRequestQueues answering;

  private final TcpRequestQueues others;

  private final ComparisonThreads comparisons = new ComparisonThreads();

  /**
   * @param client Spark's own client; not closed here
   * @param maxThreads maximum number of addresses with a connect in progress, without peers that
   *     have just answered
   */
  public TcpFallback(BlockStoreClient client, ShuffleCounters counters, int maxThreads) {
    this(client, counters, maxThreads, TaskThreads.named("rdma-tcp-fallback"));
  }

  private TcpFallback(
      BlockStoreClient client, ShuffleCounters counters, int maxThreads, ThreadFactory factory) {
    this(
        client,
        counters,
        new TaskThreads(factory, 1, ANSWERING_THREADS, MAX_IDLE),
        new TaskThreads(factory, 1, maxThreads, MAX_IDLE),
        TaskThreads::tryExecuteAfter,
        new ConcurrentHashMap<>());
  }

  /**
   * @param answeringThreads for peers that have just answered; started and closed here
   * @param otherThreads for all other peers
   * @param pause before a request is issued again
   * @param otherQueues queues of these peers by address; no queue at first; safe for any thread
   */
  TcpFallback(
      BlockStoreClient client,
      ShuffleCounters counters,
      TaskThreads answeringThreads,
      TaskThreads otherThreads,
      TcpRequestQueues.Pause pause,
      Map<String, TcpRequestQueue> otherQueues) {
    this.client = client;
    this.counters = counters;
    this.answering =
        new TcpRequestQueues(answeringThreads, this::issue, pause, new ConcurrentHashMap<>());
    this.others = new TcpRequestQueues(otherThreads, this::issue, pause, otherQueues);
  }

  /**
   * Starts the threads that live until the close.
   *
   * @throws org.sparkrdma.shuffle.thread.ThreadShortageException when the system refuses one
   */
  public void start() {
    answering.start();
    others.start();
  }

  /** Fetches the blocks of a request. Never throws, and allocates nothing that it depends on. */
  void fetch(TcpRequest request) {
    if (request.hasPeerAnswered()) {
      answering.fetch(request);
    } else if (!request.isAskedHere() || !others.isExhausted() || !tryIssue(request)) {
      others.fetch(request);
    }
  }

  /** Issues a request on the caller's thread; false after an Error, when a queue must issue it. */
  private boolean tryIssue(TcpRequest request) {
    try {
      issue(request);
      return true;
    } catch (Throwable e) {
      return false;
    }
  }

  /** Fetches blocks on the caller's thread, which may connect, and in one attempt. */
  void fetchNow(
      PeerAddress peer,
      int stage,
      String[] blockIds,
      BlockFetchingListener listener,
      DownloadFileManager files) {
    TcpRequest request = new TcpRequest(peer, stage, () -> blockIds, listener, files);
    try {
      issue(request);
    } catch (Throwable e) {
      // After any failure each block needs an answer.
      request.fail(e);
    }
  }

  /** Threads that compare suspect blocks with the answers. */
  ComparisonThreads comparisons() {
    return comparisons;
  }

  private void issue(TcpRequest request) {
    request.issue(client, counters);
  }

  /** The executor stops: requests that end in an Error are not issued again. */
  void drain() {
    answering.endPauses();
    others.endPauses();
  }

  /**
   * Ends the threads after all queued requests are issued, and suspect blocks compared; later ones
   * are issued and compared on their caller's thread.
   */
  @Override
  public void close() {
    drain();
    answering.close();
    others.close();
    comparisons.close();
  }
}
