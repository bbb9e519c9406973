// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.runtime;

import java.time.Duration;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.sparkrdma.shuffle.runtime.RuntimeStatus.State;
import org.sparkrdma.shuffle.settings.ShuffleSetting;

/**
 * The status of an {@link RdmaRuntime}, and how tasks wait for it. Takes no lock, since the hook
 * that ends the JVM changes it. Safe for any thread.
 */
final class SharedStatus {
  /** One name in the log for all of the runtime. */
  private static final Logger LOG = LoggerFactory.getLogger(RdmaRuntime.class);

  private static final long TASK_POLL_MS = 10;

  private final AtomicReference<RuntimeStatus> status =
      new AtomicReference<>(RuntimeStatus.STARTING);

  private final CountDownLatch published = new CountDownLatch(1);
  private final long createdNs = System.nanoTime();
  private final Duration firstStart;

  /**
   * @param firstStart time after which no task waits for the first start
   */
  SharedStatus(Duration firstStart) {
    this.firstStart = firstStart;
  }

  RuntimeStatus get() {
    return status.get();
  }

  /** Changes it unless the runtime is stopped; returns whether it did. */
  boolean change(RuntimeStatus next) {
    return !status.getAndUpdate(now -> now.is(State.STOPPED) ? now : next).is(State.STOPPED);
  }

  /** Changes it if it is still this one; returns whether it did. */
  boolean change(RuntimeStatus before, RuntimeStatus next) {
    return status.compareAndSet(before, next);
  }

  /** The runtime is stopped; returns false when it was already. */
  boolean stop() {
    return !status.getAndUpdate(RuntimeStatus::stopped).is(State.STOPPED);
  }

  /** Peers can find this executor, or RDMA is off: the first tasks wait no longer. */
  void publish() {
    published.countDown();
  }

  /** Waits for {@link #publish}, but only in the first seconds of the executor's life. */
  void awaitPublished() {
    try {
      long leftNs = firstStart.toNanos() - (System.nanoTime() - createdNs);
      if (!published.await(leftNs, TimeUnit.NANOSECONDS)
          && change(
              RuntimeStatus.STARTING, RuntimeStatus.down(State.STARTING, List.of("it hangs")))) {
        LOG.warn(
            "The start of RDMA hangs; shuffle reads of this executor use TCP until it is over:"
                + " limitMs={}",
            firstStart.toMillis());
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /** See {@link RdmaRuntime#require}. */
  void require(Duration atMost) {
    RuntimeStatus now;
    try {
      now = await(atMost, EnumSet.of(State.STARTING, State.RESTARTING));
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("interrupted while RDMA was starting", e);
    }
    if (!now.is(State.UP) && !now.is(State.STOPPED)) {
      throw new IllegalStateException(
          ShuffleSetting.MODE.key() + "=required and RDMA is not up: " + now.reasonText());
    }
  }

  /** Waits for the end of these states; returns the status then. */
  RuntimeStatus await(Duration atMost, Set<State> states) throws InterruptedException {
    long deadlineNs = System.nanoTime() + atMost.toNanos();
    RuntimeStatus now = get();
    while (states.contains(now.state()) && deadlineNs - System.nanoTime() > 0) {
      TimeUnit.MILLISECONDS.sleep(TASK_POLL_MS);
      now = get();
    }
    return now;
  }
}
