// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.transport;

import org.sparkrdma.verbs.QueuePair;
import org.sparkrdma.verbs.WorkRequest;

/** The receives of a queue pair and their buffers. Owned by the agent. */
final class PostedReceives {
  private final QueuePair queuePair;
  private final long idBits;
  private final ControlBuffer[] posted;
  private final Runnable onRefused;
  private final WorkRequest receive = new WorkRequest(1);

  /**
   * @param depth maximum number of posted receives
   * @param idBits upper 32 bits of every id, see {@link WorkIds}
   * @param onRefused called when the device takes no receive although the depth is not reached, as
   *     when it has no memory: the connection must be closed, because the peer counts on the
   *     receive
   */
  PostedReceives(QueuePair queuePair, int depth, long idBits, Runnable onRefused) {
    this.queuePair = queuePair;
    this.idBits = idBits;
    this.onRefused = onRefused;
    this.posted = new ControlBuffer[depth];
  }

  /** Posts a receive into this buffer, which the connection frees at its end. */
  void post(ControlBuffer buffer) {
    int index = freeIndex();
    receive.receive(idBits | index);
    receive.local(buffer.region(), buffer.regionOffset(), buffer.lengthBytes());
    if (queuePair.postReceive(receive)) {
      posted[index] = buffer;
    } else {
      onRefused.run();
    }
  }

  private int freeIndex() {
    int index = 0;
    while (index < posted.length && posted[index] != null) {
      index++;
    }
    if (index == posted.length) {
      throw new IllegalStateException("too many receives: depth=" + posted.length);
    }
    return index;
  }

  /** The buffer of a receive that has completed; it is not posted any more. */
  ControlBuffer completed(long id) {
    int index = (int) (id & WorkIds.LOW_MASK);
    ControlBuffer buffer = posted[index];
    posted[index] = null;
    return buffer;
  }
}
