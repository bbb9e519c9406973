// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.read;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;
import org.apache.spark.TaskContext;
import org.apache.spark.network.shuffle.BlockFetchingListener;
import org.apache.spark.network.shuffle.DownloadFileManager;
import org.sparkrdma.shuffle.directory.Endpoint;
import org.sparkrdma.shuffle.fetch.BlockManagerAddress;
import org.sparkrdma.shuffle.fetch.BlockRanges;
import org.sparkrdma.shuffle.fetch.BlockTransport;
import org.sparkrdma.shuffle.fetch.FetchContext;
import org.sparkrdma.shuffle.fetch.FetchRequest;
import org.sparkrdma.shuffle.fetch.ReadingTask;
import org.sparkrdma.shuffle.fetch.TcpFetch;
import org.sparkrdma.shuffle.metrics.FallbackReason;
import org.sparkrdma.shuffle.spark.ForwardingClient;

/**
 * The block client of Spark's fetcher, which decides which blocks are tried by RDMA: shuffle blocks
 * of an executor whose endpoint is known, while RDMA is up, unless Spark wants them on disk. {@link
 * FetchRequest} has what becomes of these; all others come over TCP without a try.
 *
 * <p>{@link #forTask} fetches for one reader, {@link #forAllTasks} for any of the executor; other
 * callers get Spark's own client. Where it is known at once that blocks use TCP, the task's thread
 * calls Spark's client, as in Spark. Created by the runtime. Safe for any thread.
 */
public final class RdmaBlockClient extends ForwardingClient {
  /** Finds where blocks are fetched. */
  @FunctionalInterface
  public interface Endpoints {
    /**
     * The endpoint of an executor, or of another that serves its blocks; as {@code
     * DirectoryClient.find}.
     *
     * @param stage of the task that reads
     */
    CompletableFuture<Optional<Endpoint>> find(BlockManagerAddress peer, int stage);
  }

  private static final String[] NONE = {};

  private final FetchContext context;
  private final Supplier<BlockTransport> transport;
  private final Endpoints endpoints;
  private final BooleanSupplier isUp;
  private final AtomicBoolean draining;

  /** Null for readers that cannot verify blocks when they open them. */
  private final ReadingTask ofTask;

  /** Whether each call fetches for a reader of its own. */
  private final boolean forAllTasks;

  /**
   * Whether RDMA was up when this was created: for a reader of the plug-in at its begin, for others
   * at each call.
   */
  private final boolean wasUp;

  /**
   * @param transport the one in use now
   * @param isUp whether RDMA is up
   */
  public RdmaBlockClient(
      FetchContext context,
      Supplier<BlockTransport> transport,
      Endpoints endpoints,
      BooleanSupplier isUp) {
    this(context, transport, endpoints, isUp, new AtomicBoolean(), null, false);
  }

  private RdmaBlockClient(
      FetchContext context,
      Supplier<BlockTransport> transport,
      Endpoints endpoints,
      BooleanSupplier isUp,
      AtomicBoolean draining,
      ReadingTask ofTask,
      boolean forAllTasks) {
    super(context.spark());
    this.context = context;
    this.transport = transport;
    this.endpoints = endpoints;
    this.isUp = isUp;
    this.draining = draining;
    this.ofTask = ofTask;
    this.forAllTasks = forAllTasks;
    this.wasUp = isUp.getAsBoolean();
  }

  /** The same for the reader of one task, which fetches by RDMA if it is up. */
  public RdmaBlockClient forTask(ReadingTask task) {
    return new RdmaBlockClient(context, transport, endpoints, isUp, draining, task, false);
  }

  /** The same for any reader of any task. It knows no map indexes, so a failure names none. */
  public RdmaBlockClient forAllTasks() {
    return new RdmaBlockClient(context, transport, endpoints, isUp, draining, null, true);
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
    if (context.missing().any()) {
      super.fetchBlocks(host, port, executorId, blockIds, listener, files);
      return;
    }
    // Blocks that no other object answers; only they may be asked for once more here.
    String[] open = blockIds;
    try {
      ReadingTask task = ofTask == null ? new ReadingTask(TaskContext.get()) : ofTask;
      BlockManagerAddress peer = new BlockManagerAddress(executorId, host, port);
      if (draining.get() || (ofTask == null && !forAllTasks)) {
        TcpFetch.fetch(context, peer, task.stage(), blockIds.clone(), listener, files, false);
        return;
      }
      boolean mayUseRdma = forAllTasks ? isUp.getAsBoolean() : wasUp;
      if (files != null || !mayUseRdma) {
        FallbackReason reason = mayUseRdma ? FallbackReason.DISK : FallbackReason.UNAVAILABLE;
        for (int i = 0; i < blockIds.length; i++) {
          context.counters().fellBack(reason);
        }
        TcpFetch.fetch(context, peer, task.stage(), blockIds.clone(), listener, files, mayUseRdma);
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
        TcpFetch.fetch(context, peer, task.stage(), rest, listener, null, false);
        open = names;
      }
      if (names.length > 0) {
        FetchRequest request = new FetchRequest(context, peer, names, ranges, listener, task);
        open = NONE;
        startByRdma(request, peer, task.stage());
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
      found = endpoints.find(peer, stage);
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

  /** On the control thread, where nobody sees an error, but each block needs an answer. */
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
      request.fetchByRdma(transport.get(), endpoint.get());
    } else if (isTask) {
      request.fetchByTcpNow(FallbackReason.NO_ENDPOINT, "not in the directory");
    } else {
      request.leaveRestToTcp(FallbackReason.NO_ENDPOINT, "not in the directory");
    }
  }
}
