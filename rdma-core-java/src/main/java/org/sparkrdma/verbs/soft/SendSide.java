// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.soft;

import java.util.concurrent.atomic.AtomicLong;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.sparkrdma.verbs.Opcode;
import org.sparkrdma.verbs.QueuePairSettings;
import org.sparkrdma.verbs.VerbsException;
import org.sparkrdma.verbs.WorkRequest;
import org.sparkrdma.verbs.WorkStatus;
import org.sparkrdma.verbs.engine.RegionAccess;
import org.sparkrdma.verbs.soft.shared.SharedReceives;
import org.sparkrdma.verbs.soft.shared.SharedTable;

/**
 * Executes a queue pair's send queue in order, and completes it in order. Guarded by the lock of
 * the device.
 *
 * <p>A READ or WRITE is a copy from or to the peer's memory, see {@link RemoteDevice#copy}. A SEND
 * is a copy into the memory of the peer's next posted receive, see {@link SharedReceives}. It is
 * complete when it is delivered there, and wakes the peer through the socket only if that sleeps.
 * When the peer has posted no receive, this side waits for the receiver-not-ready delay and looks
 * again, as often as the connection's parameters allow; the requests behind it wait too.
 */
final class SendSide {
  private static final Logger LOG = LoggerFactory.getLogger(SendSide.class);

  /** Maximum length of a copy of the thread that posts. */
  private static final int SHORT_BYTES = 1 << 16;

  /** Delay before a message is sent again whose receiver was not ready. */
  private static final long RECEIVER_NOT_READY_NS = 1_000_000;

  private static final int TURN_REQUESTS = 64;

  /** Value for no limit of retries in the InfiniBand specification. */
  private static final int WITHOUT_LIMIT = 7;

  private final SoftQueuePair queuePair;
  private final WorkEntry[] entries;
  private final int mask;
  private final DeviceLoop loop;
  private final FaultPlan faults;
  private final long latencyNs;

  /** Null before the connection is established, and after its end. */
  private SoftEndpoint endpoint;

  private RemoteDevice peer;
  private int peerNumber;
  private SharedReceives receives;
  private long delivered;
  private int maxRetries;
  private int retriesLeft;

  /** Number of requests written; confined to the owner. */
  private long written;

  /** Number of requests submitted; written by the owner. */
  private final AtomicLong tail = new AtomicLong();

  /** Number of requests completed. */
  private long head;

  /** Number of requests whose due time is set. */
  private long stamped;

  /** Time before which nothing runs, and whether a turn is scheduled for a time. */
  private long resumeNs = System.nanoTime();

  private long scheduledNs;
  private boolean isScheduled;

  SendSide(SoftQueuePair queuePair, QueuePairSettings settings, SoftDevice device)
      throws VerbsException {
    this.queuePair = queuePair;
    loop = device.loop;
    faults = device.faults;
    latencyNs = device.settings.latencyNs();
    entries = new WorkEntry[ringSize(settings.sendDepth())];
    mask = entries.length - 1;
    for (int i = 0; i < entries.length; i++) {
      entries[i] = new WorkEntry(settings.maxSge());
    }
  }

  /** The power of two for at least that many entries. */
  static int ringSize(int depth) {
    return Integer.highestOneBit(Math.max(1, depth * 2 - 1));
  }

  // Called by the owner, for whose work there is room.

  void write(WorkRequest request) {
    entry(written++).fill(request);
  }

  /** Shows the last {@code count} requests that were written to the device. */
  void submit(int count) {
    tail.setRelease(tail.getPlain() + count);
  }

  // Called with the lock of the device.

  private WorkEntry entry(long position) {
    return entries[(int) position & mask];
  }

  /** The connection is established: work may begin. */
  void onEstablished(SoftEndpoint established, int receiverNotReadyRetries) {
    endpoint = established;
    peer = endpoint.peer();
    peerNumber = endpoint.peerNumber();
    receives = endpoint.peerReceives();
    maxRetries = receiverNotReadyRetries;
    retriesLeft = maxRetries;
  }

  /** One turn, see {@link SoftQueuePair#run}; true when it needs another one. */
  boolean run(boolean posting) {
    if (endpoint == null) {
      return false;
    }
    int requests = 0;
    long bytes = 0;
    for (long end = stamp(); head < end; end = stamp()) {
      WorkEntry entry = entry(head);
      if (entry.hangs || !isPast(entry.dueNs) || !isPast(resumeNs)) {
        return false;
      }
      if (requests++ == TURN_REQUESTS
          || bytes >= RemoteDevice.PIECE_BYTES
          || (posting && entry.totalBytes > SHORT_BYTES)) {
        return true;
      }
      bytes += entry.totalBytes;
      if (!execute(entry)) {
        return false;
      }
    }
    return false;
  }

  /** One step of a request; false when the turn ends. */
  private boolean execute(WorkEntry entry) {
    if (entry.mustFail) {
      return fail(WorkStatus.REMOTE_OPERATION_ERROR);
    }
    if (!entry.mayUseLocalMemory()) {
      return fail(WorkStatus.LOCAL_PROTECTION_ERROR);
    }
    return entry.isOneSided() ? oneSided(entry) : message(entry);
  }

  private boolean fail(WorkStatus status) {
    entry(head).signalled = true;
    complete(status);
    queuePair.fail();
    return false;
  }

  /** Completes the oldest request, when that is signalled. */
  private void complete(WorkStatus status) {
    WorkEntry entry = entry(head);
    // Before: as soon as the owner polls the completion it may fill the entry again.
    boolean signalled = entry.signalled;
    entry.clear();
    long position = head++;
    if (signalled) {
      queuePair.completeSend(position, status);
    }
  }

