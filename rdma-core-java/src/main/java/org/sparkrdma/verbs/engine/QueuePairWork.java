// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.engine;

import java.util.Objects;
import org.sparkrdma.verbs.Opcode;
import org.sparkrdma.verbs.QueuePair;
import org.sparkrdma.verbs.QueuePairSettings;
import org.sparkrdma.verbs.QueuePairState;
import org.sparkrdma.verbs.WorkRequest;
import org.sparkrdma.verbs.WorkStatus;
import org.sparkrdma.verbs.device.Capability;
import org.sparkrdma.verbs.device.DeviceLimits;

/**
 * The work of an {@link EngineQueuePair}: the checks of what its owner posts, and the work that was
 * posted and whose completion was not yet shown. The device alone executes it. Once the queue pair
 * is broken, new work no longer goes to the device but waits for the flush.
 *
 * <p>The owner posts receives and polls. Where the device has {@link Capability#POST_BESIDE_POLL},
 * any thread may post sends, one at a time: a lock keeps it apart from the flush of a broken queue
 * pair and from the close, so that the device never gets work for a queue pair that it has
 * destroyed. Polling a queue pair that is not broken takes no lock.
 */
abstract class QueuePairWork implements QueuePair {
  /** Outcome for a completion of the device. */
  enum Outcome {
    /** It is not shown: its work was flushed before, or the queue pair is closed. */
    SUPPRESSED,
    /** It is shown. */
    SHOWN,
    /** Earlier work that the device left out is shown as flushed; offer this one again. */
    EARLIER_FLUSHED
  }

  /** Maximum number of sends posted with one call of the device. */
  protected static final int BATCH = 32;

  /** Set in the lower half of the request number of a receive. */
  protected static final int RECEIVE_BIT = 1 << 31;

  /** Held to post sends, to flush, and to enter {@link QueuePairState#DESTROYED}. */
  final Object posting = new Object();

  final EngineConnection connection;

  /** Sends, READs and WRITEs. */
  final WorkRing sends;

  final WorkRing receives;
  final EngineCompletionQueue sendCompletions;
  final EngineCompletionQueue receiveCompletions;

  /** Changed by {@link EngineQueuePair}. */
  volatile QueuePairState state = QueuePairState.INIT;

  /** The upper half of its request numbers; -1 before it is open. */
  volatile int tableKey = -1;

  private final EngineProtectionDomain domain;
  private final EngineDevice device;
  private final int number;
  private final QueuePairSettings settings;
  private final int maxReadSge;
  private final long maxMessageBytes;
  private final boolean hasImmediateData;

  /**
   * @param number as the device calls it
   */
  QueuePairWork(
      EngineProtectionDomain domain,
      EngineConnection connection,
      int number,
      QueuePairSettings settings) {
    this.domain = domain;
    this.connection = connection;
    this.number = number;
    this.settings = settings;
    device = domain.device();
    DeviceLimits limits = device.info().limits();
    hasImmediateData = device.info().can(Capability.SEND_WITH_IMMEDIATE);
    maxReadSge = Math.min(settings.maxSge(), limits.maxReadSge());
    maxMessageBytes = limits.maxMessageBytes();
    sends = new WorkRing(settings.sendDepth());
    receives = new WorkRing(settings.receiveDepth());
    sendCompletions = (EngineCompletionQueue) settings.sendQueue();
    receiveCompletions = (EngineCompletionQueue) settings.receiveQueue();
  }

  @Override
  public final int number() {
    return number;
  }

  /** What its owner has attached to the connection. */
  final Object attachment() {
    return connection.attachment();
  }

  @Override
  public final QueuePairState state() {
    return state;
  }

  final EngineProtectionDomain domain() {
    return domain;
  }

  final EngineDevice device() {
    return device;
  }

  /** Marks the queue pair, whose device does no more work, as broken and ends the connection. */
  protected abstract void fail(String reason);

  /** The upper half of its request numbers. */
  final int tableKey() {
    return tableKey;
  }

  /** The request number with that lower half. */
  protected final long requestNumber(int low) {
    return (long) tableKey << Integer.SIZE | Integer.toUnsignedLong(low);
  }

  // Posting: sends by any thread with the lock, receives by the owner.

  @Override
  public final boolean postSend(WorkRequest request) {
    synchronized (posting) {
      checkMaySend();
      checkSend(request);
      if (sends.room() == 0) {
        return false;
      }
      writeSend(0, request, requestNumber(sends.write(0, request)));
      return submit(1) == 1;
    }
  }

  @Override
  public final int postSend(WorkRequest[] requests, int offset, int count) {
    Objects.checkFromIndexSize(offset, count, requests.length);
    synchronized (posting) {
      checkMaySend();
      int posted = 0;
      boolean more = true;
      while (more && posted < count) {
        int batch = Math.min(Math.min(BATCH, sends.room()), count - posted);
        int submitted = postBatch(requests, offset + posted, batch);
        posted += submitted;
        more = submitted == batch && sends.room() > 0;
      }
      return posted;
    }
  }

  private int postBatch(WorkRequest[] requests, int offset, int count) {
    int written = 0;
    int submitted = 0;
    try {
      for (; written < count; written++) {
        WorkRequest request = requests[offset + written];
        checkSend(request);
        writeSend(written, request, requestNumber(sends.write(written, request)));
      }
    } finally {
      // The requests before an invalid one are posted; then the invalid one is reported.
      submitted = submit(written);
    }
    return submitted;
  }

