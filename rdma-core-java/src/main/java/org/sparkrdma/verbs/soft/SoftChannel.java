// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.soft;

import org.sparkrdma.verbs.engine.EngineChannel;

/** A completion channel whose waiting thread makes the device's progress. */
final class SoftChannel extends EngineChannel {
  private final DeviceLoop loop;
  private volatile boolean signalled;
  private volatile Thread waiter;

  SoftChannel(SoftDevice device) {
    super(device);
    loop = device.loop;
  }

  @Override
  public void await(long timeoutNs) {
    checkOpen();
    if (timeoutNs > 0 && !signalled) {
      waiter = Thread.currentThread();
      loop.sleep(this, remainingNs(timeoutNs));
      waiter = null;
    }
    signalled = false;
  }

  boolean isSignalled() {
    return signalled;
  }

  @Override
  public void wakeup() {
    signalled = true;
    Thread waiting = waiter;
    if (waiting != null && waiting != Thread.currentThread()) {
      loop.state.wake(waiting);
    }
  }
}
