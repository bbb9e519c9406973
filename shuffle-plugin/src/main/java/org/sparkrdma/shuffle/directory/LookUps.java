// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.directory;

import java.time.Duration;
import java.util.function.LongSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.sparkrdma.shuffle.thread.ControlThread;
import org.sparkrdma.shuffle.thread.ThreadShortageException;

/**
 * Answers look-ups of executors on a thread of their own, in order, and leaves out those whose
 * executor does not wait any more: it asks again, and answers for nobody would delay all others.
 * The thread starts with the first look-up. Closed by the endpoint of the {@link DriverDirectory}.
 * Safe for any thread.
 */
final class LookUps implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(LookUps.class);

  private final long timeoutNs;
  private final LongSupplier nowNs;
  private final ControlThread thread = new ControlThread();

  /**
   * @param timeout after which an executor does not wait any more
   */
  LookUps(Duration timeout, LongSupplier nowNs) {
    this.timeoutNs = timeout.toNanos();
    this.nowNs = nowNs;
  }

  /** A look-up has arrived. */
  void add(Runnable answer) {
    try {
      if (!thread.isRunning()) {
        thread.start();
      }
      thread.execute(unlessLate(answer));
    } catch (ThreadShortageException e) {
      LOG.debug("Look-ups are answered by Spark's dispatcher", e);
      answer.run();
    }
  }

  /** The answer, if it begins before its executor has given up. */
  Runnable unlessLate(Runnable answer) {
    long arrivedNs = nowNs.getAsLong();
    return () -> {
      if (nowNs.getAsLong() - arrivedNs < timeoutNs) {
        answer.run();
      }
    };
  }

  @Override
  public void close() {
    thread.shutdownNow();
  }
}
