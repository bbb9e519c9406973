// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.runtime;

import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.concurrent.TimeUnit;

/**
 * The state of an {@link RdmaRuntime}. Each transition is a method:
 *
 * <pre>
 *   STARTING ──endAttempt──► UP ◄──────endAttempt────── RESTARTING
 *       │                    │ turnOff                   ▲   │
 *       └────endAttempt────► OFF ──────beginAttempt──────┘   │
 *                             ▲ └─────────endAttempt─────────┘
 *   any state ──stop──► STOPPED
 * </pre>
 *
 * <p>The runtime's thread calls the transitions (the thread that creates it, when the system
 * refuses that thread), but {@link #stop}, which any thread may call. Closes nothing itself. Safe
 * for any thread.
 */
final class RuntimeLifecycle {
  /** State of the runtime. */
  enum State {
    /** The first start is running; it may hang, see {@link #reportHangingStart}. */
    STARTING,
    /** Serving and fetching. */
    UP,
    /**
     * RDMA is not used, for the reasons given. Another start follows after the loss of a device,
     * and where a port was not active or had no usable address.
     */
    OFF,
    /** The device was lost, and a later start is running. */
    RESTARTING,
    /** Closed. */
    STOPPED
  }

  private State state = State.STARTING;
  private List<String> reasons = List.of();
  private RunningParts parts;

  /** Number of the last attempt. */
  private int attempt;

  /** Reason why the transport of the last attempt cannot be used any more; else null. */
  private String loss;

  /** Whether tasks wait: RDMA is not up, and a start is running or will follow. */
  private boolean mayComeUp = true;

  /** The present state. */
  synchronized State state() {
    return state;
  }

  /** Reasons why it is {@link State#OFF}, or why nothing waits for the first start. */
  synchronized List<String> reasons() {
    return reasons;
  }

  /** The parts while RDMA is up. */
  synchronized Optional<RunningParts> parts() {
    return Optional.ofNullable(state == State.UP ? parts : null);
  }

  /** Whether RDMA is up, or the first start is running and does not take too long. */
  synchronized boolean mayFetch() {
    return state == State.UP || (state == State.STARTING && reasons.isEmpty());
  }

  /**
   * The first start takes too long: only tasks that need RDMA wait for it from now on. Any thread.
   *
   * @param found reasons until it is over
   * @return whether it is running; otherwise this does nothing
   */
  synchronized boolean reportHangingStart(List<String> found) {
    if (state != State.STARTING) {
      return false;
    }
    reasons = found;
    return true;
  }

  /** Whether RDMA is off because the last transport cannot be used any more. */
  synchronized boolean isLost() {
    return state == State.OFF && loss != null;
  }

  /** An attempt to start RDMA begins; returns its number, or empty after {@link #stop}. */
  synchronized OptionalInt beginAttempt() {
    if (state == State.STOPPED) {
      return OptionalInt.empty();
    }
    if (state == State.OFF) {
      state = State.RESTARTING;
    }
    loss = null;
    return OptionalInt.of(++attempt);
  }

  /**
   * The attempt is over. RDMA is off when nothing was started, or when {@link #reportLoss} came
   * first.
   *
   * @param started null when nothing was
   * @param found reasons why nothing was started
   * @return whether RDMA is up; otherwise the caller closes what was started
   */
  synchronized boolean endAttempt(RunningParts started, List<String> found) {
    if (state != State.STARTING && state != State.RESTARTING) {
      return false;
    }
    boolean up = started != null && loss == null;
    // First, because it allocates and so may throw.
    reasons = loss == null ? List.copyOf(found) : List.of(loss);
    parts = up ? started : null;
    state = up ? State.UP : State.OFF;
    if (up) {
      mayComeUp = false;
      notifyAll();
    }
    return up;
  }

  /**
   * The attempt has ended with an Error: RDMA is off as after a loss, and the caller closes what
   * was started. Allocates nothing, because there may be no memory.
   *
   * @param why one reason
   */
  synchronized void failAttempt(List<String> why) {
    if (state == State.STARTING || state == State.RESTARTING) {
      loss = why.get(0);
      reasons = why;
      parts = null;
      state = State.OFF;
    }
  }

  /**
   * The transport cannot be used any more. Ignored when it is not that of the last attempt, and
   * after the first report. Any thread; returns at once.
   *
   * @param number of the attempt that started the transport
   */
  synchronized void reportLoss(int number, String reason) {
    if (number == attempt && loss == null) {
      loss = reason;
      notifyAll();
    }
  }

  /**
   * Waits while RDMA is up and not lost; returns whether it is lost, else it is stopped.
   *
   * @param check run after each interval, without the lock; may call {@link #reportLoss}
   */
  boolean awaitLoss(Duration interval, Runnable check) throws InterruptedException {
    while (isStillUpAfter(interval)) {
      check.run();
    }
    return state() == State.UP;
  }

  private synchronized boolean isStillUpAfter(Duration interval) throws InterruptedException {
    long endNs = System.nanoTime() + interval.toNanos();
    long leftMs = interval.toMillis();
    while (state == State.UP && loss == null && leftMs > 0) {
      wait(leftMs);
      leftMs = (endNs - System.nanoTime()) / 1_000_000;
    }
    return state == State.UP && loss == null;
  }

  /**
   * RDMA is lost; a later start may follow.
   *
   * @return what the caller closes; empty when RDMA is not up any more
   */
  synchronized Optional<RunningParts> turnOff() {
    if (state != State.UP) {
      return Optional.empty();
    }
    // First, because it allocates and so may throw.
    Optional<RunningParts> lost = Optional.of(parts);
    reasons = List.of(loss);
    parts = null;
    state = State.OFF;
    mayComeUp = true;
    return lost;
  }

  /** No task waits for a start any more: none follows, or it may never succeed. */
  synchronized void endWaits() {
    mayComeUp = false;
    notifyAll();
  }

  /** RDMA is not used again; returns the state before. The parts stay for {@link #takeParts}. */
  synchronized State stop() {
    State before = state;
    state = State.STOPPED;
    endWaits();
    return before;
  }

  /** The parts that were up at {@link #stop}, once: the caller closes them. */
  synchronized Optional<RunningParts> takeParts() {
    RunningParts left = parts;
    parts = null;
    return Optional.ofNullable(left);
  }

  /** Waits while a start is running or will follow; returns the state after that. */
  synchronized State awaitStart(long atMostNs) throws InterruptedException {
    long deadlineNs = System.nanoTime() + atMostNs;
    long leftNs = atMostNs;
    while (mayComeUp && leftNs > 0) {
      TimeUnit.NANOSECONDS.timedWait(this, leftNs);
      leftNs = deadlineNs - System.nanoTime();
    }
    return state;
  }
}
