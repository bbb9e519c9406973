// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.broadcast;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.function.Supplier;
import org.apache.spark.SparkEnv;
import org.apache.spark.network.shuffle.BlockFetchingListener;
import org.apache.spark.rpc.RpcEndpointRef;
import org.apache.spark.rpc.RpcTimeout;
import org.apache.spark.storage.BlockManagerId;
import org.apache.spark.storage.ShuffleBlockId;
import org.apache.spark.util.RpcUtils;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.sparkrdma.shuffle.directory.Endpoint;
import org.sparkrdma.shuffle.fetch.BlockManagerAddress;
import org.sparkrdma.shuffle.fetch.BlockRanges;
import org.sparkrdma.shuffle.fetch.BlockTransport;
import org.sparkrdma.shuffle.fetch.FallbackLog;
import org.sparkrdma.shuffle.fetch.FetchContext;
import org.sparkrdma.shuffle.fetch.FetchRequest;
import org.sparkrdma.shuffle.fetch.FetchingTask;
import org.sparkrdma.shuffle.metrics.ShuffleCounters;
import scala.concurrent.duration.FiniteDuration;
import scala.reflect.ClassTag$;

/**
 * The executor's part: registers at the driver, which announces broadcast variables and their end,
 * and brings each in by a {@link BroadcastFetch}. Safe for any thread.
 */
final class BroadcastExecutor implements BroadcastFetch.Sources, Broadcasts.Part {
  private static final Logger LOG = LoggerFactory.getLogger(BroadcastExecutor.class);

  /** Longer than Spark takes to remove a variable. */
  private static final long CLEAN_UP_S = 5;

  /** Threads for a variable: its fetch, and its gate. */
  private static final int THREADS = 2;

  private final SparkEnv env;
  private final String driverName;
  private final Supplier<BlockTransport> transport;
  private final Function<String, CompletableFuture<Optional<Endpoint>>> directory;
  private final Executor threads;
  private final ShuffleCounters counters;
  private final FallbackLog log = new FallbackLog();

  /** Fetches that have begun, of variables that are not destroyed. */
  private final Map<Long, BroadcastFetch> fetches = new ConcurrentHashMap<>();

  /** Threads that may still begin. */
  private final Semaphore running;

  private final RpcEndpointRef own;
  private volatile RpcEndpointRef driver;

  /**
   * Registers in the background.
   *
   * @param driverName of the driver's endpoint
   * @param transport null when pieces come by Spark's TCP only
   * @param directory finds the endpoint of an executor, as {@code DirectoryClient}
   * @param threads more than twice {@code atOnce}
   * @param atOnce maximum number of variables that are fetched at a time
   */
  BroadcastExecutor(
      SparkEnv env,
      String driverName,
      Supplier<BlockTransport> transport,
      Function<String, CompletableFuture<Optional<Endpoint>>> directory,
      ShuffleCounters counters,
      Executor threads,
      int atOnce) {
    this.env = env;
    this.driverName = driverName;
    this.transport = transport;
    this.directory = directory;
    this.counters = counters;
    this.threads = threads;
    this.running = new Semaphore(THREADS * atOnce);
    this.own =
        env.rpcEnv()
            .setupEndpoint(
                driverName, new BroadcastEndpoint(env.rpcEnv(), (message, reply) -> take(message)));
    threads.execute(this::register);
  }

  private void register() {
    try {
      RpcEndpointRef found = RpcUtils.makeDriverRef(driverName, env.conf(), env.rpcEnv());
      BlockManagerId id = env.blockManager().blockManagerId();
      driver = found;
      found.askSync(
          message(BroadcastDriver.REGISTER, id.executorId(), id.host(), id.port(), own),
          ClassTag$.MODULE$.apply(Object.class));
    } catch (Exception e) {
      // Spark's RPC may throw any.
      LOG.info("Broadcast variables come by Torrent: the driver has no pipeline: {}", e.toString());
    }
  }

  private static List<Object> message(Object... fields) {
    return new ArrayList<>(List.of(fields));
  }

