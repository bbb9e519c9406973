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
package org.sparkrdma.verbs.engine;

import java.util.concurrent.locks.LockSupport;

/**
 * A completion channel for engines whose own threads report completions and events: a flag and a
 * parked thread. One thread waits, any thread wakes it.
 */
public final class ParkingChannel extends EngineChannel {
  private volatile boolean signalled;
  private volatile Thread waiter;

  public ParkingChannel(EngineDevice<?> device) {
    super(device);
  }

  @Override
  public void await(long timeoutNs) {
    if (timeoutNs > 0 && !signalled) {
      park(timeoutNs);
    }
    signalled = false;
  }

  private void park(long timeoutNs) {
    long start = System.nanoTime();
    waiter = Thread.currentThread();
    long allowedNs = untilDeadline(timeoutNs);
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
