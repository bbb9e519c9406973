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
package org.sparkrdma.verbs.soft;

import java.io.IOException;
import org.sparkrdma.verbs.Opcode;
import org.sparkrdma.verbs.WorkStatus;
import org.sparkrdma.verbs.soft.faults.FaultPlan;
import org.sparkrdma.verbs.soft.faults.Network;
import org.sparkrdma.verbs.soft.wire.FrameHeader;
import org.sparkrdma.verbs.soft.wire.Link;
import org.sparkrdma.verbs.soft.wire.ProtocolException;

/**
 * Executes a queue pair's send queue in order. Of the device thread.
 *
 * <pre>
 *   completed │ sent, not acknowledged │ to be done │ free
 *             head                     next         tail
 * </pre>
 *
 * <p>Messages may be under way together; a one-sided operation begins when all before it is
 * acknowledged. A receiver that is not ready has everything from its message on sent again later.
 */
final class SendSide {
  private static final int TURN_BYTES = 1 << 20;
  private static final int TURN_REQUESTS = 64;
  private static final int SIGNAL_BYTES = 1 << 18;
  private static final int RETRY_FOR_EVER = 7;

  private final SoftQueuePair queuePair;
  private final WorkQueue queue;
  private final SoftDevice device;
  private Link link;
  private Peer peer;
  private int peerNumber;
  private int retries;
  private int retriesLeft;
  private long head;
  private long next;
  private long stamped;
  private long lastSequence;
  private WorkEntry sending;
  private long rewindTo = -1;
  private boolean linkFull;
  private long resumeNs;
  private DeviceThread.Timer timer;
  private long bytesSinceSignal;

  // What is to be told to the peer as soon as the link has room.
  private long acknowledge;
  private long notReady;

  SendSide(SoftQueuePair queuePair, WorkQueue queue, SoftDevice device) {
    this.queuePair = queuePair;
    this.queue = queue;
    this.device = device;
  }

  /** The connection is established: work may begin. */
  void onEstablished(Link toPeer, Peer remote, int remoteNumber, int receiverNotReadyRetries) {
    link = toPeer;
    peer = remote;
    peerNumber = remoteNumber;
    retries = receiverNotReadyRetries;
    retriesLeft = retries;
  }

  /** The receive side took all messages up to this one. */
  void acknowledgeSoon(long sequence) {
    long delayNs = device.settings().acknowledgeDelayNs();
    if (delayNs == 0) {
      acknowledgeNow(sequence);
    } else {
      device.thread().schedule(device.thread().nowNs() + delayNs, () -> acknowledgeNow(sequence));
    }
  }

  private void acknowledgeNow(long sequence) {
    acknowledge = sequence;
    device.thread().activate(queuePair);
  }

  /** The receive side had no receive for this one. */
  void refuseSoon(long sequence) {
    notReady = sequence;
    device.thread().activate(queuePair);
  }

  /** Sends a last word that a message cannot be taken. */
  void tellFailure(long sequence, WorkStatus status) {
    if (sending == null && link.hasRoomFor(2 * FrameHeader.BYTES)) {
      putControl();
      link.putHeader(
          FrameHeader.FAILED,
          0,
          0,
          sequence,
          0,
          status == WorkStatus.REMOTE_INVALID_REQUEST ? 1 : 0);
    }
  }

  /** Tells the peer what it must know before the end; false when the link cannot carry it. */
  boolean finish() {
    return link == null || (sending == null && putControl());
  }

  /** One turn; true when it wants another one. */
  boolean run() {
    if (link == null) {
      return false;
    }
    int requests = 0;
    long bytes = 0;
    boolean more = true;
    linkFull = false;
    while (more && !queuePair.hasFailed() && !link.isClosed()) {
      if (requests == TURN_REQUESTS || bytes >= TURN_BYTES) {
        link.flush();
        return true;
      }
      stamp();
      if (sending != null) {
        more = continueMessage();
      } else if (putControl() && isNextDue()) {
        WorkEntry entry = queue.entry(next);
        long before = entry.progress;
        more = execute(entry);
        bytes += Math.max(0, entry.progress - before);
        requests++;
      } else {
        more = false;
      }
    }
    link.flush();
    // A link that is still full gives another turn when it is writable.
    return linkFull && link.hasRoomFor(2 * FrameHeader.BYTES);
  }

  private boolean execute(WorkEntry entry) {
    if (entry.doomed) {
      queuePair.fail(next, WorkStatus.REMOTE_OPERATION_ERROR);
      return false;
    }
    return entry.isOneSided() ? oneSided(entry) : beginMessage(entry);
  }

  /** Notes when the network lets each new request happen. */
  private void stamp() {
    long tail = queue.tail();
    for (; stamped < tail; stamped++) {
      WorkEntry entry = queue.entry(stamped);
      entry.dueNs =
          device
              .network()
              .dueNs(entry.opcode == Opcode.READ, entry.totalBytes, device.thread().nowNs());
      entry.doomed =
          entry.opcode != Opcode.READ && device.faults().strikes(FaultPlan.Kind.SEND_ERROR);
    }
  }

  private boolean isNextDue() {
    if (next == queue.tail()) {
      return false;
    }
    WorkEntry entry = queue.entry(next);
    boolean mustBeAlone = entry.isOneSided() || entry.doomed || !entry.mayUseLocalMemory();
    if (mustBeAlone && head != next) {
      return false;
    }
    if (entry.dueNs == Network.NEVER) {
      return false;
    }
    return isPast(entry.dueNs) && isPast(resumeNs);
  }

  /** Whether a time is 0 or over; else there will be a turn when it is. */
  private boolean isPast(long atNs) {
    if (atNs == 0 || atNs - device.thread().nowNs() <= 0) {
      return true;
    }
    turnAt(atNs);
    return false;
  }

