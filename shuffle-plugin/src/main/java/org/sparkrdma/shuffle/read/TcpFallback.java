// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.read;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.function.Supplier;
import org.apache.spark.network.shuffle.BlockFetchingListener;
import org.apache.spark.network.shuffle.BlockStoreClient;
import org.apache.spark.network.shuffle.DownloadFileManager;
import org.sparkrdma.shuffle.metrics.ShuffleCounters;

/**
 * Fetches by Spark's own client what RDMA does not bring.
 *
 * <p>That client connects on its caller's thread and may ask the driver whether the executor lives,
 * so each address has a lane of its own, on at most so many threads, which end when unused: an
 * address that does not answer delays nobody else. Nothing is ever refused here, also not after the
 * close: a refusal would make Spark blame the executor that was asked. Owned by the runtime, which
 * closes it; safe for any thread, does not block its callers before the close.
 */
public final class TcpFallback implements AutoCloseable {
  private final BlockStoreClient client;
  private final ShuffleCounters counters;
  private final ThreadPoolExecutor threads;
  private final Map<String, TcpLane> lanes = new ConcurrentHashMap<>();

  /**
   * @param client Spark's own; not closed here
   * @param maxThreads maximum number of addresses that are connected to at the same time
   */
  public TcpFallback(BlockStoreClient client, ShuffleCounters counters, int maxThreads) {
    this.client = client;
    this.counters = counters;
    this.threads = LaneThreads.atMost(maxThreads);
  }

  /**
   * Fetches blocks; the listener gets exactly one answer for each, Spark's own failure included.
   *
   * @param blocks asked once, when the turn has come, for what is wanted by then
   * @param files where blocks go that are too large for memory; null for memory
   */
  void fetch(
      PeerAddress peer,
      Supplier<String[]> blocks,
      BlockFetchingListener listener,
      DownloadFileManager files) {
    TcpRequest request = new TcpRequest(peer, blocks, listener, files);
    String hostPort = peer.hostPort();
    // In one step, so that a lane that has become idle is not removed with this request in it.
    TcpLane lane =
        lanes.compute(
            hostPort,
            (key, open) -> {
              TcpLane taken =
                  open == null ? new TcpLane(threads, this::issue, () -> removeIdle(key)) : open;
              taken.add(request);
              return taken;
            });
    lane.start();
  }

  /** As {@link #fetch}, on the caller's thread, which may connect. */
  void fetchNow(
      PeerAddress peer,
      Supplier<String[]> blocks,
      BlockFetchingListener listener,
      DownloadFileManager files) {
    issue(new TcpRequest(peer, blocks, listener, files));
  }

  private void removeIdle(String hostPort) {
    lanes.computeIfPresent(hostPort, (key, lane) -> lane.isIdle() ? null : lane);
  }

  /** Addresses with requests that are queued or being issued. */
  int laneCount() {
    return lanes.size();
  }

  private void issue(TcpRequest request) {
    PeerAddress peer = request.peer();
    TcpAnswers answers = null;
    try {
      String[] blockIds = request.blocks().get();
      answers = new TcpAnswers(blockIds, request.listener(), counters);
      client.fetchBlocks(
          peer.host(), peer.port(), peer.executorId(), blockIds, answers, request.files());
    } catch (Throwable e) {
      // Whatever it was, each block needs its answer, and the lane goes on.
      if (answers == null) {
        for (String blockId : request.blocks().get()) {
          SafeListener.fail(request.listener(), blockId, e);
        }
      } else {
        answers.failRest(e);
      }
    }
  }

  /**
   * Ends the threads when they have issued what is queued; later requests are issued on their
   * caller's thread.
   */
  @Override
  public void close() {
    threads.shutdown();
  }
}
