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
package org.sparkrdma.shuffle.serve;

import java.util.ArrayDeque;
import java.util.concurrent.Executor;
import java.util.function.LongSupplier;

/**
 * Jobs that wait for the threads of one disk, in the order of their arrival. Safe for any thread.
 */
final class DiskQueue {
  private final Executor threads;
  private final LongSupplier nanoClock;

  /** Times of arrival of the jobs that have not begun. */
  private final ArrayDeque<Long> waitingSinceNs = new ArrayDeque<>();

  /**
   * @param threads must begin jobs in the order in which it gets them
   */
  DiskQueue(Executor threads, LongSupplier nanoClock) {
    this.threads = threads;
    this.nanoClock = nanoClock;
  }

  /**
   * Runs a job on a thread of this disk.
   *
   * @throws java.util.concurrent.RejectedExecutionException when the threads are stopped
   */
  void execute(Runnable job) {
    synchronized (waitingSinceNs) {
      waitingSinceNs.add(nanoClock.getAsLong());
    }
    boolean accepted = false;
    try {
      threads.execute(
          () -> {
            leave();
            job.run();
          });
      accepted = true;
    } finally {
      if (!accepted) {
        leave();
      }
    }
  }

  private void leave() {
    synchronized (waitingSinceNs) {
      waitingSinceNs.poll();
    }
  }

  /** How long the oldest waiting job has been waiting; 0 without one. */
  long waitNs(long nowNs) {
    synchronized (waitingSinceNs) {
      Long oldest = waitingSinceNs.peek();
      return oldest == null ? 0 : nowNs - oldest;
    }
  }
}
