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
package org.sparkrdma.shuffle.read;

import java.util.ArrayDeque;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.function.Consumer;

/**
 * Requests to one place, issued one after the other. Safe for any thread; takes a thread only while
 * it has requests.
 */
final class TcpLane {
  private final Executor threads;
  private final Consumer<TcpRequest> issue;
  private final Consumer<TcpRequest> refuse;
  private final ArrayDeque<TcpRequest> queue = new ArrayDeque<>();
  private boolean running;

  /**
   * @param issue called with one request at a time; must not throw
   * @param refuse called with requests that come when the threads are gone
   */
  TcpLane(Executor threads, Consumer<TcpRequest> issue, Consumer<TcpRequest> refuse) {
    this.threads = threads;
    this.issue = issue;
    this.refuse = refuse;
  }

  void add(TcpRequest request) {
    synchronized (this) {
      queue.add(request);
      if (running) {
        return;
      }
      running = true;
    }
    try {
      threads.execute(this::run);
    } catch (RejectedExecutionException e) {
      refuseAll();
    }
  }

  private void run() {
    for (TcpRequest next = next(); next != null; next = next()) {
      issue.accept(next);
    }
  }

  /** Refuses what is queued. */
  void refuseAll() {
    for (TcpRequest next = next(); next != null; next = next()) {
      refuse.accept(next);
    }
  }

  private synchronized TcpRequest next() {
    TcpRequest next = queue.poll();
    running = next != null;
    return next;
  }
}
