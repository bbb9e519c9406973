// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.driver;

import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.function.BiConsumer;
import java.util.function.Supplier;
import org.apache.spark.SparkConf;
import org.apache.spark.SparkContext;
import org.apache.spark.scheduler.SparkListener;
import org.apache.spark.scheduler.SparkListenerExecutorRemoved;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.sparkrdma.shuffle.thread.ControlThread;
import org.sparkrdma.shuffle.thread.ThreadShortageException;

/**
 * Tells the parts of the driver which executors have ended: by Spark's event, and because Spark's
 * listener bus drops events when its queue is full, also when Spark has known an executor at
 * neither of two looks. One that Spark does not know yet, or that registers again, is not lost.
 * Owned by {@link DriverSide}. Safe for any thread.
 *
 * <p>{@code directory.DirectoryService} forgets its record and keeps the id, so that executors
 * learn of its end; {@code broadcast.BroadcastDriver} forgets it as a source; {@code
 * ui.FigureReceiver} keeps its figures and marks it as removed.
 *
 * <p>Readers in other executors are not told. They meet a broken connection or a failed attempt: in
 * {@code transport.FetchPeers} that is a fault of the peer, whose open and waiting blocks use TCP.
 * With them the driver is asked for changes, at most every few seconds, and {@code
 * directory.EndpointCache} forgets the endpoint, so that later requests use TCP at once. With the
 * external shuffle service {@code standin.StandIns} takes blocks of an executor that has ended from
 * another one on its host, and avoids one with a fault until the driver, asked seconds later, still
 * knows it.
 */
final class ExecutorEnds implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(ExecutorEnds.class);

  /** An executor that Spark has forgotten registers again with its next heartbeat. */
  private static final int HEARTBEATS_OF_A_LOOK = 2;

  private static final long MIN_LOOK_MS = 15_000;

  private final List<BiConsumer<String, String>> parts = new CopyOnWriteArrayList<>();
  private final List<Runnable> looks = new CopyOnWriteArrayList<>();
  private final Supplier<? extends Collection<String>> known;
  private final Supplier<? extends Collection<String>> published;
  private final ControlThread control = new ControlThread();
  private boolean watching;

  // Confined to the control thread.

  private final Set<String> seen = new HashSet<>();

  /** Those that Spark did not know at the last look. */
  private final Set<String> missing = new HashSet<>();

  /**
   * @param known executors that have a block manager; may throw what Spark throws
   * @param published executors that the parts know; those that Spark does not know count as seen
   */
  ExecutorEnds(
      Supplier<? extends Collection<String>> known,
      Supplier<? extends Collection<String>> published) {
    this.known = known;
    this.published = published;
  }

  /**
   * Adds a part, which is called by any thread, perhaps more than once for an executor.
   *
   * @param idAndReason Spark's reason is null when Spark only does not know the executor any more
   */
  void add(BiConsumer<String, String> idAndReason) {
    parts.add(idAndReason);
  }

  /** Calls this at each look: for what ends by other events that Spark may drop. */
  void addLook(Runnable look) {
    looks.add(look);
  }

  /** Begins; calls after the first do nothing. */
  synchronized void watch(SparkContext context) {
    if (watching) {
      return;
    }
    watching = true;
    context.addSparkListener(
        new SparkListener() {
          @Override
          public void onExecutorRemoved(SparkListenerExecutorRemoved removed) {
            end(removed.executorId(), removed.reason());
          }
        });
    if (context.isLocal()) {
      return;
    }
    SparkConf conf = context.getConf();
    long beatMs = conf.getTimeAsMs("spark.executor.heartbeatInterval", "10s");
    long lookMs = Math.max(MIN_LOOK_MS, HEARTBEATS_OF_A_LOOK * beatMs);
    try {
      control.start();
      var unused =
          control.scheduleWithFixedDelay(this::look, lookMs, lookMs, TimeUnit.MILLISECONDS);
    } catch (ThreadShortageException e) {
      LOG.warn("Executors whose end Spark does not report stay in the tab: {}", e.getMessage());
    }
  }

  /** An error of a part would end the listener and with it Spark's context. */
  private void end(String executorId, String reason) {
    for (BiConsumer<String, String> part : parts) {
      guard(() -> part.accept(executorId, reason));
    }
  }

  /** A look, some seconds after the one before. */
  void look() {
    guard(() -> lost().forEach(executorId -> end(executorId, null)));
    looks.forEach(ExecutorEnds::guard);
  }

  /** Those seen earlier that Spark has known at neither of two looks; each is returned once. */
  private Set<String> lost() {
    seen.addAll(published.get());
    Collection<String> present = known.get();
    seen.addAll(present);
    Set<String> lost = new HashSet<>(seen);
    lost.removeAll(present);
    Set<String> before = new HashSet<>(missing);
    missing.clear();
    missing.addAll(lost);
    lost.retainAll(before);
    seen.removeAll(lost);
    return lost;
  }

  private static void guard(Runnable step) {
    try {
      step.run();
    } catch (Exception | LinkageError e) {
      // Spark throws what its Java signature does not declare. The next look follows.
      LOG.debug("A part of the driver does not learn of the end of an executor", e);
    }
  }

  /** Looks no more; Spark's events still count. */
  @Override
  public void close() {
    control.shutdownNow();
  }
}
