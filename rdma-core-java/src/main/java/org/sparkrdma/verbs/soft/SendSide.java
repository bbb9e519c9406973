// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.soft;

import java.io.IOException;
import org.sparkrdma.verbs.Opcode;
import org.sparkrdma.verbs.WorkStatus;
import org.sparkrdma.verbs.soft.wire.FrameHeader;
import org.sparkrdma.verbs.soft.wire.Link;
import org.sparkrdma.verbs.soft.wire.ProtocolException;

/**
 * Executes a queue pair's send queue in order. Confined to the device thread.
 *
 * <pre>
 *   completed │ sent, not acknowledged │ to do      │ free
 *             head                     next         tail
 * </pre>
 *
 * <p>Several messages may be in flight together. A READ copies its data while they are, and
 * completes after them; a WRITE begins when everything before it is acknowledged. When the receiver
 * is not ready, its message and all messages after it are sent again later. {@link OneSidedTurn}
 * executes a one-sided operation; its position in the queue is managed here.
 */
final class SendSide {
  private static final int TURN_BYTES = 1 << 20;
  private static final int TURN_REQUESTS = 64;

  /** Maximum length of a one-sided operation that the thread executes which posts it. */
  private static final int MAX_POSTED_BYTES = 1 << 16;

  private final SoftQueuePair queuePair;
  private final WorkQueue queue;
  private final CompletionWriter completions;
  private final SoftContext context;
  private final SendSchedule schedule;
  private final ReceiveAnswers answers;
  private final NotReadyRetries retries = new NotReadyRetries();
  private final OneSidedTurn oneSided;
  private Link link;
  private long head;
  private long next;
  private long lastSequence;
  private WorkEntry sending;
  private long rewindTo = -1;

  /** A READ that failed before its turn, and is executed again when it is the first. */
  private long notAhead = -1;

  private boolean linkFull;

  /** Whether the next request waits for the end of another copy. */
  private boolean busy;

  SendSide(
      SoftQueuePair queuePair, WorkQueue queue, CompletionWriter completions, SoftContext context) {
    this.queuePair = queuePair;
    this.queue = queue;
    this.completions = completions;
    this.context = context;
    schedule = new SendSchedule(context, queue, queuePair);
    answers = new ReceiveAnswers(queuePair, context);
    oneSided = new OneSidedTurn(queuePair, context);
  }

  ReceiveAnswers answers() {
    return answers;
  }

  /** The connection is established: work may begin. */
  void onEstablished(Link toPeer, SoftPeer remote, int remoteNumber, int receiverNotReadyRetries) {
    link = toPeer;
    answers.onEstablished(toPeer);
    oneSided.onEstablished(remote, remoteNumber);
    retries.onEstablished(receiverNotReadyRetries);
  }

  /** Whether a message was sent in part: nothing else may be put on the link. */
  boolean isInsideMessage() {
    return sending != null;
  }

  /** Puts the last answers on the link before it ends; false when that is not possible. */
  boolean finish() {
    return link == null || (sending == null && answers.tryPutAll());
  }

  /** One turn, see {@link SoftQueuePair#run}; true when it needs another one. */
  boolean run(boolean posting) {
    if (link == null) {
      return false;
    }
    int requests = 0;
    long bytes = 0;
    boolean more = true;
    linkFull = false;
    busy = false;
    while (more && !queuePair.hasFailed() && !link.isClosed()) {
      if (requests == TURN_REQUESTS || bytes >= TURN_BYTES) {
        link.flush();
        return true;
      }
      schedule.stamp();
      if (sending != null) {
        more = continueMessage();
      } else if (!answers.tryPutAll()) {
        linkFull = true;
        more = false;
      } else if (isNextDue()) {
        WorkEntry entry = queue.entry(next);
        if (posting && entry.isOneSided() && entry.totalBytes > MAX_POSTED_BYTES) {
          link.flush();
          return true;
        }
        long before = entry.progress;
        more = execute(entry);
        // When its owner has filled the completed entry again, progress is 0.
        bytes += Math.max(0, entry.progress - before);
        requests++;
      } else {
        more = false;
      }
    }
    link.flush();
    // A link that is still full gives another turn when it is writable.
    return busy || (linkFull && link.hasRoomFor(2 * FrameHeader.BYTES));
  }

  private boolean execute(WorkEntry entry) {
    if (entry.mustFail) {
      queuePair.failSend(next, WorkStatus.REMOTE_OPERATION_ERROR);
      return false;
    }
    return entry.isOneSided() ? oneSided(entry) : beginMessage(entry);
  }

  private boolean isNextDue() {
    if (next == queue.tail()) {
      return false;
    }
    WorkEntry entry = queue.entry(next);
    return (head == next || mayRunAhead(entry)) && schedule.isDue(entry);
  }

  /** Whether a request may run while those before it have not completed. */
  private boolean mayRunAhead(WorkEntry entry) {
    if (entry.mustFail || !entry.mayUseLocalMemory()) {
      return false;
    }
    boolean read = entry.opcode == Opcode.READ && next != notAhead && oneSided.mayRunAhead();
    return read || !entry.isOneSided();
  }

