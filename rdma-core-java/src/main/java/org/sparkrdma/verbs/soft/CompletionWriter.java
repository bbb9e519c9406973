// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.soft;

import org.sparkrdma.verbs.Opcode;
import org.sparkrdma.verbs.WorkStatus;
import org.sparkrdma.verbs.soft.wire.FrameHeader;

/**
 * Writes the completions of a queue pair into its completion queues, and clears the entries that
 * they complete. Confined to the device thread.
 *
 * <p>An entry is cleared before its completion is published: as soon as the owner polls the
 * completion it may fill the entry again.
 */
final class CompletionWriter {
  private final SoftQueuePair queuePair;
  private final SoftCompletionQueue sendQueue;
  private final SoftCompletionQueue receiveQueue;
  private final DeviceLoop loop;
  private boolean overrun;

  CompletionWriter(
      SoftQueuePair queuePair,
      SoftCompletionQueue sendQueue,
      SoftCompletionQueue receiveQueue,
      DeviceLoop loop) {
    this.queuePair = queuePair;
    this.sendQueue = sendQueue;
    this.receiveQueue = receiveQueue;
    this.loop = loop;
  }

  void completeSend(long position, WorkEntry entry) {
    Completion completion = next(sendQueue);
    if (completion != null) {
      completion.set(queuePair, true, position);
      completion.view.setSuccess(entry.id, queuePair.number(), entry.opcode, entry.totalBytes);
    }
    publish(sendQueue, completion, entry);
  }

  void failSend(long position, WorkEntry entry, WorkStatus status) {
    fail(sendQueue, true, position, entry, status);
  }

  void completeReceive(long position, WorkEntry entry, FrameHeader header) {
    Completion completion = next(receiveQueue);
    if (completion != null) {
      boolean written = header.type == FrameHeader.WRITTEN;
      completion.set(queuePair, false, position);
      completion.view.setSuccess(
          entry.id,
          queuePair.number(),
          written ? Opcode.RECEIVE_WRITE_WITH_IMMEDIATE : Opcode.RECEIVE,
          header.extent);
      if ((header.flags & FrameHeader.WITH_IMMEDIATE) != 0) {
        completion.view.setImmediate(header.immediate);
      }
    }
    publish(receiveQueue, completion, entry);
  }

  void failReceive(long position, WorkEntry entry, WorkStatus status) {
    fail(receiveQueue, false, position, entry, status);
  }

  private void fail(
      SoftCompletionQueue queue, boolean send, long position, WorkEntry entry, WorkStatus status) {
    Completion completion = next(queue);
    if (completion != null) {
      completion.set(queuePair, send, position);
      completion.view.setFailure(entry.id, queuePair.number(), status, 0);
    }
    publish(queue, completion, entry);
  }

  /** The next free entry; null when the queue is overrun, which breaks the queue pair. */
  private Completion next(SoftCompletionQueue queue) {
    Completion completion = queue.next();
    if (completion == null && !overrun) {
      overrun = true;
      // Not from inside the loop that completes work.
      loop.execute(queuePair::fail);
    }
    return completion;
  }

  private void publish(SoftCompletionQueue queue, Completion completion, WorkEntry entry) {
    entry.clear();
    if (completion != null && queue.publish()) {
      loop.signalLater(queue);
    }
  }
}
