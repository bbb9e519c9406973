// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.runtime;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.sparkrdma.shuffle.fetch.BlockTransport;
import org.sparkrdma.shuffle.runtime.RuntimeLifecycle.State;
import org.sparkrdma.shuffle.transport.RdmaTransport;

/**
 * The starts of RDMA in one executor: the first one, and further ones while no port is active and
 * has an address or the system refuses threads, and after each loss of the device, when everything
 * is closed. Each outcome goes to readers and to the directory.
 *
 * <p>Confined to the runtime's thread, which waits here for a loss, and each second checks that the
 * transport does not hang, except {@link #endWaits} and {@link #giveUp}, which any thread may call,
 * and {@link #limitFirstStart}. When the system refuses that thread, its creator calls {@link
 * #stayOff} instead of {@link #run}.
 */
final class StartLoop {
  private static final Logger LOG = LoggerFactory.getLogger(StartLoop.class);

  /** Reason after a failure in {@link #announce}. */
  private static final String NOT_ANNOUNCED = "an unexpected failure at the end of the start";

  private static final List<String> NOT_ENDED = List.of(NOT_ANNOUNCED);

  private final RuntimeStart start;
  private final Supplier<Map<String, Long>> profile;
  private final RuntimeLifecycle lifecycle;
  private final RestartBackoff backoff;
  private final PublishedEndpoint published;
  private final CompletableFuture<BlockTransport> transport;
  private final CurrentTransport current = new CurrentTransport();

  private final StartLog log;

  /** {@link #check}, made once. */
  private final Runnable check = this::check;

  private final Runnable retryPublished;
  private final ShuffleRemovals removals;

  /** Reasons in the last line about RDMA being off. */
  private List<String> known = List.of();

  /**
   * Parts to close, or of which one has not closed: a start would open the device a second time.
   * Else null.
   */
  private RunningParts unclosed;

  /**
   * @param profile as for {@link RuntimeStart#run}
   * @param transport completed when the first start is over or hangs; with {@link
   *     BlockTransport#UNAVAILABLE} when RDMA is off for the whole life of the executor
   */
  StartLoop(
      RuntimeStart start,
      Supplier<Map<String, Long>> profile,
      RuntimeLifecycle lifecycle,
      RestartBackoff backoff,
      PublishedEndpoint published,
      ShuffleRemovals removals,
      CompletableFuture<BlockTransport> transport) {
    this.start = start;
    this.profile = profile;
    this.lifecycle = lifecycle;
    this.backoff = backoff;
    this.published = published;
    this.removals = removals;
    this.transport = transport;
    this.log = new StartLog(lifecycle, backoff);
    this.retryPublished = published::retry;
  }

  /**
   * Sets the time until which requests wait for the first start, the same for all of them: a call
   * of the device or of a library may never return. Called once, before {@link #run}, by the
   * creator. Never throws.
   *
   * @param limit time from now on
   * @param thread calls {@link #run}
   */
  void limitFirstStart(Duration limit, Thread thread) {
    try {
      List<String> reasons =
          List.of("the start of RDMA hangs: it is not over after " + limit.toMillis() + " ms");
      var unused =
          transport
              .handle((started, failure) -> false)
              .completeOnTimeout(true, limit.toNanos(), TimeUnit.NANOSECONDS)
              .thenAccept(
                  late -> {
                    if (late) {
                      useTcpUntilStarted(reasons, limit, thread);
                    }
                  });
    } catch (Throwable e) {
      // The first time-out of a JVM starts a thread, which may fail: then no request waits.
      LOG.debug("The start of RDMA has no time limit; requests use TCP until it is over", e);
      transport.complete(current);
    }
  }

  /** The first start may still succeed; then later requests use it. */
  private void useTcpUntilStarted(List<String> reasons, Duration limit, Thread thread) {
    boolean hangs;
    try {
      hangs = lifecycle.reportHangingStart(reasons);
    } finally {
      transport.complete(current);
    }
    if (hangs) {
      Throwable stack = new Throwable("stack of " + thread.getName());
      stack.setStackTrace(thread.getStackTrace());
      LOG.warn(
          "The start of RDMA hangs; shuffle reads of this executor use TCP until it is over:"
              + " limitMs={}",
          limit.toMillis(),
          stack);
    }
  }

  /** Starts RDMA, and again after each loss, until no start may follow. */
  void run() {
    try {
      boolean goesOn = true;
      while (goesOn) {
        goesOn = tryStep();
      }
    } catch (InterruptedException e) {
      LOG.debug("Interrupted: RDMA stays off", e);
    } finally {
      lifecycle.endWaits();
    }
  }

  /** One step; returns whether others follow. Without this thread RDMA would never return. */
  private boolean tryStep() throws InterruptedException {
    try {
      return step();
    } catch (InterruptedException | InternalError | UnknownError e) {
      // These Errors are failures of the JVM; Spark ends the executor.
      throw e;
    } catch (Throwable e) {
      log.failedStep(e);
      return backoff.pause(RdmaTransport.CHECK_INTERVAL);
    }
  }

