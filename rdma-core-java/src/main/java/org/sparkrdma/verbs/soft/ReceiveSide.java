// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.soft;

import java.nio.ByteBuffer;
import org.sparkrdma.verbs.WorkStatus;
import org.sparkrdma.verbs.soft.wire.FrameHeader;
import org.sparkrdma.verbs.soft.wire.ProtocolException;

/**
 * Writes a peer's messages into a queue pair's receives, in order. Confined to the device thread.
 *
 * <p>Without a receive the message and all after it are dropped, and the peer sends them again.
 */
final class ReceiveSide {
  private final SoftQueuePair queuePair;
  private final WorkQueue queue;
  private final CompletionWriter completions;
  private final ReceiveAnswers answers;
  private long head;
  private long expected = 1;
  private boolean refused;
  private WorkEntry receiving;

  ReceiveSide(
      SoftQueuePair queuePair,
      WorkQueue queue,
      CompletionWriter completions,
      ReceiveAnswers answers) {
    this.queuePair = queuePair;
    this.queue = queue;
    this.completions = completions;
    this.answers = answers;
  }

  /** A message begins: SEND with its payload to come, or WRITTEN. */
  void onMessage(FrameHeader header) throws ProtocolException {
    receiving = null;
    if (header.sequence > expected && refused) {
      return;
    }
    if (header.sequence != expected) {
      throw new ProtocolException(
          "message out of order: sequence=" + header.sequence + " expected=" + expected);
    }
    if (head == queue.tail()) {
      refused = true;
      answers.refuseSoon(expected);
      return;
    }
    refused = false;
    WorkEntry entry = queue.entry(head);
    if (header.length > entry.totalBytes) {
      fail(WorkStatus.LOCAL_LENGTH_ERROR, WorkStatus.REMOTE_INVALID_REQUEST);
    } else if (!entry.mayUseLocalMemory()) {
      fail(WorkStatus.LOCAL_PROTECTION_ERROR, WorkStatus.REMOTE_OPERATION_ERROR);
    } else {
      receiving = entry;
    }
  }

  private void fail(WorkStatus here, WorkStatus there) {
    answers.sendFailure(expected, there);
    queuePair.failReceive(head, here);
  }

  void onPayload(ByteBuffer piece) {
    if (receiving != null) {
      if (!receiving.mayUseLocalMemory()) {
        receiving = null;
        fail(WorkStatus.LOCAL_PROTECTION_ERROR, WorkStatus.REMOTE_OPERATION_ERROR);
        return;
      }
      receiving.scatter(piece);
    }
  }

  void onMessageEnd(FrameHeader header) {
    if (receiving != null) {
      completions.completeReceive(head, receiving, header);
      receiving = null;
      head++;
      answers.acknowledgeSoon(expected);
      expected++;
    }
  }

  /** Completes with an error what failed, and all that is posted as flushed. */
  void flush(long failed, WorkStatus status) {
    receiving = null;
    long tail = queue.tail();
    for (; head < tail; head++) {
      WorkEntry entry = queue.entry(head);
      completions.failReceive(head, entry, head == failed ? status : WorkStatus.FLUSH_ERROR);
    }
  }

  /** Drops all work without completions: the queue pair is destroyed. */
  void drop() {
    receiving = null;
    for (long tail = queue.tail(); head < tail; head++) {
      queue.entry(head).clear();
    }
  }
}