  // READ and WRITE.

  private boolean oneSided(WorkEntry entry) {
    boolean read = entry.opcode == Opcode.READ;
    if (read && entry.progress == 0 && faults.isActive()) {
      if (faults.fires(FaultPlan.Kind.DROP_CONNECTION)) {
        LOG.debug("Dropping the connection by the fault plan: queuePair={}", queuePair.number());
        queuePair.fail();
        return false;
      }
      if (faults.fires(FaultPlan.Kind.READ_ERROR)) {
        return fail(WorkStatus.REMOTE_OPERATION_ERROR);
      }
    }
    if (entry.totalBytes > 0) {
      WorkStatus status =
          peer.copy(
              peerNumber,
              entry,
              entry.remoteKey,
              entry.remoteAddress + entry.progress,
              entry.totalBytes - entry.progress,
              read ? RegionAccess.REMOTE_READ : RegionAccess.REMOTE_WRITE);
      if (status != WorkStatus.SUCCESS) {
        return fail(status);
      }
    }
    if (entry.progress == entry.totalBytes) {
      if (entry.opcode == Opcode.WRITE_WITH_IMMEDIATE) {
        entry.written = true;
      } else {
        long bit = read && faults.isActive() ? faults.bitToFlip(entry.totalBytes) : -1;
        if (bit >= 0) {
          entry.flipBit(bit);
        }
        complete(WorkStatus.SUCCESS);
      }
    }
    return true;
  }

  // SEND.

  private boolean message(WorkEntry entry) {
    if (!receives.isPosted(delivered)) {
      return awaitReceive();
    }
    retriesLeft = maxRetries;
    long payload = entry.written ? 0 : entry.totalBytes;
    if (payload > receives.receiveBytes(delivered)) {
      receives.publish(delivered, SharedReceives.TOO_LONG);
      wakePeer();
      return fail(WorkStatus.REMOTE_INVALID_REQUEST);
    }
    WorkStatus status = payload == 0 ? peer.check(peerNumber) : place(entry);
    if (status == WorkStatus.RETRY_EXCEEDED || status == WorkStatus.LOCAL_PROTECTION_ERROR) {
      return fail(status);
    }
    if (status != WorkStatus.SUCCESS) {
      receives.publish(delivered, SharedReceives.NOT_REGISTERED);
      wakePeer();
      return fail(WorkStatus.REMOTE_OPERATION_ERROR);
    }
    if (entry.written || entry.progress == entry.totalBytes) {
      int flags =
          (entry.opcode == Opcode.SEND ? 0 : SharedReceives.WITH_IMMEDIATE)
              | (entry.written ? SharedReceives.WRITTEN : 0);
      receives.deliver(delivered, entry.totalBytes, flags, entry.immediate);
      delivered++;
      wakePeer();
      complete(WorkStatus.SUCCESS);
    }
    return true;
  }

  /** Copies the next bytes of a message into the element of the receive that they belong to. */
  private WorkStatus place(WorkEntry entry) {
    long offset = entry.progress;
    int i = 0;
    while (i < receives.elements(delivered) && offset >= receives.length(delivered, i)) {
      offset -= receives.length(delivered, i);
      i++;
    }
    if (i >= receives.elements(delivered)) {
      return WorkStatus.REMOTE_OPERATION_ERROR;
    }
    return peer.copy(
        peerNumber,
        entry,
        receives.key(delivered, i),
        receives.address(delivered, i) + offset,
        receives.length(delivered, i) - offset,
        RegionAccess.LOCAL_WRITE);
  }

  private boolean awaitReceive() {
    if (maxRetries != WITHOUT_LIMIT && retriesLeft-- == 0) {
      return fail(WorkStatus.RECEIVER_NOT_READY_RETRY_EXCEEDED);
    }
    resumeNs = loop.nowNs() + RECEIVER_NOT_READY_NS;
    return isPast(resumeNs);
  }

  private void wakePeer() {
    peer.table.ring(SharedTable.queuePairIndex(peerNumber));
    if (peer.table.tryClaimWake()) {
      endpoint.wakePeer();
    }
  }

  // Times at which requests may run.

  /**
   * Sets for each request posted since the last call its due time, and whether it must fail.
   *
   * @return the number of requests submitted
   */
  private long stamp() {
    long end = tail.getAcquire();
    for (; stamped < end; stamped++) {
      WorkEntry entry = entry(stamped);
      boolean read = entry.opcode == Opcode.READ;
      entry.dueNs = loop.nowNs() + latencyNs;
      if (faults.isActive()) {
        entry.hangs = faults.fires(read ? FaultPlan.Kind.HANG : FaultPlan.Kind.SEND_HANG);
        entry.dueNs += read && !entry.hangs ? faults.delayNs() : 0;
        entry.mustFail = !read && faults.fires(FaultPlan.Kind.SEND_ERROR);
      }
    }
    return end;
  }

  /** Whether it is that time. If not, schedules a turn for it. */
  private boolean isPast(long atNs) {
    if (atNs - loop.nowNs() <= 0) {
      return true;
    }
    if (!isScheduled || atNs - scheduledNs < 0) {
      isScheduled = true;
      scheduledNs = atNs;
      loop.schedule(atNs, this::onTimer);
    }
    return false;
  }

  private void onTimer() {
    isScheduled = false;
    loop.activate(queuePair);
  }

  /** Drops all work without completions. */
  void drop() {
    for (long end = tail.getAcquire(); head < end; head++) {
      entry(head).clear();
    }
    stamped = head;
    endpoint = null;
    peer = null;
    receives = null;
  }
}