  private boolean step() throws InterruptedException {
    return switch (lifecycle.state()) {
      case STARTING -> startFirst();
      case UP -> awaitLoss();
      case OFF, RESTARTING -> startAgain();
      case STOPPED -> false;
    };
  }

  private boolean startFirst() {
    if (tryStart() || lifecycle.state() != State.OFF) {
      return true;
    }
    boolean again = mayStartLater();
    if (again) {
      stayOffForNow();
    } else {
      stayOff();
      awaitWithdrawal();
    }
    return again;
  }

  /** Returns when the driver has the reasons, or the runtime ends. */
  private void awaitWithdrawal() {
    boolean goesOn = true;
    while (goesOn && !published.retry()) {
      goesOn = backoff.pause(RdmaTransport.CHECK_INTERVAL);
    }
  }

  /** Returns after a loss, when everything is closed but for {@link #unclosed}, or after a stop. */
  private boolean awaitLoss() throws InterruptedException {
    boolean lost = lifecycle.awaitLoss(RdmaTransport.CHECK_INTERVAL, check);
    if (lost) {
      turnOff();
    }
    return lost;
  }

  private void check() {
    published.retry();
    removals.retry();
    try {
      lifecycle.parts().ifPresent(up -> up.transport().check().run());
    } catch (Throwable e) {
      log.failedCheck(e);
    }
  }

  /** Returns whether RDMA is up; otherwise everything is closed, but for {@link #unclosed}. */
  private boolean tryStart() {
    OptionalInt begun = lifecycle.beginAttempt();
    if (begun.isEmpty()) {
      return false;
    }
    int number = begun.getAsInt();
    boolean up = false;
    try {
      // They are in this field before anything else can fail.
      unclosed = start.run(reason -> lifecycle.reportLoss(number, reason), profile).orElse(null);
      up = lifecycle.endAttempt(unclosed, start.reasons());
    } catch (Throwable e) {
      // An Error too: RDMA would never return without this thread.
      lifecycle.failAttempt(NOT_ENDED);
      log.notAnnounced(e);
    }
    if (up) {
      RunningParts started = unclosed;
      unclosed = null;
      announce(number, started);
    } else if (unclosed != null) {
      closeUnclosed();
    }
    return up;
  }

  /** RDMA is up. A failure here counts as a loss: without this thread no loss would be noticed. */
  private void announce(int number, RunningParts started) {
    try {
      LOG.info("RDMA is up: {}", started.description());
      backoff.onUp(System.nanoTime());
      current.set(started.transport().fetches());
      published.publish(started.transport().endpoint());
      transport.complete(current);
    } catch (Throwable e) {
      // An Error too. Nothing is allocated before the report: there may be no memory.
      lifecycle.reportLoss(number, NOT_ANNOUNCED);
      transport.complete(current);
      log.notAnnounced(e);
    }
  }

  /** Whether the reason may be over soon, rather than a setting or the host. */
  private boolean mayStartLater() {
    return lifecycle.isLost() || start.mayStartLater();
  }

  /** Another start follows, and no task waits for it. */
  private void stayOffForNow() {
    known = lifecycle.reasons();
    published.withdraw(known);
    transport.complete(current);
    published.end();
    log.offForNow();
    lifecycle.endWaits();
  }

  /** RDMA is off for the whole life of the executor. */
  void stayOff() {
    published.withdraw(lifecycle.reasons());
    giveUp();
    log.off();
    lifecycle.endWaits();
  }

  /** Open requests are answered by TCP. Releasing everything lets the system remove the device. */
  private void turnOff() {
    unclosed = lifecycle.turnOff().orElse(null);
    if (unclosed == null) {
      return;
    }
    known = lifecycle.reasons();
    published.withdraw(known);
    backoff.onLoss(System.nanoTime());
    // Before the close, which may take long: the reason is wanted then.
    log.loss();
    closeUnclosed();
  }

  private void closeUnclosed() {
    if (unclosed.closeAll()) {
      unclosed = null;
    } else {
      log.unclosed();
    }
  }

  /**
   * Goes on with a close, for which a device or a disk may have returned; whether all is closed.
   */
  private boolean closeRest() {
    if (unclosed != null && unclosed.closeRest()) {
      unclosed = null;
    }
    return unclosed == null;
  }

  /**
   * One attempt to start RDMA again, after a wait and after the parts that were lost have closed.
   *
   * @return false when the runtime ends
   */
  private boolean startAgain() {
    if (!backoff.await(RdmaTransport.CHECK_INTERVAL, retryPublished)) {
      return false;
    }
    boolean closed = closeRest();
    if (closed && !tryStart() && lifecycle.state() == State.OFF) {
      log.nextAttempt(known);
      known = lifecycle.reasons();
    }
    return true;
  }

  /** Ends the wait for the next attempt, and all later ones. Any thread. */
  void endWaits() {
    backoff.end();
  }

  /** Readers and map tasks wait no longer, unless RDMA has been up. Any thread. */
  void giveUp() {
    transport.complete(BlockTransport.UNAVAILABLE);
    published.end();
  }
}
