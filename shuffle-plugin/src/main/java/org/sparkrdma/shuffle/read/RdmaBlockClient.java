// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.read;

import com.codahale.metrics.MetricSet;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import org.apache.spark.TaskContext;
import org.apache.spark.network.shuffle.BlockFetchingListener;
import org.apache.spark.network.shuffle.BlockStoreClient;
import org.apache.spark.network.shuffle.DownloadFileManager;
import org.apache.spark.network.shuffle.MergedBlocksMetaListener;
import org.apache.spark.network.shuffle.checksum.Cause;
import org.sparkrdma.shuffle.directory.Endpoint;
import org.sparkrdma.shuffle.directory.EndpointLookup;
import org.sparkrdma.shuffle.fetch.BlockRanges;
import org.sparkrdma.shuffle.fetch.BlockTransport;
import org.sparkrdma.shuffle.fetch.FetchContext;
import org.sparkrdma.shuffle.fetch.FetchRequest;
import org.sparkrdma.shuffle.fetch.PeerAddress;
import org.sparkrdma.shuffle.fetch.ReaderBlocks;
import org.sparkrdma.shuffle.fetch.TcpAnswers;
import org.sparkrdma.shuffle.metrics.FallbackReason;

/**
 * The block client of Spark's fetcher. One for a reader, see {@link #forReader}, fetches shuffle
 * blocks by RDMA where possible; everything else, and all blocks for others, through Spark's own
 * client.
 *
 * <p>Where it is known at once that blocks use TCP, the task's thread calls Spark's client, as in
 * Spark. The runtime creates one for all tasks of an executor. Safe for any thread. Closing it does
 * nothing: it does not own Spark's client.
 */
public final class RdmaBlockClient extends BlockStoreClient {
  private final FetchContext context;
  private final BlockTransport transport;
  private final EndpointLookup directory;
  private final AtomicBoolean draining;

  /** Null for readers that cannot verify blocks when they open them. */
  private final ReaderBlocks reader;

  public RdmaBlockClient(FetchContext context, BlockTransport transport, EndpointLookup directory) {
    this(context, transport, directory, new AtomicBoolean(), null);
  }

  private RdmaBlockClient(
      FetchContext context,
      BlockTransport transport,
      EndpointLookup directory,
      AtomicBoolean draining,
      ReaderBlocks reader) {
    this.context = context;
    this.transport = transport;
    this.directory = directory;
    this.draining = draining;
    this.reader = reader;
  }

  /** The same for one reader, which fetches by RDMA. */
  public RdmaBlockClient forReader(ReaderBlocks ofReader) {
    return new RdmaBlockClient(context, transport, directory, draining, ofReader);
  }

  /** The executor is stopping: new requests go to Spark's own client. Open requests continue. */
  public void drain() {
    draining.set(true);
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
    if (draining.get() || reader == null) {
      fetchByTcp(peer, blockIds.clone(), listener, files, false);
      return;
    }
    if (files != null) {
      for (int i = 0; i < blockIds.length; i++) {
        context.counters().fellBack(FallbackReason.DISK);
      }
      fetchByTcp(peer, blockIds.clone(), listener, files, true);
      return;
    }
    String[] names = blockIds.clone();
    BlockRanges ranges = new BlockRanges(names.length);
    List<String> others = new ArrayList<>(0);
    for (String blockId : names) {
      if (!ranges.tryAdd(blockId)) {
        others.add(blockId);
      }
    }
    if (!others.isEmpty()) {
      List<String> parsed = new ArrayList<>(Arrays.asList(names));
      parsed.removeAll(Set.copyOf(others));
      names = parsed.toArray(String[]::new);
      fetchByTcp(peer, others.toArray(String[]::new), listener, null, false);
    }
    if (names.length > 0) {
      begin(new FetchRequest(context, peer, names, ranges, listener, reader), executorId);
    }
  }

  private void fetchByTcp(
      PeerAddress peer,
      String[] blockIds,
      BlockFetchingListener listener,
      DownloadFileManager files,
      boolean fallback) {
    ReaderBlocks task = reader == null ? new ReaderBlocks(TaskContext.get()) : reader;
    TcpAnswers.fetch(context, peer, task.stage(), blockIds, listener, files, fallback);
  }

  /** Starts at once when the endpoint is known, which is nearly always. */
  private void begin(FetchRequest request, String executorId) {
    CompletableFuture<Optional<Endpoint>> found;
    try {
      found = directory.find(executorId);
    } catch (RuntimeException e) {
      // The executor stops, and the directory takes no more calls.
      request.fetchByTcpNow(FallbackReason.NO_ENDPOINT, e.toString());
      return;
    }
    if (found.isDone() && !found.isCompletedExceptionally()) {
      begin(request, found.join(), true);
      return;
    }
    var unused =
        found
            .exceptionally(failure -> Optional.empty())
            .thenAccept(endpoint -> begin(request, endpoint, false));
  }

  /**
   * @param isTask whether this is the task's thread, which may connect
   */
  private void begin(FetchRequest request, Optional<Endpoint> endpoint, boolean isTask) {
    if (endpoint.isPresent()) {
      request.begin(transport, endpoint.get());
    } else if (isTask) {
      request.fetchByTcpNow(FallbackReason.NO_ENDPOINT, "not in the directory");
    } else {
      request.failRest(FallbackReason.NO_ENDPOINT, "not in the directory");
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
    return context
        .spark()
        .diagnoseCorruption(
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
    context.spark().getMergedBlockMeta(host, port, shuffleId, shuffleMergeId, reduceId, listener);
  }

  @Override
  public MetricSet shuffleMetrics() {
    return context.spark().shuffleMetrics();
  }

  /** Does nothing. */
  @Override
  public void close() {}
}
