// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs;

/**
 * Collects the results of work requests, see ibv_create_cq(3).
 *
 * <p>Polled and armed by its one owner thread; polling allocates nothing. When completions overrun
 * its capacity, the queue pairs that complete in it go to {@link QueuePairState#ERROR} and {@link
 * #poll} throws. Closed by its creator, after its queue pairs.
 */
public interface CompletionQueue extends AutoCloseable {
  /** {@return the maximum number of completions it holds; at least the requested capacity} */
  int capacity();

  /**
   * Passes available completions to the handler, oldest first, see ibv_poll_cq(3).
   *
   * @param limit maximum number of completions; below 1 none is handled
   * @param handler gets each completion, on the thread that polls; not null
   * @return number of completions handled; 0 when there are none
   * @throws IllegalStateException after an overrun or close
   */
  int poll(int limit, CompletionHandler handler);

  /**
   * Requests one wake-up of the channel at the next completion, see ibv_req_notify_cq(3). Poll once
   * more afterwards: a completion that arrived in between causes no wake-up.
   *
   * @throws IllegalStateException when it was created without a channel, after close, or when the
   *     device refuses
   */
  void arm();

  /**
   * See ibv_destroy_cq(3). A second close does nothing.
   *
   * @throws IllegalStateException while a queue pair completes in it; with the engine {@code
   *     ibverbs} on iWARP one that was closed counts until the outcome of its connection attempt
   */
  @Override
  void close();
}