  /** Number of the last {@code count} requests that the device, or the flush, has accepted. */
  private int submit(int count) {
    if (count == 0) {
      return 0;
    }
    boolean withDevice = state() == QueuePairState.READY_TO_SEND;
    sends.add(count, withDevice);
    int taken = withDevice ? submitSends(count) : count;
    return accepted(sends, sendCompletions, count, taken);
  }

  @Override
  public final boolean postReceive(WorkRequest request) {
    checkOpen();
    if (request.opcode() != Opcode.RECEIVE) {
      throw new IllegalArgumentException("not a receive: opcode=" + request.opcode());
    }
    checkElements(request, settings.maxSge(), true);
    if (receives.room() == 0) {
      return false;
    }
    long requestNumber = requestNumber(receives.write(0, request) | RECEIVE_BIT);
    boolean withDevice = state() != QueuePairState.ERROR;
    receives.add(1, withDevice);
    boolean taken = !withDevice || submitReceive(request, requestNumber);
    return accepted(receives, receiveCompletions, 1, taken ? 1 : 0) == 1;
  }

  /** The owner posts again what a full device has not taken; a broken queue pair flushes it. */
  private int accepted(WorkRing ring, EngineCompletionQueue queue, int count, int taken) {
    boolean flushes = state() == QueuePairState.ERROR;
    if (taken < count && flushes) {
      ring.onRefused(count - taken);
    } else if (taken < count) {
      ring.takeBack(count - taken);
    }
    if (flushes) {
      // Its owner may have found nothing to flush, and sleep.
      queue.signal();
      return count;
    }
    return taken;
  }

  /**
   * Prepares a send.
   *
   * @param i its index in the batch
   */
  protected abstract void writeSend(int i, WorkRequest request, long requestNumber);

  /**
   * Gives the prepared sends to the device; returns how many it has taken: fewer when it is full,
   * or after {@link EngineQueuePair#failPost}.
   */
  protected abstract int submitSends(int count);

  /** Gives a receive to the device; false when it is full, or after {@link #fail}. */
  protected abstract boolean submitReceive(WorkRequest request, long requestNumber);

  // Checks of what is posted.

  private void checkMaySend() {
    if (state() == QueuePairState.INIT || state() == QueuePairState.DESTROYED) {
      throw new IllegalStateException("not connected: state=" + state());
    }
  }

  final void checkOpen() {
    if (state() == QueuePairState.DESTROYED) {
      throw new IllegalStateException("queue pair is closed");
    }
  }

  private void checkSend(WorkRequest request) {
    Opcode opcode = request.opcode();
    if (opcode == null || opcode == Opcode.RECEIVE) {
      throw new IllegalArgumentException("not a send, read or write: opcode=" + opcode);
    }
    if (!hasImmediateData
        && (opcode == Opcode.WRITE_WITH_IMMEDIATE || opcode == Opcode.SEND_WITH_IMMEDIATE)) {
      throw new IllegalArgumentException("the device has no immediate data: opcode=" + opcode);
    }
    checkElements(request, opcode == Opcode.READ ? maxReadSge : settings.maxSge(), false);
  }

  private void checkElements(WorkRequest request, int limit, boolean written) {
    int count = request.elementCount();
    if (count > limit || request.totalBytes() > maxMessageBytes) {
      throw new IllegalArgumentException(
          "exceeds the limit: elements="
              + (count + " limit=" + limit)
              + (" lengthBytes=" + request.totalBytes() + " limit=" + maxMessageBytes));
    }
    if (count == 1) {
      // Apart from the loop, which costs more than the check.
      checkElement(request, 0, written);
    } else {
      for (int i = 0; i < count; i++) {
        checkElement(request, i, written);
      }
    }
  }

  private void checkElement(WorkRequest request, int i, boolean written) {
    if (!(request.region(i) instanceof EngineRegion region) || region.domain() != domain) {
      throw new IllegalArgumentException("memory of another protection domain: element=" + i);
    }
    if (written && !region.isLocallyWritable()) {
      throw new IllegalArgumentException("memory without LOCAL_WRITE: element=" + i);
    }
  }

  // Showing completions, by the owner.

  /** Shows a completion of the device, to which the owner's request is added. */
  final Outcome show(CompletionView view) {
    int low = (int) view.requestNumber();
    boolean ofSend = (low & RECEIVE_BIT) == 0;
    WorkRing ring = ofSend ? sends : receives;
    long position = ring.find(low & ~RECEIVE_BIT);
    if (position < 0 || state() == QueuePairState.DESTROYED) {
      return Outcome.SUPPRESSED;
    }
    if (view.isFailure()) {
      if (state() != QueuePairState.ERROR) {
        fail(view.failure());
      }
      if (ring.head() < position && device.driver().has(KernelDriver.Quirk.FAILS_SILENTLY)) {
        showFlushed(ring, view);
        return Outcome.EARLIER_FLUSHED;
      }
    } else if (ofSend) {
      view.setSend(ring.opcode(position), ring.length(position));
    }
    view.setRequest(ring.id(position), this);
    ring.free(position);
    return Outcome.SHOWN;
  }

  /** Shows the oldest work of a ring as flushed. */
  final void showFlushed(WorkRing ring, CompletionView view) {
    view.setStatus(WorkStatus.FLUSH_ERROR, 0);
    view.setRequest(ring.id(ring.head()), this);
    ring.free(ring.head());
  }
}
