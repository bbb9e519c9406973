// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.read;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import org.apache.spark.network.shuffle.BlockFetchingListener;
import org.apache.spark.network.shuffle.DownloadFileManager;
import org.sparkrdma.shuffle.directory.Endpoint;
import org.sparkrdma.shuffle.fetch.BlockManagerAddress;
import org.sparkrdma.shuffle.fetch.BlockRanges;
import org.sparkrdma.shuffle.fetch.FetchContext;
import org.sparkrdma.shuffle.fetch.FetchRequest;
import org.sparkrdma.shuffle.fetch.FetchingTask;
import org.sparkrdma.shuffle.fetch.TcpFetch;
import org.sparkrdma.shuffle.metrics.FallbackReason;
import org.sparkrdma.shuffle.read.RdmaReads.Way;
import org.sparkrdma.shuffle.spark.ForwardingClient;

/**
 * The block client of Spark's fetcher, which decides which blocks are tried by RDMA: shuffle blocks
 * of an executor whose endpoint is known, while RDMA is up, unless Spark wants them on disk. {@link
 * FetchRequest} has what becomes of these; all others come over TCP without a try.
 *
 * <p>For one reader of a task. Where it is known at once that blocks use TCP, the task's thread
 * calls Spark's client, as in Spark. Created by {@link RdmaReads}. Safe for any thread.
 */
public class RdmaBlockClient extends ForwardingClient {
  private static final String[] NONE = {};

  private final FetchContext context;
  final RdmaReads reads;
  private final FetchingTask task;

  /** Whether RDMA was up when the reader began. */
  private final boolean mayUseRdma;

  RdmaBlockClient(FetchContext context, RdmaReads reads, FetchingTask task) {
    super(context.spark());
    this.context = context;
    this.reads = reads;
    this.task = task;
    this.mayUseRdma = reads.is(Way.RDMA);
  }

  /** The reader of a request. */
  FetchingTask task() {
    return task;
  }

  /** Whether the reader's blocks are tried by RDMA. */
  boolean mayUseRdma() {
    return mayUseRdma;
  }

  @Override
  public void fetchBlocks(
      String host,
      int port,
      String executorId,
      String[] blockIds,
      BlockFetchingListener listener,
      DownloadFileManager files) {
    if (reads.is(Way.SPARKS)) {
      super.fetchBlocks(host, port, executorId, blockIds, listener, files);
      return;
    }
    // Blocks that no other object answers; only they may be asked for once more here.
    String[] open = blockIds;
    try {
      FetchingTask reader = task();
      BlockManagerAddress peer = new BlockManagerAddress(executorId, host, port);
      if (reads.is(Way.DRAINING)) {
        TcpFetch.fetch(
            context, peer, reader.stage(), blockIds.clone(), listener, files, false, null);
        return;
      }
      boolean tries = mayUseRdma();
      if (files != null || !tries) {
        FallbackReason reason = tries ? FallbackReason.DISK : FallbackReason.UNAVAILABLE;
        for (int i = 0; i < blockIds.length; i++) {
          context.counters().fellBack(reason);
        }
        TcpFetch.fetch(
            context, peer, reader.stage(), blockIds.clone(), listener, files, tries, null);
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
        String[] rest = others.toArray(String[]::new);
        TcpFetch.fetch(context, peer, reader.stage(), rest, listener, null, false, null);
        open = names;
      }
      if (names.length > 0) {
        FetchRequest request = new FetchRequest(context, peer, names, ranges, listener, reader);
        open = NONE;
        startByRdma(request, peer, reader.stage());
      }
    } catch (LinkageError e) {
      if (!context.missing().take(e) || open.length == 0) {
        throw e;
      }
      super.fetchBlocks(host, port, executorId, open, listener, files);
    }
  }

  /** Starts at once when the endpoint is known, which is nearly always. */
  private void startByRdma(FetchRequest request, BlockManagerAddress peer, int stage) {
    try {
      findEndpoint(request, peer, stage);
    } catch (LinkageError e) {
      context.missing().takeOrThrow(e);
      request.fetchByTcpNow(FallbackReason.UNAVAILABLE, e.toString());
    }
  }

  private void findEndpoint(FetchRequest request, BlockManagerAddress peer, int stage) {
    CompletableFuture<Optional<Endpoint>> found;
    try {
      found = reads.endpoints().find(peer, stage);
    } catch (RuntimeException e) {
      // The executor stops, and the directory takes no more calls.
      request.fetchByTcpNow(FallbackReason.NO_ENDPOINT, e.toString());
      return;
    }
    if (found.isDone()) {
      onEndpoint(request, found.join(), true);
      return;
    }
    var unused =
        found
            .thenAccept(endpoint -> onEndpoint(request, endpoint, false))
            .exceptionally(failure -> leaveRestToTcpLater(request, failure.getCause()));
  }

  /** On a thread where nobody sees an error, but each block needs an answer. */
  private Void leaveRestToTcpLater(FetchRequest request, Throwable cause) {
    if (cause instanceof LinkageError missing) {
      context.missing().take(missing);
    } else if (cause instanceof VirtualMachineError) {
      // The future keeps it from its thread.
      Thread thread = Thread.currentThread();
      thread.getUncaughtExceptionHandler().uncaughtException(thread, cause);
    }
    request.leaveRestToTcp(FallbackReason.UNAVAILABLE, cause.toString());
    return null;
  }

  /**
   * @param isTask whether this is the task's thread, which may connect
   */
  private void onEndpoint(FetchRequest request, Optional<Endpoint> endpoint, boolean isTask) {
    if (endpoint.isPresent()) {
      request.fetchByRdma(reads.transport(), endpoint.get());
    } else if (isTask) {
      request.fetchByTcpNow(FallbackReason.NO_ENDPOINT, "not in the directory");
    } else {
      request.leaveRestToTcp(FallbackReason.NO_ENDPOINT, "not in the directory");
    }
  }
}
