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
 * A thread waits here for a completion, a connection event or a wake-up by another thread. It
 * combines the completion event channel of ibv_create_comp_channel(3) with the event channel of
 * rdma_cm(7), as poll(2) over both does.
 *
 * <p>Its owner thread waits; any thread wakes it. The creator closes it last.
 */
public interface CompletionChannel extends AutoCloseable {
  /**
   * Waits until an armed completion queue gets a completion, a connection event arrives, {@link
   * #wakeup()} is called or the time-out ends. Events since the last return end the wait at once.
   * May return early without a reason.
   *
   * @param timeoutNs maximum time to wait; 0 or less does not wait
   */
  void await(long timeoutNs);

  /**
   * Ends the owner's current or next {@link #await}. Safe for any thread; cheap when the owner is
   * awake.
   */
  void wakeup();

  @Override
  void close();
}
