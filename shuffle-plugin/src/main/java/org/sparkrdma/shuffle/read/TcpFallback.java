/*
 * Licensed under the Apache License, Version 2.0 (the "License");
 * you may not use this file except in compliance with the License.
 * You may obtain a copy of the License at
 *
 *     http://www.apache.org/licenses/LICENSE-2.0
 *
 * Unless required by applicable law or agreed to in writing, software
 * distributed under the License is distributed on an "AS IS" BASIS,
 * WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
 * See the License for the specific language governing permissions and
 * limitations under the License.
 */
package org.sparkrdma.shuffle.read;

import java.io.IOException;
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
 * so each place has a lane of its own, on at most so many threads, which end when unused: a place
 * that does not answer delays nobody else. Owned by the runtime, which closes it; safe for any
 * thread, never blocks its callers.
 */
public final class TcpFallback implements AutoCloseable {

  private final BlockStoreClient client;
  private final ShuffleCounters counters;
  private final ThreadPoolExecutor threads;
  private final Map<String, TcpLane> lanes = new ConcurrentHashMap<>();

  /**
   * @param client Spark's own; not closed here
   * @param maxThreads most places that may be connected to at the same time
   */
  public TcpFallback(BlockStoreClient client, ShuffleCounters counters, int maxThreads) {
    this.client = client;
    this.counters = counters;
    this.threads = LaneThreads.atMost(maxThreads);
  }

  /**
   * Fetches blocks; the listener hears of each exactly once, Spark's own failure included.
   *
   * @param blocks asked once, when the turn has come, for what is wanted by then
   * @param files where blocks go that are too large for memory; null for memory
   */
  void fetch(
      PeerAddress peer,
      Supplier<String[]> blocks,
      BlockFetchingListener listener,
      DownloadFileManager files) {
    lanes
        .computeIfAbsent(
            peer.place(), place -> new TcpLane(threads, this::issue, TcpFallback::refuse))
        .add(new TcpRequest(peer, blocks, listener, files));
  }

  private void issue(TcpRequest request) {
    if (threads.isShutdown()) {
      refuse(request);
      return;
    }
    String[] blockIds = request.blocks().get();
    TcpAnswers answers = new TcpAnswers(blockIds, request.listener(), counters);
    PeerAddress peer = request.peer();
    try {
      client.fetchBlocks(
          peer.host(), peer.port(), peer.executorId(), blockIds, answers, request.files());
    } catch (Throwable e) {
      // Whatever it was, each block needs its answer, and the lane goes on.
      answers.failRest(e);
    }
  }

  private static void refuse(TcpRequest request) {
    for (String blockId : request.blocks().get()) {
      request.listener().onBlockFetchFailure(blockId, new IOException("the executor is stopping"));
    }
  }

  /** Fails what is still queued; what is under way ends by Spark's client. */
  @Override
  public void close() {
    threads.shutdownNow();
    lanes.values().forEach(TcpLane::refuseAll);
  }
}
