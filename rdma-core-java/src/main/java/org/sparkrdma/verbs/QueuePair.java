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

import java.util.Set;

/**
 * A reliable connected queue pair, see ibv_create_qp(3). Made by {@link
 * org.sparkrdma.verbs.cm.Connection#createQueuePair}.
 *
 * <p>Owned by the thread that polls its completion queues; posting allocates nothing. Sends
 * complete in the order posted. A request keeps its place in its queue until its completion has
 * been polled. An unsignalled one leaves no completion when it succeeds and keeps its place until
 * the completion of a later signalled one has been polled. The first error moves the queue pair to
 * {@link QueuePairState#ERROR}, and all its other work completes with {@link
 * WorkStatus#FLUSH_ERROR}.
 */
public interface QueuePair extends AutoCloseable {
  /** Its number, unique on its device while it exists. */
  int number();

  /** Its state now. */
  QueuePairState state();

  /**
   * Posts a send, read or write, see ibv_post_send(3). The request may be reused at once; the
   * memory it names belongs to the device until the completion, inline data excepted.
   *
   * @return false when the send queue is full; nothing was posted
   * @throws IllegalStateException in {@link QueuePairState#INIT} and after close
   * @throws IllegalArgumentException when the request breaks a limit: elements, inline or message
   *     length, memory of another protection domain, an operation the device has not
   */
  boolean postSend(WorkRequest request);

  /**
   * Posts several with one call to the device.
   *
   * @return how many were posted, from {@code offset} on; fewer than {@code count} when the send
   *     queue became full
   */
  int postSend(WorkRequest[] requests, int offset, int count);

  /**
   * Posts a receive, see ibv_post_recv(3).
   *
   * @return false when the receive queue is full; nothing was posted
   * @throws IllegalStateException after close
   * @throws IllegalArgumentException as {@link #postSend(WorkRequest)}, or memory without {@link
   *     AccessFlag#LOCAL_WRITE}
   */
  boolean postReceive(WorkRequest request);

  /**
   * Sets what peers may do through it from now on, see qp_access_flags in ibv_modify_qp(3). When it
   * returns, nothing that is no longer allowed is in progress.
   *
   * @throws VerbsException when the device refuses
   * @throws UnsupportedOperationException without {@link
   *     org.sparkrdma.verbs.device.Capability#QUEUE_PAIR_ACCESS}
   */
  void setRemoteAccess(Set<AccessFlag> access) throws VerbsException;

  /**
   * Destroys it, see ibv_destroy_qp(3): when this returns, the device touches no memory of its work
   * any more. Completions not yet polled are dropped. A second close does nothing.
   */
  @Override
  void close();
}