  private void turnAt(long atNs) {
    if (timer == null || timer.atNs() != atNs) {
      cancelTimer();
      timer =
          device
              .thread()
              .schedule(
                  atNs,
                  () -> {
                    timer = null;
                    device.thread().activate(queuePair);
                  });
    }
  }

  private void cancelTimer() {
    if (timer != null) {
      device.thread().cancel(timer);
      timer = null;
    }
  }

  // One-sided.

  private boolean oneSided(WorkEntry entry) {
    FaultPlan faults = device.faults();
    if (entry.progress == 0 && entry.opcode == Opcode.READ && faults.isActive()) {
      if (faults.strikes(FaultPlan.Kind.DROP_CONNECTION)) {
        queuePair.onFault("the fault plan dropped the connection");
        return false;
      }
      if (faults.strikes(FaultPlan.Kind.READ_ERROR)) {
        queuePair.fail(next, WorkStatus.REMOTE_OPERATION_ERROR);
        return false;
      }
    }
    WorkStatus status = step(entry);
    if (status != WorkStatus.SUCCESS) {
      queuePair.fail(next, status);
      return false;
    }
    if (entry.progress < entry.totalBytes) {
      return true;
    }
    if (entry.opcode == Opcode.WRITE_WITH_IMMEDIATE) {
      entry.written = true;
      return true;
    }
    if (entry.opcode == Opcode.READ && faults.isActive()) {
      long bit = faults.bitToFlip(entry.totalBytes);
      if (bit >= 0) {
        entry.flipBit(bit);
      }
    }
    next++;
    completeHead();
    signalInTime(entry.totalBytes);
    return true;
  }

  private WorkStatus step(WorkEntry entry) {
    if (!entry.mayUseLocalMemory()) {
      return WorkStatus.LOCAL_PROTECTION_ERROR;
    }
    return entry.totalBytes == 0
        ? WorkStatus.SUCCESS
        : device.oneSided().step(peer, peerNumber, entry);
  }

  private void signalInTime(long bytes) {
    bytesSinceSignal += bytes;
    if (bytesSinceSignal >= SIGNAL_BYTES) {
      bytesSinceSignal = 0;
      device.thread().signalNow();
    }
  }

  // Two-sided.

  private boolean beginMessage(WorkEntry entry) {
    if (!entry.mayUseLocalMemory()) {
      queuePair.fail(next, WorkStatus.LOCAL_PROTECTION_ERROR);
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
      queuePair.fail(next, WorkStatus.LOCAL_PROTECTION_ERROR);
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

  /** Puts what the peer must be told; false when the link is full. */
  private boolean putControl() {
    if (acknowledge == 0 && notReady == 0) {
      return true;
    }
    if (!link.hasRoomFor(2 * FrameHeader.BYTES)) {
      linkFull = true;
      return false;
    }
    if (acknowledge != 0) {
      link.putHeader(FrameHeader.ACKNOWLEDGE, 0, 0, acknowledge, 0, 0);
      acknowledge = 0;
    }
    if (notReady != 0) {
      link.putHeader(FrameHeader.NOT_READY, 0, 0, notReady, 0, 0);
      notReady = 0;
    }
    return true;
  }

  // What the peer says.

  /** The peer took all messages up to this one. */
  void onAcknowledged(long sequence) throws ProtocolException {
    checkSent(sequence);
    while (head < next) {
      WorkEntry entry = queue.entry(head);
      if (entry.sequence == 0 || entry.sequence > sequence) {
        break;
      }
      retriesLeft = retries;
      completeHead();
    }
    device.thread().activate(queuePair);
  }

  /** The peer had no receive for this message and dropped it and what came after. */
  void onNotReady(long sequence) throws ProtocolException {
    onAcknowledged(sequence - 1);
    if ((head == next && sending == null) || queue.entry(head).sequence != sequence) {
      throw new ProtocolException("refused what was not sent: sequence=" + sequence);
    }
    if (retries != RETRY_FOR_EVER) {
      if (retriesLeft == 0) {
        queuePair.fail(head, WorkStatus.RECEIVER_NOT_READY_RETRY_EXCEEDED);
        return;
      }
      retriesLeft--;
    }
    resumeNs = device.thread().nowNs() + device.settings().receiverNotReadyDelayNs();
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
    queuePair.fail(
        head, invalid ? WorkStatus.REMOTE_INVALID_REQUEST : WorkStatus.REMOTE_OPERATION_ERROR);
  }

  private void checkSent(long sequence) throws ProtocolException {
    if (sequence < 0 || sequence > lastSequence) {
      throw new ProtocolException("acknowledged what was not sent: sequence=" + sequence);
    }
  }

  // Completing.

  private void completeHead() {
    WorkEntry entry = queue.entry(head);
    if (entry.signalled) {
      queuePair.completeSend(head, entry);
    }
    entry.clear();
    head++;
  }

  /** Completes with an error what failed, and all that is posted as flushed. */
  void flush(long failed, WorkStatus status) {
    cancelTimer();
    sending = null;
    long tail = queue.tail();
    for (; head < tail; head++) {
      WorkEntry entry = queue.entry(head);
      queuePair.failSend(head, entry, head == failed ? status : WorkStatus.FLUSH_ERROR);
      entry.clear();
    }
    next = head;
    stamped = head;
  }

  /** Forgets all work without a word: the queue pair is destroyed. */
  void drop() {
    cancelTimer();
    sending = null;
    for (long tail = queue.tail(); head < tail; head++) {
      queue.entry(head).clear();
    }
    next = head;
    link = null;
    peer = null;
  }
}
