// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs;

import java.util.Set;

/**
 * A reliable connected queue pair, see ibv_create_qp(3). Created by {@link
 * org.sparkrdma.verbs.cm.Connection#createQueuePair}.
 *
 * <p>Owned by the thread that polls its completion queues. With {@link
 * org.sparkrdma.verbs.device.Capability#POST_BESIDE_POLL} any thread may post sends; {@link #close}
 * waits for it, and later posts are refused. Posting allocates nothing, but for the engine {@code
 * disni}, which allocates for each request. Sends complete in the order posted. A request occupies
 * its queue until its completion was polled. An unsignalled request has no completion when it
 * succeeds; it occupies its queue until the completion of a later signalled request was polled, so
 * at least one of every {@link QueuePairSettings#sendDepth} requests must be signalled. The first
 * error moves the queue pair to {@link QueuePairState#ERROR}, and all its other work completes with
 * {@link WorkStatus#FLUSH_ERROR}.
 */
public interface QueuePair extends AutoCloseable {
  /** {@return its number, unique on its device while it exists} */
  int number();

  /** {@return its state now} */
  QueuePairState state();

  /**
   * Posts a send, read or write, see ibv_post_send(3). The request may be reused at once. Its
   * memory belongs to the device until a completion says that it succeeded, else until {@link
   * #close}.
   *
   * @param request the operation with its memory
   * @return false when the send queue is full; nothing was posted
   * @throws IllegalStateException in {@link QueuePairState#INIT} and after close
   * @throws IllegalArgumentException when the request is a receive or has no operation, exceeds a
   *     limit (elements, message length), uses memory of another protection domain, or needs an
   *     operation that the device lacks
   */
  boolean postSend(WorkRequest request);

  /**
   * Posts several requests. The engine {@code ibverbs} calls the device once for up to 32 of them,
   * {@code disni} once for each.
   *
   * @param requests the operations with their memory
   * @param offset index of the first one
   * @param count number of requests
   * @return how many were posted, from {@code offset} on; fewer than {@code count} when the send
   *     queue became full
   * @throws IndexOutOfBoundsException when the range does not lie inside the array; nothing was
   *     posted
   * @throws IllegalStateException as {@link #postSend(WorkRequest)}
   * @throws IllegalArgumentException as {@link #postSend(WorkRequest)}; the requests before the one
   *     that is refused were posted, as far as the device had room
   */
  int postSend(WorkRequest[] requests, int offset, int count);

  /**
   * Posts a receive, see ibv_post_recv(3).
   *
   * @param request a receive with its memory
   * @return false when the receive queue is full; nothing was posted
   * @throws IllegalStateException after close
   * @throws IllegalArgumentException when it is no receive, exceeds a limit (elements, message
   *     length), or uses memory of another protection domain or without {@link
   *     AccessFlag#LOCAL_WRITE}
   */
  boolean postReceive(WorkRequest request);

  /**
   * Sets the access of peers through it, see qp_access_flags in ibv_modify_qp(3). When it returns,
   * no operation that is no longer allowed succeeds.
   *
   * @param access {@link AccessFlag#REMOTE_READ}, {@link AccessFlag#REMOTE_WRITE}, both or none
   * @throws VerbsException when the device refuses
   * @throws IllegalArgumentException for any other access
   * @throws IllegalStateException after close
   * @throws UnsupportedOperationException without {@link
   *     org.sparkrdma.verbs.device.Capability#QUEUE_PAIR_ACCESS}
   */
  void setRemoteAccess(Set<AccessFlag> access) throws VerbsException;

  /**
   * Destroys it, see ibv_destroy_qp(3). When this returns, the device no longer accesses the memory
   * of its work. Completions that were not polled are dropped. A second close does nothing; on
   * another thread it waits for the first.
   */
  @Override
  void close();
}
