// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.broadcast;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.function.Consumer;
import org.apache.spark.SparkContext;
import org.apache.spark.SparkContext$;
import org.apache.spark.SparkEnv;
import org.apache.spark.rpc.RpcCallContext;
import org.apache.spark.rpc.RpcEndpointRef;
import org.apache.spark.scheduler.SparkListener;
import org.apache.spark.scheduler.SparkListenerBlockUpdated;
import org.apache.spark.storage.BlockData;
import org.apache.spark.storage.BlockManagerId;
import org.apache.spark.storage.BlockUpdatedInfo;
import org.apache.spark.storage.BroadcastBlockId;
import org.sparkrdma.shuffle.fetch.BlockManagerAddress;
import scala.Option;

/**
 * The driver's part: sees the pieces that Torrent puts into the driver's block manager, sums them,
 * announces large variables to the executors, and answers with the {@link BroadcastTracker}. It has
 * no transport: executors fetch from the driver by Spark's own. Safe for any thread.
 *
 * <pre>
 *   [REGISTER, executor, host, port, ref]        → true
 *   [NEXT, executor, variable, done, failed]     → [chunk, source, host, port], or [] at the end
 *   [LEAVE, executor, variable]
 * </pre>
 */
final class BroadcastDriver implements Broadcasts.Part {
  static final String REGISTER = "register";
  static final String NEXT = "next";
  static final String LEAVE = "leave";

  /**
   * Number of pieces from which a variable is announced: above 64 MiB at Spark's default length.
   */
  static final int MIN_PIECES = 17;

  /** No number of pieces: the variable is announced, or left to Torrent. */
  private static final int IGNORED = -1;

  private static final long CONTEXT_POLL_MS = 50;

  private final SparkEnv env;
  private final int pieceBytes;
  private final Executor thread;
  private final Consumer<SparkContext> onContext;
  private final RpcEndpointRef ref;
  private final BroadcastTracker tracker = new BroadcastTracker();
  private final Map<String, Participant> participants = new ConcurrentHashMap<>();

  /** Variables whose first piece was seen, until they are removed; the bus adds. */
  private final Map<Long, Seen> seen = new ConcurrentHashMap<>();

  private boolean watching;
  private volatile boolean closed;

  /** An executor that takes part. */
  private record Participant(BlockManagerAddress peer, RpcEndpointRef ref) {}

  /** The pieces of a variable. */
  private static final class Seen {
    private final long id;
    private int pieces;

    /** Whether its pieces are summed. */
    private volatile boolean large;

    // Confined to the thread.

    private long[] sums = new long[2 * MIN_PIECES];
    private int summed;
    private int lastBytes;
    private boolean failed;
    private boolean announced;

    Seen(long id) {
      this.id = id;
    }
  }

  /**
   * Opens the endpoint.
   *
   * @param thread runs one command at a time
   * @param onContext called on it once executors take part
   */
  BroadcastDriver(SparkEnv env, String name, Executor thread, Consumer<SparkContext> onContext) {
    this.env = env;
    this.thread = thread;
    this.onContext = onContext;
    this.pieceBytes = (int) env.conf().getSizeAsKb("spark.broadcast.blockSize", "4m") << 10;
    this.ref = env.rpcEnv().setupEndpoint(name, new BroadcastEndpoint(env.rpcEnv(), this::take));
  }

  private void take(Object message, RpcCallContext call) {
    if (message instanceof List<?> fields && fields.size() == 5 && call != null) {
      if (fields.get(0).equals(REGISTER)
          && fields.get(1) instanceof String executor
          && fields.get(2) instanceof String host
          && fields.get(3) instanceof Integer port
          && fields.get(4) instanceof RpcEndpointRef executorRef) {
        participants.put(
            executor, new Participant(new BlockManagerAddress(executor, host, port), executorRef));
        watch();
        call.reply(true);
        return;
      }
      if (fields.get(0).equals(NEXT)
          && fields.get(1) instanceof String executor
          && fields.get(2) instanceof Long id
          && fields.get(3) instanceof Integer done
          && fields.get(4) instanceof String failed) {
        if (participants.containsKey(executor)) {
          tracker.next(executor, id, done, failed, next -> call.reply(encode(next)));
        } else {
          // It is lost for Spark.
          call.reply(encode(null));
        }
        return;
      }
    }
    if (message instanceof List<?> fields
        && fields.size() == 3
        && fields.get(1) instanceof String executor
        && fields.get(2) instanceof Long id) {
      tracker.leave(executor, id);
      return;
    }
    throw new IllegalArgumentException("no such message");
  }

