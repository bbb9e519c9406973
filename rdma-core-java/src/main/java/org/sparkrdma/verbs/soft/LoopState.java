// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.soft;

import java.io.IOException;
import java.nio.channels.Selector;
import java.util.concurrent.locks.LockSupport;
import org.sparkrdma.verbs.soft.shared.SharedTable;

/**
 * Which thread makes the progress of a {@link DeviceLoop}.
 *
 * <pre>
 *  POLLED    threads poll; the helper looks once in a millisecond whether they still do
 *    │ ▲     │
 *    │ │     └─no poll for 1 ms─► UNPOLLED    the helper makes the progress
 *    │ │                            │   ▲
 *    │ │  no thread in the selector │   │ nobody polls
 *    ▼ │                            ▼   │
 *  ASLEEP    one thread is in the selector, the sleeper: one that waits for its channel, or the
 *            helper; others that wait for their channels are parked, and one of them is woken
 *            when the sleeper leaves. It leaves for a wake-up, a socket, a timer, and the helper
 *            also for a poll
 * </pre>
 *
 * <p>The sleeper sets {@link #sleeper} and then looks for work once more. A thread that adds work
 * reads {@link #sleeper} afterwards. The field is volatile, so one of the two sees the other. The
 * shared table has such a flag for peers, see {@link SharedTable#tryClaimWake}: a peer that
 * delivers a message sends a byte on the socket only when it has cleared that flag.
 */
final class LoopState {
  private static final long MILLI_NS = 1_000_000;
  private static final long SHORT_PAUSE_NS = 100_000;

  /** Pause of the helper while there is a sleeper. A waking sleeper does not wake the helper. */
  private static final long LONG_PAUSE_NS = 20_000_000;

  private final Selector selector;
  private final SharedTable table;
  private volatile Thread sleeper;

  /** A thread that is parked because another one is the sleeper; null for none. */
  private volatile Thread parked;

  private volatile long polledNs = System.nanoTime() - MILLI_NS;

  LoopState(Selector selector, SharedTable table) {
    this.selector = selector;
    this.table = table;
  }

  // Called by any thread.

  /** A thread polls, so the helper need not sleep in the selector. */
  void onPoll(Thread helper) {
    polledNs = System.nanoTime();
    if (sleeper == helper) {
      wakeSleeper();
    }
  }

  /** Whether the helper has nothing to do, because threads poll, or one sleeps. */
  boolean isPolled() {
    return sleeper != null || System.nanoTime() - polledNs < MILLI_NS;
  }

  boolean isAsleep() {
    return sleeper != null;
  }

  /** Time until the helper looks again whether the device is polled. */
  long pauseNs() {
    return sleeper == null ? MILLI_NS : LONG_PAUSE_NS;
  }

  /** Ends the rest of a thread, whether it sleeps or is parked. */
  void wake(Thread thread) {
    if (sleeper == thread) {
      wakeSleeper();
    } else {
      LockSupport.unpark(thread);
    }
  }

  void wakeSleeper() {
    Thread asleep = sleeper;
    if (asleep != null) {
      selector.wakeup();
      LockSupport.unpark(asleep);
    }
  }

  // Called with the lock of the loop.

  /**
   * The current thread becomes the sleeper, unless there is one.
   *
   * @param parks whether the sleeper wakes it otherwise, when it leaves
   */
  boolean trySleep(boolean parks) {
    if (sleeper == null) {
      sleeper = Thread.currentThread();
      table.setAsleep(true);
      return true;
    }
    parked = parks ? Thread.currentThread() : parked;
    return false;
  }

  /** The sleeper leaves. */
  void leave() {
    table.setAsleep(false);
    sleeper = null;
    LockSupport.unpark(parked);
    parked = null;
  }

  // Called by the sleeper.

  void select(long waitNs) throws IOException {
    if (waitNs >= MILLI_NS) {
      selector.select(waitNs == Long.MAX_VALUE ? 0 : waitNs / MILLI_NS);
    } else {
      if (waitNs > 0) {
        LockSupport.parkNanos(this, Math.min(waitNs, SHORT_PAUSE_NS));
      }
      selector.selectNow();
    }
  }
}
