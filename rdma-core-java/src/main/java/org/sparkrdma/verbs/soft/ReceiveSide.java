// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.soft;

import org.sparkrdma.verbs.WorkStatus;
import org.sparkrdma.verbs.soft.shared.SharedReceives;

/**
 * Completes the receives of a queue pair, into whose memory the peer has written its messages.
 * Guarded by the lock of the device.
 */
final class ReceiveSide {
  private final SoftQueuePair queuePair;
  private final WorkQueue queue;
  private final SharedReceives receives;
  private long head;

  ReceiveSide(SoftQueuePair queuePair, WorkQueue queue, SharedReceives receives) {
    this.queuePair = queuePair;
    this.queue = queue;
    this.receives = receives;
  }

  /** Completes the receives with a message. */
  void run() {
    WorkStatus failure = complete();
    if (failure != WorkStatus.SUCCESS) {
      queuePair.failReceive(head, failure);
    }
  }

  /** Stops at a message that could not be received, and returns its status. */
  private WorkStatus complete() {
    while (head < queue.tail() && receives.isDelivered(head)) {
      WorkEntry entry = queue.entry(head);
      WorkStatus status = receives.status(head, entry.totalBytes);
      if (status != WorkStatus.SUCCESS) {
        return status;
      }
      queuePair.completeReceive(head, entry, receives);
      head++;
    }
    return WorkStatus.SUCCESS;
  }

  /**
   * Completes the receives with a message, then with an error what failed, and all others as
   * flushed.
   *
   * @param failed position of the receive with that status; negative when the connection ended
   */
  void flush(long failed, WorkStatus status) {
    WorkStatus undelivered = complete();
    WorkStatus first = undelivered == WorkStatus.SUCCESS ? WorkStatus.FLUSH_ERROR : undelivered;
    long tail = queue.tail();
    for (; head < tail; head++) {
      queuePair.flushReceive(head, queue.entry(head), head == failed ? status : first);
      first = WorkStatus.FLUSH_ERROR;
    }
  }

  /** Drops all work without completions: the queue pair is destroyed. */
  void drop() {
    for (long tail = queue.tail(); head < tail; head++) {
      queue.entry(head).clear();
    }
  }
}
