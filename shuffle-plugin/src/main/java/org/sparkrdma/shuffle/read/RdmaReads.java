// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.read;

import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.apache.spark.TaskContext;
import org.apache.spark.network.shuffle.BlockStoreClient;
import org.apache.spark.util.TaskCompletionListener;
import org.sparkrdma.shuffle.directory.Endpoint;
import org.sparkrdma.shuffle.fetch.BlockManagerAddress;
import org.sparkrdma.shuffle.fetch.BlockTransport;
import org.sparkrdma.shuffle.fetch.FetchContext;
import org.sparkrdma.shuffle.fetch.FetchingTask;

/**
 * How tasks of this executor read shuffle blocks now. Tasks ask for each reader and request; the
 * runtime, which creates this, changes it: its control thread when RDMA starts or is lost, a
 * shutdown hook when the executor ends, and any thread that meets a method or field that Spark
 * lacks. Safe for any thread, without a lock.
 */
public final class RdmaReads {
  /** Finds where blocks are fetched. */
  @FunctionalInterface
  public interface Endpoints {
    /**
     * The endpoint of an executor, or of another that serves its blocks: {@code EndpointCache.find}
     * or {@code StandIns.find}, chosen in {@code RdmaRuntime.of}.
     *
     * @param stage of the task that reads
     */
    CompletableFuture<Optional<Endpoint>> find(BlockManagerAddress peer, int stage);
  }

  /**
   * {@code TCP ◄──► RDMA}; either {@code ──► DRAINING ──► SPARKS}, or at once {@code ──► SPARKS}.
   */
  public enum Way {
    /** RDMA is not up: blocks use TCP, counted as unavailable. */
    TCP,
    /** Blocks are tried by RDMA. */
    RDMA,
    /** The executor ends: new requests use TCP, which is no fallback. */
    DRAINING,
    /** A method or field of Spark is missing: readers and requests are Spark's own. */
    SPARKS;

    Way then(Way next) {
      return compareTo(DRAINING) < 0 || compareTo(next) < 0 ? next : this;
    }
  }

  private final FetchContext context;
  private final Endpoints endpoints;
  private final Runnable onIdle;
  private final AtomicReference<Way> way = new AtomicReference<>(Way.TCP);
  private final AtomicInteger open = new AtomicInteger();

  /**
   * The transport that was started last. A closed one answers every block itself; before the first
   * one is started this does.
   */
  private volatile BlockTransport transport = BlockTransport.UNAVAILABLE;

  /**
   * Until RDMA is up, blocks use TCP.
   *
   * @param onIdle called by a task's thread when no task reads any more
   */
  public RdmaReads(FetchContext context, Endpoints endpoints, Runnable onIdle) {
    this.context = context;
    this.endpoints = endpoints;
    this.onIdle = onIdle;
  }

  /** RDMA is up, with this transport. */
  public void useRdma(BlockTransport started) {
    transport = started;
    use(Way.RDMA);
  }

  /** Changes the way of new readers and requests; the last two are for good. */
  public void use(Way next) {
    way.getAndUpdate(now -> now.then(next));
  }

  /** Whether this is the way now. */
  public boolean is(Way other) {
    return way.get() == other;
  }

  /** The transport in use now. */
  public BlockTransport transport() {
    return transport;
  }

  Endpoints endpoints() {
    return endpoints;
  }

  /** A task begins to read; false when it must do so with Spark's own reader and client. */
  public boolean begin(TaskContext task) {
    if (is(Way.SPARKS)) {
      return false;
    }
    open.incrementAndGet();
    var unused = task.addTaskCompletionListener((TaskCompletionListener) ended -> end());
    return true;
  }

  private void end() {
    if (open.decrementAndGet() == 0) {
      onIdle.run();
    }
  }

  /** Whether a task reads. */
  public boolean areOpen() {
    return open.get() > 0;
  }

  /** The block client of one reader. */
  public RdmaBlockClient client(FetchingTask task) {
    return new RdmaBlockClient(context, this, task);
  }

  /** The block client of any reader of any task. */
  public BlockStoreClient sharedClient() {
    return new SharedBlockClient(context, this);
  }
}