  private List<Object> encode(BroadcastTracker.Assignment next) {
    if (next == null) {
      return new ArrayList<>();
    }
    BlockManagerAddress peer;
    if (next.source().equals(BroadcastTracker.DRIVER)) {
      BlockManagerId own = env.blockManager().blockManagerId();
      peer = new BlockManagerAddress(next.source(), own.host(), own.port());
    } else {
      Participant participant = participants.get(next.source());
      if (participant == null) {
        return new ArrayList<>();
      }
      peer = participant.peer();
    }
    return new ArrayList<>(List.of(next.chunk(), peer.executorId(), peer.host(), peer.port()));
  }

  /** The first executor takes part: from now on pieces are watched. */
  private synchronized void watch() {
    if (!watching) {
      watching = true;
      thread.execute(this::listen);
    }
  }

  /**
   * The first executors may register before Spark has made its context known, and the context may
   * fail instead.
   */
  private void listen() {
    try {
      while (!closed && SparkEnv.get() == env) {
        Option<SparkContext> context = SparkContext$.MODULE$.getActive();
        if (context.isDefined() && context.get().env() == env) {
          context.get().addSparkListener(new Listener());
          onContext.accept(context.get());
          return;
        }
        Thread.sleep(CONTEXT_POLL_MS);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /** Sees pieces. Called by a thread of Spark's listener bus. */
  private final class Listener extends SparkListener {
    @Override
    public void onBlockUpdated(SparkListenerBlockUpdated event) {
      guard(() -> take(event.blockUpdatedInfo()));
    }

    private void take(BlockUpdatedInfo info) {
      if (info.blockId() instanceof BroadcastBlockId block
          && block.field().startsWith(Pieces.FIELD)
          && info.blockManagerId().isDriver()) {
        if (info.storageLevel().isValid()) {
          onPiece(block.broadcastId(), info.memSize());
        } else {
          onRemoved(block.broadcastId());
        }
      }
    }
  }

  private void onPiece(long id, long memoryBytes) {
    Seen variable = seen.computeIfAbsent(id, Seen::new);
    if (variable.pieces < 0 || Broadcasts.isBroken()) {
      // A piece that is announced moves to a disk, or none is announced any more.
      return;
    }
    if (memoryBytes == 0) {
      // On a disk, whose bytes are not verified when they are read for the sums.
      variable.pieces = IGNORED;
      return;
    }
    variable.pieces++;
    int count = variable.pieces;
    boolean isLast = memoryBytes < pieceBytes;
    if (count >= MIN_PIECES) {
      variable.large = true;
      thread.execute(() -> sum(variable, count, isLast));
    }
    if (isLast) {
      variable.pieces = IGNORED;
    }
  }

  /** Sums the pieces up to a number of them, while Spark puts the next ones. */
  private void sum(Seen variable, int count, boolean isLast) {
    for (int i = variable.summed; i < count && !variable.failed; i++) {
      BroadcastBlockId block = Pieces.block(variable.id, i);
      Option<BlockData> found = env.blockManager().getLocalBytes(block);
      variable.failed = found.isEmpty();
      if (found.isDefined()) {
        if (i == variable.sums.length) {
          variable.sums = Arrays.copyOf(variable.sums, 2 * i);
        }
        try {
          // Bytes of a disk are not verified, so their sum must not be announced.
          variable.failed = env.blockManager().getStatus(block).get().diskSize() > 0;
          variable.sums[i] = BroadcastFetch.crc32c(found.get().toByteBuffer());
          variable.lastBytes = (int) found.get().size();
          variable.summed = i + 1;
        } finally {
          env.blockManager().releaseLockAndDispose(block, found.get(), Option.empty());
        }
      }
    }
    if (isLast && !variable.failed) {
      variable.announced = true;
      announce(
          new Pieces(
              variable.id, pieceBytes, variable.lastBytes, Arrays.copyOf(variable.sums, count)));
    }
  }

  private void announce(Pieces pieces) {
    tracker.add(pieces.id(), pieces.chunks());
    participants.values().forEach(one -> one.ref().send(pieces.encode()));
  }

  private static void guard(Runnable event) {
    try {
      event.run();
    } catch (LinkageError e) {
      // Spark stops the application whose listener throws it.
      Broadcasts.warn(e);
    }
  }

  @Override
  public Set<String> executors() {
    return participants.keySet();
  }

  @Override
  public void removeExecutor(String executorId) {
    participants.remove(executorId);
    tracker.removeExecutor(executorId);
  }

  @Override
  public void look() {
    guard(
        () ->
            seen.keySet().stream()
                .filter(id -> env.blockManager().getStatus(Pieces.block(id, 0)).isEmpty())
                .forEach(this::onRemoved));
  }

  /** Spark's own message to destroy the variable may reach executors before their last piece. */
  private void onRemoved(long id) {
    Seen removed = seen.remove(id);
    if (removed != null && removed.large) {
      thread.execute(
          () -> {
            tracker.remove(id);
            if (removed.announced) {
              participants.values().forEach(one -> one.ref().send(id));
            }
          });
    }
  }

  @Override
  public void close() {
    closed = true;
    env.rpcEnv().stop(ref);
  }
}
