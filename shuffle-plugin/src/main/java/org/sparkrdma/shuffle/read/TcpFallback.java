// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.read;

import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;
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
 * answer delays no other. One thread lives from the start to the close, and the others end when
 * unused. While the system refuses further ones, lanes wait for each other. No request is refused,
 * not even after close, because Spark would count the refusal as a failure of the executor. The
 * runtime owns, starts and closes it. Safe for any thread; does not block its callers before the
 * close.
 */
public final class TcpFallback implements AutoCloseable {
  private static final String[] NONE = {};
  private static final Duration MAX_IDLE = Duration.ofSeconds(30);

  private final BlockStoreClient client;
  private final ShuffleCounters counters;
  private final TaskThreads threads;

  /** Lanes by address, with requests that are queued or being issued. */
  final Map<String, TcpLane> lanes = new ConcurrentHashMap<>();

  /**
   * @param client Spark's own client; not closed here
   * @param maxThreads maximum number of addresses with a connect in progress
   */
  public TcpFallback(BlockStoreClient client, ShuffleCounters counters, int maxThreads) {
    this(
        client,
        counters,
        new TaskThreads(TaskThreads.named("rdma-tcp-fallback"), 1, maxThreads, MAX_IDLE));
  }

  /**
   * @param threads started and closed here
   */
  TcpFallback(BlockStoreClient client, ShuffleCounters counters, TaskThreads threads) {
    this.client = client;
    this.counters = counters;
    this.threads = threads;
  }

  /**
   * Starts the thread that lives until the close.
   *
   * @throws org.sparkrdma.shuffle.thread.ThreadShortageException when the system refuses it
   */
  public void start() {
    threads.start();
  }

  /**
   * Fetches blocks; the listener receives exactly one answer for each, including Spark's own
   * failures. When it throws, nothing is requested and the caller must answer.
   *
   * @param stage whose task reads, as in {@link org.sparkrdma.shuffle.metrics.StageReads}
   * @param blocks called once, when the request is issued; returns the blocks to fetch, maybe none;
   *     must not throw
   * @param files for blocks that are too large for memory; null for memory
   */
  void fetch(
      PeerAddress peer,
      int stage,
      Supplier<String[]> blocks,
      BlockFetchingListener listener,
      DownloadFileManager files) {
    TcpRequest request = new TcpRequest(peer, stage, blocks, listener, files);
    try {
      queue(request).start();
    } catch (Throwable e) {
      // No memory for a lane. If the lane has the request nevertheless, it is issued only once.
      issue(request);
    }
  }

  private TcpLane queue(TcpRequest request) {
    // In one step, so that an idle lane is not removed with this request in it.
    return lanes.compute(
        request.peer().hostPort(),
        (key, open) -> {
          TcpLane taken =
              open == null ? new TcpLane(threads, this::issue, () -> removeIdle(key)) : open;
          taken.add(request);
          return taken;
        });
  }

  /** Same as {@link #fetch}, on the caller's thread, which may connect. */
  void fetchNow(
      PeerAddress peer,
      int stage,
      Supplier<String[]> blocks,
      BlockFetchingListener listener,
      DownloadFileManager files) {
    issue(new TcpRequest(peer, stage, blocks, listener, files));
  }

  private void removeIdle(String hostPort) {
    lanes.computeIfPresent(hostPort, (key, lane) -> lane.isIdle() ? null : lane);
  }

  private void issue(TcpRequest request) {
    if (!request.begin()) {
      return;
    }
    PeerAddress peer = request.peer();
    String[] blockIds = NONE;
    TcpAnswers answers = null;
    try {
      blockIds = request.blocks().get();
      if (blockIds.length > 0) {
        answers = new TcpAnswers(blockIds, request.stage(), request.listener(), counters);
        client.fetchBlocks(
            peer.host(), peer.port(), peer.executorId(), blockIds, answers, request.files());
      }
    } catch (Throwable e) {
      // After any failure each block needs an answer, and the lane continues.
      failAll(request.listener(), blockIds, answers, e);
    }
  }

  /** Allocates nothing, because memory may be what has failed. */
  private static void failAll(
      BlockFetchingListener listener, String[] blockIds, TcpAnswers answers, Throwable e) {
    if (answers != null) {
      answers.failRest(e);
      return;
    }
    for (String blockId : blockIds) {
      SafeListener.fail(listener, blockId, e);
    }
  }

  /**
   * Ends the threads after all queued requests are issued; later requests are issued on their
   * caller's thread.
   */
  @Override
  public void close() {
    threads.close();
  }
}
