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
package org.sparkrdma.verbs.disni;

import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.locks.LockSupport;
import java.util.function.LongSupplier;
import org.sparkrdma.verbs.CompletionChannel;

/**
 * Where the owner parks until a watcher, or anyone, wakes it. The device's completion channels
 * belong to the queues, one each: DiSNI does not tell which queue an event is of.
 */
final class DisniCompletionChannel implements CompletionChannel {
  private final DisniDevice device;
  private final List<LongSupplier> deadlines = new CopyOnWriteArrayList<>();
  private volatile boolean signalled;
  private volatile Thread sleeper;

  DisniCompletionChannel(DisniDevice device) {
    this.device = device;
  }

  /** Wakes also at a time, as of System.nanoTime; Long.MAX_VALUE is never. */
  void addDeadline(LongSupplier deadline) {
    deadlines.add(deadline);
  }

  void removeDeadline(LongSupplier deadline) {
    deadlines.remove(deadline);
  }

  @Override
  public void await(long timeoutNs) {
    if (timeoutNs > 0 && !signalled) {
      sleeper = Thread.currentThread();
      long sleepNs = untilDeadline(timeoutNs);
      if (sleepNs > 0 && !signalled) {
        LockSupport.parkNanos(this, sleepNs);
      }
      sleeper = null;
    }
    signalled = false;
  }

  private long untilDeadline(long timeoutNs) {
    long least = timeoutNs;
    for (LongSupplier deadline : deadlines) {
      long at = deadline.getAsLong();
      if (at != Long.MAX_VALUE) {
        least = Math.min(least, at - System.nanoTime());
      }
    }
    return least;
  }

  @Override
  public void wakeup() {
    signalled = true;
    Thread asleep = sleeper;
    if (asleep != null) {
      LockSupport.unpark(asleep);
    }
  }

  @Override
  public void close() {
    device.forget(this);
  }
}
