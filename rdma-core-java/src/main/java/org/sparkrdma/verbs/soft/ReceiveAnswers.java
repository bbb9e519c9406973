// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.soft;

import org.sparkrdma.verbs.WorkStatus;
import org.sparkrdma.verbs.soft.wire.FrameHeader;
import org.sparkrdma.verbs.soft.wire.Link;

/**
 * Answers of the receive side to the peer's messages. They are sent with the queue pair's next
 * turn, as soon as the link has room. Confined to the device thread.
 */
final class ReceiveAnswers {
  private static final int MAX_BYTES = 2 * FrameHeader.BYTES;

  private final SoftQueuePair queuePair;
  private final SoftContext context;
  private Link link;

  /** The last message received; 0 once it is acknowledged. */
  private long acknowledge;

  /** The message that had no receive; 0 once that is reported. */
  private long notReady;

  ReceiveAnswers(SoftQueuePair queuePair, SoftContext context) {
    this.queuePair = queuePair;
    this.context = context;
  }

  void onEstablished(Link toPeer) {
    link = toPeer;
  }

  /** All messages up to this one were received. */
  void acknowledgeSoon(long sequence) {
    long delayNs = context.settings().acknowledgeDelayNs();
    if (delayNs == 0) {
      acknowledge(sequence);
    } else {
      context.loop().schedule(context.loop().nowNs() + delayNs, () -> acknowledge(sequence));
    }
  }

  private void acknowledge(long sequence) {
    acknowledge = sequence;
    context.loop().activate(queuePair);
  }

  /** There is no receive for this message. */
  void refuseSoon(long sequence) {
    notReady = sequence;
    context.loop().activate(queuePair);
  }

  /** This message cannot be received, so the connection ends; best effort. */
  void sendFailure(long sequence, WorkStatus status) {
    if (!queuePair.sendSide().isInsideMessage() && link.hasRoomFor(MAX_BYTES)) {
      putAll();
      int invalid = status == WorkStatus.REMOTE_INVALID_REQUEST ? 1 : 0;
      link.putHeader(FrameHeader.FAILED, 0, 0, sequence, 0, invalid);
    }
  }

  /** Puts all answers on the link; false when it has no room for them. */
  boolean tryPutAll() {
    if (acknowledge == 0 && notReady == 0) {
      return true;
    }
    if (!link.hasRoomFor(MAX_BYTES)) {
      return false;
    }
    putAll();
    return true;
  }

  private void putAll() {
    if (acknowledge != 0) {
      link.putHeader(FrameHeader.ACKNOWLEDGE, 0, 0, acknowledge, 0, 0);
      acknowledge = 0;
    }
    if (notReady != 0) {
      link.putHeader(FrameHeader.NOT_READY, 0, 0, notReady, 0, 0);
      notReady = 0;
    }
  }
}
