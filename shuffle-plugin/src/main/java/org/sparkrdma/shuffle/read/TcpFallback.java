// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.read;

import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.spark.network.shuffle.BlockFetchingListener;
import org.apache.spark.network.shuffle.BlockStoreClient;
import org.apache.spark.network.shuffle.DownloadFileManager;
import org.sparkrdma.shuffle.metrics.ShuffleCounters;
import org.sparkrdma.shuffle.thread.TaskThreads;

/**
 * Fetches blocks through Spark's own client when RDMA cannot.
 *
 * <p>Spark's client connects on its caller's thread and may ask the driver whether the executor is
 * alive. So each address has its own lane, on a bounded number of threads: an address that does not
 * answer delays no other, see {@link TcpLanes}. No request is refused, not even after close,
 * because Spark would count the refusal as a failure of the executor. The runtime owns, starts and
 * closes it. Safe for any thread; does not block its callers before the close.
 */
public final class TcpFallback implements AutoCloseable {
  private static final Duration MAX_IDLE = Duration.ofSeconds(30);

  private final BlockStoreClient client;
  private final ShuffleCounters counters;

  private final TcpLanes lanes;

  /**
   * @param client Spark's own client; not closed here
   * @param maxThreads maximum number of addresses with a connect in progress
   */
  public TcpFallback(BlockStoreClient client, ShuffleCounters counters, int maxThreads) {
    this(
        client,
        counters,
        new TaskThreads(TaskThreads.named("rdma-tcp-fallback"), 1, maxThreads, MAX_IDLE),
        TaskThreads::tryExecuteAfter,
        new ConcurrentHashMap<>());
  }

  /**
   * @param threads started and closed here
   * @param pause before a request is issued again
   * @param lanes no lane at first; safe for any thread
   */
  TcpFallback(
      BlockStoreClient client,
      ShuffleCounters counters,
      TaskThreads threads,
      TcpLanes.Pause pause,
      Map<String, TcpLane> lanes) {
    this.client = client;
    this.counters = counters;
    this.lanes = new TcpLanes(threads, this::issue, pause, lanes);
  }

  /**
   * Starts the thread that lives until the close.
   *
   * @throws org.sparkrdma.shuffle.thread.ThreadShortageException when the system refuses it
   */
  public void start() {
    lanes.start();
  }

  /** Fetches the blocks of a request. Never throws, and allocates nothing that it depends on. */
  void fetch(TcpRequest request) {
    lanes.fetch(request);
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

  private void issue(TcpRequest request) {
    request.issue(client, counters);
  }

  /** The executor stops: requests that end in an Error are not issued again. */
  void drain() {
    lanes.endPauses();
  }

  /**
   * Ends the threads after all queued requests are issued; later requests are issued on their
   * caller's thread.
   */
  @Override
  public void close() {
    drain();
    lanes.close();
  }
}
