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
package org.sparkrdma.verbs.soft;

import java.util.concurrent.locks.LockSupport;
import org.sparkrdma.verbs.CompletionChannel;

/** A flag and a parked thread. Awaited by one thread, signalled by any. */
final class SoftCompletionChannel implements CompletionChannel {
  private final SoftDevice device;
  private volatile boolean signalled;
  private volatile Thread sleeper;

  SoftCompletionChannel(SoftDevice device) {
    this.device = device;
  }

  @Override
  public void await(long timeoutNs) {
    if (timeoutNs > 0 && !signalled) {
      sleep(timeoutNs);
    }
    signalled = false;
  }

  private void sleep(long timeoutNs) {
    long start = System.nanoTime();
    sleeper = Thread.currentThread();
    long left = timeoutNs;
    while (!signalled && left > 0 && !Thread.currentThread().isInterrupted()) {
      LockSupport.parkNanos(this, left);
      left = timeoutNs - (System.nanoTime() - start);
    }
    sleeper = null;
  }

  void signal() {
    signalled = true;
    Thread parked = sleeper;
    if (parked != null) {
      LockSupport.unpark(parked);
    }
  }

  @Override
  public void wakeup() {
    signal();
  }

  @Override
  public void close() {
    device.forget(this);
  }
}
