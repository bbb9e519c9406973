// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.metrics;

import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

/**
 * Limits log lines that a lasting failure would write for each block: one for each subject, such as
 * a peer, in ten seconds. Safe for any thread.
 */
public final class LogLimit {
  private static final long INTERVAL_NS = TimeUnit.SECONDS.toNanos(10);

  /** Further subjects share one line. */
  private static final int MAX_SUBJECTS = 1_000;

  private static final Object OTHER_SUBJECTS = new Object();

  private final LongSupplier nanoClock;

  /** Guarded by this object. */
  private final Map<Object, Last> lastLines = new HashMap<>();

  private static final class Last {
    private final long loggedNs;
    private int omitted;

    Last(long loggedNs) {
      this.loggedNs = loggedNs;
    }
  }

  public LogLimit() {
    this(System::nanoTime);
  }

  /**
   * @param nanoClock as {@link System#nanoTime}
   */
  public LogLimit(LongSupplier nanoClock) {
    this.nanoClock = nanoClock;
  }

  /**
   * Counts a line.
   *
   * @return the end of the line: how many were omitted before it; empty when it is to be omitted
   */
  public synchronized Optional<String> next(Object subject) {
    long now = nanoClock.getAsLong();
    if (lastLines.size() >= MAX_SUBJECTS) {
      lastLines.values().removeIf(last -> !isRecent(last, now));
    }
    boolean known = lastLines.containsKey(subject) || lastLines.size() < MAX_SUBJECTS;
    Object key = known ? subject : OTHER_SUBJECTS;
    Last last = lastLines.get(key);
    if (last != null && isRecent(last, now)) {
      last.omitted++;
      return Optional.empty();
    }
    lastLines.put(key, new Last(now));
    return Optional.of(
        last == null || last.omitted == 0
            ? ""
            : "; lines like this that were omitted before: " + last.omitted);
  }

  private static boolean isRecent(Last last, long now) {
    return now - last.loggedNs < INTERVAL_NS;
  }
}
