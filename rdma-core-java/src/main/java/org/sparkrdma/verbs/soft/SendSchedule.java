// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.soft;

import org.sparkrdma.verbs.Opcode;
import org.sparkrdma.verbs.soft.faults.FaultPlan;
import org.sparkrdma.verbs.soft.faults.Network;

/**
 * Times at which the requests of a send queue may run: after the network's delay, and after a pause
 * for a receiver that is not ready. Gives the queue pair a turn at these times. Confined to the
 * device thread.
 */
final class SendSchedule {
  private final SoftContext context;
  private final WorkQueue queue;
  private final SoftQueuePair queuePair;
  private long stamped;
  private long resumeNs;
  private Timers.Timer timer;

  SendSchedule(SoftContext context, WorkQueue queue, SoftQueuePair queuePair) {
    this.context = context;
    this.queue = queue;
    this.queuePair = queuePair;
  }

  /** Sets for each request posted since the last call its due time, and whether it must fail. */
  void stamp() {
    long tail = queue.tail();
    for (; stamped < tail; stamped++) {
      WorkEntry entry = queue.entry(stamped);
      boolean read = entry.opcode == Opcode.READ;
      entry.dueNs = context.network().dueNs(read, entry.totalBytes, context.loop().nowNs());
      entry.mustFail = !read && context.faults().fires(FaultPlan.Kind.SEND_ERROR);
    }
  }

  /** Whether a request may run now. If not, schedules a turn for the time when it may. */
  boolean isDue(WorkEntry entry) {
    return entry.dueNs != Network.NEVER && isPast(entry.dueNs) && isPast(resumeNs);
  }

  private boolean isPast(long atNs) {
    if (atNs == 0 || atNs - context.loop().nowNs() <= 0) {
      return true;
    }
    wakeAt(atNs);
    return false;
  }

  private void wakeAt(long atNs) {
    if (timer == null || timer.atNs() != atNs) {
      cancel();
      timer =
          context
              .loop()
              .schedule(
                  atNs,
                  () -> {
                    timer = null;
                    context.loop().activate(queuePair);
                  });
    }
  }

  /** Delays all requests by the receiver-not-ready delay. */
  void pause() {
    resumeNs = context.loop().nowNs() + context.settings().receiverNotReadyDelayNs();
  }

  /** All requests before that position are complete. */
  void skipTo(long position) {
    stamped = position;
  }

  void cancel() {
    if (timer != null) {
      context.loop().cancel(timer);
      timer = null;
    }
  }
}