  /** A message of the driver: pieces, or the id of a variable that is destroyed. */
  private void take(Object message) {
    if (message instanceof Long id) {
      BroadcastFetch removed = fetches.remove(id);
      if (removed != null) {
        removed.remove();
        cleanUp(removed);
      }
      return;
    }
    Pieces pieces = Pieces.decode(message);
    BroadcastGate gate = new BroadcastGate(env.blockManager().blockInfoManager(), pieces.id());
    // Tasks must not wait for a fetch that cannot begin.
    if (!Broadcasts.isBroken() && !gate.hasValue() && running.tryAcquire(THREADS)) {
      BroadcastFetch fetch = new BroadcastFetch(env, pieces, gate, this);
      fetches.put(pieces.id(), fetch);
      int unused = THREADS;
      try {
        run(gate);
        unused--;
        run(
            () -> {
              fetch.run();
              cleanUp(fetch);
            });
        unused--;
      } finally {
        // The system may refuse a thread: the variable comes by Torrent.
        running.release(unused);
        if (unused > 0) {
          gate.open();
          fetches.remove(pieces.id());
        }
      }
    }
  }

  private void cleanUp(BroadcastFetch removed) {
    CompletableFuture.delayedExecutor(CLEAN_UP_S, TimeUnit.SECONDS, threads)
        .execute(
            () -> {
              if (!removed.cleanUp()) {
                cleanUp(removed);
              }
            });
  }

  private void run(Runnable work) {
    threads.execute(
        () -> {
          try {
            work.run();
          } finally {
            running.release();
          }
        });
  }

  @Override
  public BroadcastFetch.Source next(long id, int done, String failed) throws Exception {
    RpcTimeout timeout =
        new RpcTimeout(
            new FiniteDuration(BroadcastFetch.PROGRESS_MS, TimeUnit.MILLISECONDS),
            "the limit of a broadcast variable's progress");
    Object answer =
        driver.askSync(
            message(BroadcastDriver.NEXT, env.executorId(), id, done, failed),
            timeout,
            ClassTag$.MODULE$.apply(Object.class));
    return answer instanceof List<?> fields
            && fields.size() == 4
            && fields.get(0) instanceof Integer chunk
            && fields.get(1) instanceof String executorId
            && fields.get(2) instanceof String host
            && fields.get(3) instanceof Integer port
        ? new BroadcastFetch.Source(chunk, new BlockManagerAddress(executorId, host, port))
        : null;
  }

  @Override
  public void leave(long id) {
    driver.send(message(BroadcastDriver.LEAVE, env.executorId(), id));
  }

  @Override
  public boolean read(BlockManagerAddress from, long id, int piece, PieceArrivals arrivals) {
    if (transport == null || from.executorId().equals(BroadcastTracker.DRIVER)) {
      return false;
    }
    // A look-up that takes longer serves the next piece.
    Optional<Endpoint> endpoint = directory.apply(from.executorId()).getNow(Optional.empty());
    if (endpoint.isEmpty()) {
      return false;
    }
    long mapId = Pieces.mapId(id, piece);
    String[] names = {new ShuffleBlockId(Pieces.SHUFFLE_ID, mapId, 0).name()};
    BlockRanges ranges = new BlockRanges(1);
    ranges.add(Pieces.SHUFFLE_ID, mapId, 0, 1);
    // Pieces that cannot be READ are fetched by this package, not as blocks of a shuffle.
    FetchContext context =
        new FetchContext(
            env.blockManager().blockTransferService(),
            (request, failed, reason, detail) -> arrivals.failRead(piece),
            counters,
            false,
            0,
            log);
    BlockFetchingListener listener = arrivals.listener(piece, true);
    new FetchRequest(context, from, names, ranges, listener, FetchingTask.ofBroadcast())
        .fetchByRdma(transport.get(), endpoint.get());
    return true;
  }

  @Override
  public void fetch(BlockManagerAddress from, long id, int piece, PieceArrivals arrivals) {
    // Spark's server never unlocks the others of a request for several of which one is gone.
    String[] names = {Pieces.block(id, piece).name()};
    BlockFetchingListener listener = arrivals.listener(piece, false);
    env.blockManager()
        .blockTransferService()
        .fetchBlocks(from.host(), from.port(), from.executorId(), names, listener, null);
  }

  @Override
  public void close() {
    env.rpcEnv().stop(own);
  }
}
