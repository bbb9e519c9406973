// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.read;

import com.codahale.metrics.MetricSet;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import org.apache.spark.network.shuffle.BlockFetchingListener;
import org.apache.spark.network.shuffle.BlockStoreClient;
import org.apache.spark.network.shuffle.DownloadFileManager;
import org.apache.spark.network.shuffle.MergedBlocksMetaListener;
import org.apache.spark.network.shuffle.checksum.Cause;
import org.sparkrdma.shuffle.directory.Endpoint;
import org.sparkrdma.shuffle.directory.EndpointLookup;
import org.sparkrdma.shuffle.fetch.BlockRanges;
import org.sparkrdma.shuffle.fetch.BlockTransport;
import org.sparkrdma.shuffle.fetch.FailureText;
import org.sparkrdma.shuffle.metrics.FallbackReason;
import org.sparkrdma.shuffle.metrics.ShuffleCounters;

/**
 * The block client of Spark's fetcher: fetches shuffle blocks by RDMA where possible, everything
 * else through Spark's own client.
 *
 * <p>Fetching never throws. It blocks the task's thread only as Spark's own client would, when so
 * many addresses do not answer that {@link TcpFallback} has no thread. The runtime creates one for
 * all tasks of an executor. Safe for any thread. Closing it does nothing: it does not own Spark's
 * client.
 */
public final class RdmaBlockClient extends BlockStoreClient {
  private final BlockStoreClient spark;
  private final CompletableFuture<BlockTransport> transport;
  private final EndpointLookup directory;
  private final TcpFallback tcp;
  private final ShuffleCounters counters;
  private final FallbackLog fallbackLog = new FallbackLog();
  private volatile boolean draining;

  /**
   * @param spark Spark's own client
   * @param transport completes in bounded time, when RDMA is up or its start hangs, never with an
   *     exception; with {@link BlockTransport#UNAVAILABLE} when RDMA is off
   */
  public RdmaBlockClient(
      BlockStoreClient spark,
      CompletableFuture<BlockTransport> transport,
      EndpointLookup directory,
      TcpFallback tcp,
      ShuffleCounters counters) {
    this.spark = spark;
    this.transport = transport;
    this.directory = directory;
    this.tcp = tcp;
    this.counters = counters;
  }

  /**
   * The executor is stopping: new requests go to Spark's own client on their caller's thread. Open
   * requests continue, but none is repeated after an Error.
   */
  public void drain() {
    draining = true;
    tcp.drain();
  }

  @Override
  public void fetchBlocks(
      String host,
      int port,
      String executorId,
      String[] blockIds,
      BlockFetchingListener listener,
      DownloadFileManager files) {
    PeerAddress peer = new PeerAddress(executorId, host, port);
    if (draining) {
      String[] copy = blockIds.clone();
      tcp.fetchNow(peer, ReadingTask.current().stage(), copy, listener, files);
      return;
    }
    List<String> names = Arrays.asList(blockIds);
    BlockRanges ranges = new BlockRanges(blockIds.length);
    List<String> others = new ArrayList<>(0);
    for (String blockId : blockIds) {
      if (!BlockNames.parse(blockId, ranges)) {
        others.add(blockId);
      }
    }
    if (!others.isEmpty()) {
      names = new ArrayList<>(names);
      names.removeAll(Set.copyOf(others));
      String[] copy = others.toArray(String[]::new);
      TcpRequest request =
          new TcpRequest(peer, ReadingTask.current().stage(), () -> copy, listener, files);
      request.askedBy(ReadingTask.threadHere());
      tcp.fetch(request);
    }
    if (!names.isEmpty()) {
      begin(
          new PeerFetch(
              peer, names, ranges, listener, files, tcp, fallbackLog, counters, directory::recheck),
          executorId);
    }
  }

  /**
   * Starts at once when transport and endpoint are known, which is nearly always; otherwise later:
   * then nothing is allocated between the completion of the two and the start.
   */
  private void begin(PeerFetch fetch, String executorId) {
    try {
      CompletableFuture<Optional<Endpoint>> found = directory.find(executorId);
      if (hasValue(transport) && hasValue(found)) {
        startOrFail(fetch, transport.join(), found.join());
      } else {
        startLater(fetch, found);
      }
    } catch (Throwable e) {
      fetch.failRest(FallbackReason.UNAVAILABLE, FailureText.of(e));
    }
  }

  private static boolean hasValue(CompletableFuture<?> future) {
    return future.isDone() && !future.isCompletedExceptionally();
  }

  private void startLater(PeerFetch fetch, CompletableFuture<Optional<Endpoint>> found) {
    var unused =
        transport.thenAcceptBoth(
            found.exceptionally(failure -> Optional.empty()),
            (started, endpoint) -> startOrFail(fetch, started, endpoint));
  }

  /**
   * Never throws: a future has no memory for an Error that says so, and requests that wait for the
   * same future would wait for ever.
   */
  private static void startOrFail(
      PeerFetch fetch, BlockTransport started, Optional<Endpoint> endpoint) {
    try {
      if (started == BlockTransport.UNAVAILABLE) {
        fetch.failRest(FallbackReason.UNAVAILABLE, "RDMA did not come up");
      } else if (endpoint.isEmpty()) {
        fetch.failRest(FallbackReason.NO_ENDPOINT, "not in the directory");
      } else {
        fetch.begin(started, endpoint.get());
      }
    } catch (Throwable e) {
      // Its blocks use TCP: both methods request them before they throw.
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
    return spark.diagnoseCorruption(
        host, port, executorId, shuffleId, mapId, reduceId, checksum, algorithm);
  }

  @Override
  public void getMergedBlockMeta(
      String host,
      int port,
      int shuffleId,
      int shuffleMergeId,
      int reduceId,
      MergedBlocksMetaListener listener) {
    spark.getMergedBlockMeta(host, port, shuffleId, shuffleMergeId, reduceId, listener);
  }

  @Override
  public MetricSet shuffleMetrics() {
    return spark.shuffleMetrics();
  }

  /** Does nothing. */
  @Override
  public void close() {}
}
