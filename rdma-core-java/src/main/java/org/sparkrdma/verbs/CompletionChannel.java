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
package org.sparkrdma.verbs;

/**
 * Where a thread sleeps until a completion, a connection event or another thread wakes it: the
 * completion event channel of ibv_create_comp_channel(3) together with the event channel of
 * rdma_cm(7) and a wake-up, as poll(2) over the three would be.
 *
 * <p>One thread, the owner, awaits; anyone may wake it. Closed by its creator, last.
 */
public interface CompletionChannel extends AutoCloseable {
  /**
   * Sleeps until an armed completion queue gets a completion, a connection event arrives, {@link
   * #wakeup()} is called or the time is over. What happened before the call and was not yet
   * consumed by an earlier return counts. May return early for no reason.
   *
   * @param timeoutNs the longest sleep; 0 or less does not sleep
   */
  void await(long timeoutNs);

  /** Ends the owner's present or next {@link #await}. From any thread; cheap when it is awake. */
  void wakeup();

  @Override
  void close();
}
