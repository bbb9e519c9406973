// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.broadcast;

import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Supplier;
import org.apache.spark.SparkContext;
import org.apache.spark.SparkEnv;
import org.apache.spark.shuffle.IndexShuffleBlockResolver;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.sparkrdma.shuffle.directory.DirectoryName;
import org.sparkrdma.shuffle.directory.Endpoint;
import org.sparkrdma.shuffle.fetch.BlockTransport;
import org.sparkrdma.shuffle.links.LinkCheck;
import org.sparkrdma.shuffle.links.LinkPart;
import org.sparkrdma.shuffle.links.MissingLinks;
import org.sparkrdma.shuffle.metrics.ShuffleCounters;
import org.sparkrdma.shuffle.output.SparkMapOutputs;
import org.sparkrdma.shuffle.settings.RdmaPolicy;
import org.sparkrdma.shuffle.settings.ShuffleSettings;
import org.sparkrdma.shuffle.thread.ThreadShortageException;

/**
 * The pipeline of broadcast variables in one process: {@link BroadcastGate} holds the tasks that
 * want one, {@link BroadcastFetch} brings its pieces, and Torrent what does not come. With {@code
 * broadcast.mode=off}, and where Spark's network is encrypted, nothing of it exists: no thread,
 * endpoint or listener. Threads end when they are idle. Safe for any thread.
 */
public final class Broadcasts implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(Broadcasts.class);

  /** Variables that an executor fetches at a time. */
  private static final int EXECUTOR_FETCHES = 3;

  private static final long IDLE_S = 10;
  private static final AtomicBoolean WARNED = new AtomicBoolean();

  /** This Spark is another than the one that this package was built for. */
  private static volatile boolean broken;

  /** The part of the driver or of an executor. */
  interface Part extends AutoCloseable {
    /** Executors that take part, as far as this is the driver. */
    default Set<String> executors() {
      return Set.of();
    }

    /** An executor has ended. */
    default void removeExecutor(String executorId) {}

    /** Forgets variables that Spark has removed without an event. */
    default void look() {}

    /** Takes no more messages. */
    @Override
    void close();
  }

  /** Nothing of it exists. */
  public static final Broadcasts NONE = new Broadcasts(1);

  private final ThreadPoolExecutor threads;
  private Part part = () -> {};

  private Broadcasts(int count) {
    AtomicInteger number = new AtomicInteger();
    threads =
        new ThreadPoolExecutor(
            count,
            count,
            IDLE_S,
            TimeUnit.SECONDS,
            new LinkedBlockingQueue<>(),
            work -> {
              Thread thread = new Thread(work, "rdma-broadcast-" + number.incrementAndGet());
              thread.setDaemon(true);
              thread.setContextClassLoader(Broadcasts.class.getClassLoader());
              return thread;
            });
    threads.allowCoreThreadTimeOut(true);
  }

  /**
   * The edge of all work: Spark ends an executor whose thread throws.
   *
   * @throws ThreadShortageException when the system refuses a thread
   */
  private void execute(Runnable work) {
    Runnable guarded =
        () -> {
          try {
            work.run();
          } catch (Exception | AssertionError | LinkageError e) {
            // Spark throws checked exceptions, too, and its storage asserts.
            warn(e);
          }
        };
    try {
      threads.execute(guarded);
    } catch (OutOfMemoryError e) {
      throw ThreadShortageException.of("rdma-broadcast", e);
    }
  }

  /** Whether all further variables are left to Torrent. */
  static boolean isBroken() {
    return broken;
  }

  /** Logs the first failure of a variable, and the Error after which all are left to Torrent. */
  static void warn(Throwable reason) {
    boolean ends = reason instanceof LinkageError && !broken;
    broken |= ends;
    if (ends) {
      LOG.warn("All broadcast variables come by Torrent: {}", reason.toString(), reason);
    } else if (!broken && WARNED.compareAndSet(false, true)) {
      LOG.warn("A broadcast variable comes by Torrent: {}", reason.toString(), reason);
    }
  }

  private static boolean isUsed(SparkEnv env, ShuffleSettings settings) {
    return !broken
        && !settings.broadcastMode().equals("off")
        && settings.mode() != ShuffleSettings.Mode.OFF
        && RdmaPolicy.mayReadPlain(RdmaPolicy.isTrueIn(env.conf()), settings);
  }

  /**
   * The driver's part; {@link #NONE} when it is not used.
   *
   * @param onContext called by a thread of its own once executors take part
   */
  public static Broadcasts onDriver(
      SparkEnv env, ShuffleSettings settings, Consumer<SparkContext> onContext) {
    return isUsed(env, settings)
        ? start(1, made -> new BroadcastDriver(env, name(env), made::execute, onContext))
        : NONE;
  }

  /**
   * An executor's part; {@link #NONE} when it is not used.
   *
   * @param counters of the executor, which have the READs of pieces, too
   * @param transport the one in use now
   * @param directory finds the endpoint of an executor
   */
  public static Broadcasts onExecutor(
      SparkEnv env,
      ShuffleSettings settings,
      ShuffleCounters counters,
      Supplier<BlockTransport> transport,
      Function<String, CompletableFuture<Optional<Endpoint>>> directory) {
    Supplier<BlockTransport> reads = settings.broadcastMode().equals("tcp") ? null : transport;
    return isUsed(env, settings)
        ? start(
            // A gate for each fetch, and one more for messages.
            2 * EXECUTOR_FETCHES + 1,
            made ->
                new BroadcastExecutor(
                    env, name(env), reads, directory, counters, made::execute, EXECUTOR_FETCHES))
        : NONE;
  }

  private static Broadcasts start(int threads, Function<Broadcasts, Part> part) {
    Broadcasts made = new Broadcasts(threads);
    try {
      List<String> missing = LinkCheck.missing(LinkPart.BROADCAST);
      if (!missing.isEmpty()) {
        throw new IncompatibleClassChangeError(MissingLinks.describe(missing));
      }
      made.part = part.apply(made);
      return made;
    } catch (RuntimeException | LinkageError e) {
      warn(e);
      return NONE;
    }
  }

  private static String name(SparkEnv env) {
    return DirectoryName.of(env.conf()) + "-broadcast";
  }

  /** Spark's map outputs, with the pieces of broadcast variables where they are used. */
  public static SparkMapOutputs outputs(
      SparkEnv env,
      IndexShuffleBlockResolver resolver,
      List<Path> directories,
      ShuffleSettings settings,
      MissingLinks missing) {
    try {
      if (isUsed(env, settings)) {
        return new PieceOutputs(
            env.blockManager(), resolver, directories, env.conf(), settings.verify(), missing);
      }
    } catch (LinkageError e) {
      warn(e);
    }
    return new SparkMapOutputs(resolver, directories, env.conf(), settings.verify(), missing);
  }

  /** Executors that take part in the driver's broadcasts. */
  public Set<String> executors() {
    return part.executors();
  }

  /** The driver knows that an executor has ended; calls after the first do nothing. */
  public void removeExecutor(String executorId) {
    part.removeExecutor(executorId);
  }

  /** Forgets variables whose removal Spark has not reported; the driver calls it now and then. */
  public void look() {
    part.look();
  }

  /** Fetches that run go on; tasks that wait for them are let go within a second. */
  @Override
  public void close() {
    part.close();
    threads.shutdown();
  }
}
