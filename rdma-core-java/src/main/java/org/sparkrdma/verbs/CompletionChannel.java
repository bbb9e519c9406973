// SPDX-License-Identifier: Apache-2.0
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
   * May return early without a reason; an interrupt may end the wait, and stays set.
   *
   * @param timeoutNs maximum time to wait; 0 or less does not wait
   * @throws IllegalStateException after close; only the owner may call both, or a thread that
   *     excludes the owner's call
   */
  void await(long timeoutNs);

  /**
   * Ends the owner's current or next {@link #await}. Safe for any thread; cheap when the owner is
   * awake. Does nothing after close.
   */
  void wakeup();

  /** A second close does nothing. */
  @Override
  void close();
}
