// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.directory;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Comparator;
import java.util.PriorityQueue;
import java.util.Queue;
import org.sparkrdma.shuffle.settings.ShuffleSettings;

/**
 * A driver whose answers take their time, and the executor that asks it: its clock, its control
 * thread and its directory. Time is virtual. For one thread.
 */
public final class SlowDriver {
  private record Event(long atNs, long order, Runnable work) {}

  private final PriorityQueue<Event> events =
      new PriorityQueue<>(Comparator.comparingLong(Event::atNs).thenComparingLong(Event::order));
  private final Queue<Runnable> control = new ArrayDeque<>();
  private final Duration wait = ShuffleSettings.defaults().lookupWait();
  private final DirectoryQueries queries;
  private Duration answerTime = Duration.ZERO;
  private boolean isBusy;
  private long nowNs;
  private long order;

  /**
   * @param driver answers
   */
  public SlowDriver(ScriptedDriver driver) {
    this.queries =
        new DirectoryQueries(
            message -> {
              pass(answerTime);
              return driver.answer(message);
            },
            wait,
            this::nowNs,
            this::onControl,
            work -> after(wait, work));
  }

  /** How long an answer takes from now on. */
  public void setAnswerTime(Duration time) {
    answerTime = time;
  }

  /** The endpoints that the executor knows. */
  public EndpointCache endpoints() {
    return queries.cache();
  }

  /** The executor's clock. */
  public long nowNs() {
    return nowNs;
  }

  /** Something happens when time has passed. */
  public void after(Duration delay, Runnable work) {
    events.add(new Event(nowNs + delay.toNanos(), order++, work));
  }

  /** Time passes, also while the control thread waits for an answer. */
  public void pass(Duration time) {
    long untilNs = nowNs + time.toNanos();
    while (!events.isEmpty() && events.peek().atNs <= untilNs) {
      Event next = events.poll();
      nowNs = Math.max(nowNs, next.atNs);
      next.work.run();
    }
    nowNs = Math.max(nowNs, untilNs);
  }

  private void onControl(Runnable work) {
    control.add(work);
    after(Duration.ZERO, this::runControl);
  }

  private void runControl() {
    if (!isBusy) {
      isBusy = true;
      while (!control.isEmpty()) {
        control.remove().run();
      }
      isBusy = false;
    }
  }
}
