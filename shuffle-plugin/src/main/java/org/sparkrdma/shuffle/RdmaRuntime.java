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
package org.sparkrdma.shuffle;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.sparkrdma.shuffle.settings.ShuffleSetting;

/**
 * Everything that one executor runs for RDMA, and the owner of what must be closed.
 *
 * <pre>
 *   STARTING ──engine, device, transport──► UP ──┐
 *       └──────any of them refused──► OFF ───────┴──close──► STOPPED
 * </pre>
 *
 * <p>{@link #start} begins on a thread of its own, so that neither a task nor Spark's dispatcher
 * waits. Owned by the {@link RdmaShuffleManager}, which closes it; since Spark may end an executor
 * without stopping it, a shutdown hook does so too. Safe for any thread.
 */
final class RdmaRuntime implements AutoCloseable {
  /** Where it is in its life. */
  enum State {
    /** On its way. */
    STARTING,
    /** Serving and fetching. */
    UP,
    /** RDMA is not used, for the reasons given. */
    OFF,
    /** Closed. */
    STOPPED
  }

  private static final Logger log = LoggerFactory.getLogger(RdmaRuntime.class);

  private final RuntimeStart start;
  private final Thread starter = new Thread(this::run, "rdma-runtime-start");
  private final Thread shutdownHook = new Thread(this::close, "rdma-runtime-shutdown");
  private final CountDownLatch decided = new CountDownLatch(1);

  private State state = State.STARTING;
  private List<String> reasons = List.of();
  private RunningParts parts;

  RdmaRuntime(RuntimeStart start) {
    this.start = start;
    starter.setDaemon(true);
  }

  /** Begins; to be called once. */
  void start() {
    Runtime.getRuntime().addShutdownHook(shutdownHook);
    starter.start();
  }

  /** Where it is now. */
  synchronized State state() {
    return state;
  }

  /** Why it is {@link State#OFF}. */
  synchronized List<String> reasons() {
    return reasons;
  }

  /**
   * Waits until it is no longer starting.
   *
   * @return false when that took longer
   */
  boolean awaitDecision(Duration atMost) throws InterruptedException {
    return decided.await(atMost.toNanos(), TimeUnit.NANOSECONDS);
  }

  /**
   * Makes sure that RDMA is up, waiting if it is on its way.
   *
   * @throws IllegalStateException naming every reason why it is not
   */
  void require(Duration atMost) {
    boolean settled;
    try {
      settled = awaitDecision(atMost);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("interrupted while RDMA was starting", e);
    }
    if (!settled || state() != State.UP) {
      throw new IllegalStateException(
          ShuffleSetting.MODE.key()
              + "=required and RDMA is not up: "
              + (settled ? String.join("; ", reasons()) : "still starting"));
    }
  }

  /** Gives back what was registered of a shuffle's files. */
  void unregisterShuffle(int shuffleId) {
    RunningParts up;
    synchronized (this) {
      up = state == State.UP ? parts : null;
    }
    if (up != null) {
      up.transport().unregisterShuffle(shuffleId);
    }
  }

  private void run() {
    RunningParts started = start.run().orElse(null);
    if (!settle(started, start.reasons())) {
      if (started != null) {
        started.close();
      }
    } else if (started != null) {
      log.info("RDMA is up: {}", started.transport().endpoint());
    } else {
      log.warn(
          "RDMA is not used in this executor, its shuffle reads are Spark's own: {}",
          String.join("; ", start.reasons()));
    }
    decided.countDown();
  }

  /** False when it was closed meanwhile. */
  private synchronized boolean settle(RunningParts started, List<String> found) {
    if (state == State.STOPPED) {
      return false;
    }
    parts = started;
    reasons = found;
    state = started == null ? State.OFF : State.UP;
    return true;
  }

  /** Ends a start that is still running, and closes what is open; a second close does nothing. */
  @Override
  public void close() {
    RunningParts open;
    synchronized (this) {
      open = parts;
      parts = null;
      state = State.STOPPED;
    }
    starter.interrupt();
    if (open != null) {
      open.close();
    }
    removeShutdownHook();
  }

  private void removeShutdownHook() {
    try {
      Runtime.getRuntime().removeShutdownHook(shutdownHook);
    } catch (IllegalStateException e) {
      log.debug("closed by the shutdown of the JVM");
    }
  }
}