  private boolean oneSided(WorkEntry entry) {
    long bytes = entry.totalBytes;
    if (entry.executed) {
      // Messages before it are being sent again, or have been acknowledged meanwhile.
      next++;
      completeExecuted();
      return true;
    }
    OneSidedTurn.Outcome outcome =
        head == next ? oneSided.run(entry, next) : oneSided.runAhead(entry);
    busy = outcome == OneSidedTurn.Outcome.BUSY;
    if (outcome == OneSidedTurn.Outcome.WAITS) {
      notAhead = next;
    } else if (outcome == OneSidedTurn.Outcome.COMPLETE) {
      entry.executed = true;
      next++;
      completeExecuted();
      oneSided.signalInTime(bytes);
    }
    return outcome != OneSidedTurn.Outcome.FAILED && !busy;
  }

  // Two-sided.

  private boolean beginMessage(WorkEntry entry) {
    if (!entry.mayUseLocalMemory()) {
      queuePair.failSend(next, WorkStatus.LOCAL_PROTECTION_ERROR);
      return false;
    }
    if (!link.hasRoomFor(FrameHeader.BYTES)) {
      linkFull = true;
      return false;
    }
    if (entry.sequence == 0) {
      entry.sequence = ++lastSequence;
    }
    boolean written = entry.opcode == Opcode.WRITE_WITH_IMMEDIATE;
    int flags = entry.opcode == Opcode.SEND ? 0 : FrameHeader.WITH_IMMEDIATE;
    int total = (int) entry.totalBytes;
    link.putHeader(
        written ? FrameHeader.WRITTEN : FrameHeader.SEND,
        flags,
        written ? 0 : total,
        entry.sequence,
        entry.immediate,
        total);
    if (written) {
      next++;
      return true;
    }
    entry.progress = 0;
    sending = entry;
    return continueMessage();
  }

  /** False when the link is full. */
  private boolean continueMessage() {
    try {
      sending.gather(link.out());
    } catch (IOException e) {
      queuePair.failSend(next, WorkStatus.LOCAL_PROTECTION_ERROR);
      return false;
    }
    if (sending.progress < sending.totalBytes) {
      link.flush();
      return link.hasRoomFor(1) && !link.isClosed();
    }
    sending = null;
    next++;
    if (rewindTo >= 0) {
      next = rewindTo;
      rewindTo = -1;
    }
    return true;
  }

  // Answers of the peer.

  /** The peer received all messages up to this one. */
  void onAcknowledged(long sequence) throws ProtocolException {
    checkSent(sequence);
    while (head < next) {
      WorkEntry entry = queue.entry(head);
      if (entry.sequence == 0 || entry.sequence > sequence) {
        break;
      }
      retries.onReceived();
      completeHead();
      completeExecuted();
    }
    context.loop().activate(queuePair);
  }

  /** The peer had no receive for this message and dropped it and what came after. */
  void onNotReady(long sequence) throws ProtocolException {
    onAcknowledged(sequence - 1);
    if ((head == next && sending == null) || queue.entry(head).sequence != sequence) {
      throw new ProtocolException("refused what was not sent: sequence=" + sequence);
    }
    if (!retries.tryUse()) {
      queuePair.failSend(head, WorkStatus.RECEIVER_NOT_READY_RETRY_EXCEEDED);
      return;
    }
    schedule.pause();
    if (sending == null) {
      next = head;
    } else {
      rewindTo = head;
    }
  }

  /** The peer cannot take this message. */
  void onFailed(long sequence, boolean invalid) throws ProtocolException {
    onAcknowledged(sequence - 1);
    if (head == queue.tail()) {
      throw new ProtocolException("failed what was not sent: sequence=" + sequence);
    }
    queuePair.failSend(
        head, invalid ? WorkStatus.REMOTE_INVALID_REQUEST : WorkStatus.REMOTE_OPERATION_ERROR);
  }

  private void checkSent(long sequence) throws ProtocolException {
    if (sequence < 0 || sequence > lastSequence) {
      throw new ProtocolException("acknowledged what was not sent: sequence=" + sequence);
    }
  }

  // Completing.

  /** Completes READs that waited for nothing else. */
  private void completeExecuted() {
    while (head < next && queue.entry(head).executed) {
      completeHead();
    }
  }

  private void completeHead() {
    WorkEntry entry = queue.entry(head);
    if (entry.signalled) {
      completions.completeSend(head, entry);
    } else {
      entry.clear();
    }
    head++;
  }

  /** Completes with an error what failed, and all that is posted as flushed. */
  void flush(long failed, WorkStatus status) {
    schedule.cancel();
    sending = null;
    long tail = queue.tail();
    for (; head < tail; head++) {
      WorkEntry entry = queue.entry(head);
      completions.failSend(head, entry, head == failed ? status : WorkStatus.FLUSH_ERROR);
    }
    next = head;
    schedule.skipTo(head);
  }

  /** Drops all work without completions: the queue pair is destroyed. */
  void drop() {
    schedule.cancel();
    sending = null;
    for (long tail = queue.tail(); head < tail; head++) {
      queue.entry(head).clear();
    }
    next = head;
    link = null;
    oneSided.drop();
  }
}
