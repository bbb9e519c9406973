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

import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.LongSupplier;
import org.sparkrdma.verbs.cm.ConnectionEvent;

/**
 * A connection manager over the kernel's, see rdma_cm(7). The kernel may answer a request long
 * after the caller's time-out; so this ends late attempts when its owner polls, and wakes it for
 * that.
 */
public abstract class RdmaCmConnectionManager extends EngineConnectionManager {
  private final EngineChannel channel;
  private final Set<RdmaCmConnection<?>> attempts = ConcurrentHashMap.newKeySet();
  private final LongSupplier deadline = this::attemptDeadlineNs;

  protected RdmaCmConnectionManager(EngineDevice<?> device, EngineChannel channel) {
    super(device, channel);
    this.channel = channel;
    channel.addDeadline(deadline);
  }

  @Override
  public final ConnectionEvent pollEvent() {
    ConnectionEvent event = super.pollEvent();
    if (event == null && !attempts.isEmpty()) {
      long now = System.nanoTime();
      attempts.forEach(connection -> connection.endWhenLate(now));
      event = super.pollEvent();
    }
    return event;
  }

  /** A connection waits for an answer until its deadline. */
  final void addAttempt(RdmaCmConnection<?> connection) {
    attempts.add(connection);
  }

  final void removeAttempt(RdmaCmConnection<?> connection) {
    attempts.remove(connection);
  }

  private long attemptDeadlineNs() {
    long least = Long.MAX_VALUE;
    for (RdmaCmConnection<?> connection : attempts) {
      long at = connection.deadlineNs();
      if (least == Long.MAX_VALUE || at - least < 0) {
        least = at;
      }
    }
    return least;
  }

  @Override
  protected void stopEvents() {
    channel.removeDeadline(deadline);
  }
}
