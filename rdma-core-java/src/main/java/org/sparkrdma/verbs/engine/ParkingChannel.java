// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.engine;

import java.util.concurrent.locks.LockSupport;

/**
 * A completion channel for engines whose own threads report completions and events: a flag and a
 * parked thread. One thread waits, any thread wakes it.
 */
public final class ParkingChannel extends EngineChannel {
  private volatile boolean signalled;
  private volatile Thread waiter;

  public ParkingChannel(EngineDevice device) {
    super(device);
  }

  @Override
  public void await(long timeoutNs) {
    checkOpen();
    if (timeoutNs > 0 && !signalled) {
      park(timeoutNs);
    }
    signalled = false;
  }

  private void park(long timeoutNs) {
    long start = System.nanoTime();
    waiter = Thread.currentThread();
    long allowedNs = remainingNs(timeoutNs);
    long leftNs = allowedNs;
    while (!signalled && leftNs > 0 && !Thread.currentThread().isInterrupted()) {
      LockSupport.parkNanos(this, leftNs);
      leftNs = allowedNs - (System.nanoTime() - start);
    }
    waiter = null;
  }

  @Override
  public void wakeup() {
    signalled = true;
    Thread parked = waiter;
    if (parked != null) {
      LockSupport.unpark(parked);
    }
  }
}
