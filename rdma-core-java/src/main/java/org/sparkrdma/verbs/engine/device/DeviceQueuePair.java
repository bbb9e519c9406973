// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.engine.device;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.sparkrdma.verbs.CompletionQueue;
import org.sparkrdma.verbs.Opcode;
import org.sparkrdma.verbs.QueuePairSettings;
import org.sparkrdma.verbs.QueuePairState;
import org.sparkrdma.verbs.VerbsException;
import org.sparkrdma.verbs.WorkStatus;
import org.sparkrdma.verbs.device.Capability;
import org.sparkrdma.verbs.engine.CloseFailures;
import org.sparkrdma.verbs.engine.CompletionView;
import org.sparkrdma.verbs.engine.EngineProtectionDomain;
import org.sparkrdma.verbs.engine.EngineQueuePair;

/**
 * A queue pair of a real device: the work that was posted and whose completion was not yet shown.
 *
 * <p>The device alone executes work. Once the queue pair is broken, new work no longer goes to the
 * device but is flushed here. Work that the device has and does not complete within the flush
 * time-out is flushed here too, since not every device completes all of it; a completion that
 * arrives after that is suppressed.
 *
 * <p>The owner posts, polls and closes it. Another thread may break it at any time, and may close
 * it once the owner no longer uses it.
 */
public abstract class DeviceQueuePair extends EngineQueuePair {
  private static final Logger LOG = LoggerFactory.getLogger(DeviceQueuePair.class);

  /** Outcome for a completion of the device. */
  public enum Outcome {
    /** It is not shown: its work was flushed before, or the queue pair is closed. */
    SUPPRESSED,
    /** It is shown. */
    SHOWN,
    /** Earlier work that the device left out is shown as flushed; offer this one again. */
    EARLIER_FLUSHED
  }

  /** Set in the lower half of the request number of a receive. */
  protected static final int RECEIVE_BIT = 1 << 31;

  private static final int RECEIVED_WITH_WRITE = 129;
  private static final int WITH_IMMEDIATE = 2;

  private final RdmaCmConnection<?> connection;
  private final QueuePairTable<?> table;
  private final int name;

  /** Sends, READs and WRITEs. */
  protected final WorkRing sends;

  protected final WorkRing receives;

  private final DeviceCompletionQueue sendCompletions;
  private final DeviceCompletionQueue receiveCompletions;
  private final long flushTimeoutNs;
  private final boolean mayFailSilently;
  private final Object closing = new Object();
  private volatile long brokenAtNs;
  private volatile boolean keepsWork;
  private boolean receivesFlushed;

  /**
   * @param name the upper half of its request numbers, taken from the device's table
   * @param number as the device calls it
   */
  protected DeviceQueuePair(
      RdmaDevice<?, ?> device,
      EngineProtectionDomain domain,
      RdmaCmConnection<?> connection,
      int name,
      int number,
      QueuePairSettings settings) {
    super(
        domain,
        number,
        settings,
        device.info().limits(),
        device.info().can(Capability.SEND_WITH_IMMEDIATE));
    this.connection = connection;
    this.name = name;
    table = device.queuePairs();
    flushTimeoutNs = device.flushTimeoutNs();
    mayFailSilently = device.driver().mayFailSilently();
    sends = new WorkRing(settings.sendDepth());
    receives = new WorkRing(settings.receiveDepth());
    sendCompletions = (DeviceCompletionQueue) settings.sendQueue();
    receiveCompletions = (DeviceCompletionQueue) settings.receiveQueue();
  }

  /** Not in the constructor: a subclass whose constructor fails is not closed. */
  @Override
  protected final void onCreated() {
    sendCompletions.retain();
    receiveCompletions.retain();
  }

  /** The upper half of its request numbers. */
  final int name() {
    return name;
  }

  /** The request number with that lower half. */
  protected final long requestNumber(int low) {
    return (long) name << Integer.SIZE | Integer.toUnsignedLong(low);
  }

  /** Whether its sends or receives complete in that queue. */
  public final boolean completesIn(DeviceCompletionQueue queue) {
    return sendCompletions == queue || receiveCompletions == queue;
  }

  // Posting, by the owner.

  /** Work was posted to the broken queue pair: wakes the owner, whose next poll flushes it. */
  protected final void signalFlush(WorkRing ring) {
    (ring == sends ? sendCompletions : receiveCompletions).signal();
  }

  // Showing completions, by the owner.

  /** Shows that a send succeeded. */
  protected final Outcome showSend(long position, CompletionView view) {
    view.setSuccess(sends.id(position), number(), sends.opcode(position), sends.length(position));
    sends.free(position);
    return Outcome.SHOWN;
  }

  /** Shows that a receive succeeded; the other parameters are the fields of ibv_wc. */
  protected final Outcome showReceive(
      long position, int opcode, int lengthBytes, int flags, int immediate, CompletionView view) {
    view.setSuccess(
        receives.id(position),
        number(),
        opcode == RECEIVED_WITH_WRITE ? Opcode.RECEIVE_WRITE_WITH_IMMEDIATE : Opcode.RECEIVE,
        Integer.toUnsignedLong(lengthBytes));
    if ((flags & WITH_IMMEDIATE) != 0) {
      view.setImmediate(Integer.reverseBytes(immediate));
    }
    receives.free(position);
    return Outcome.SHOWN;
  }

  /** Breaks the queue pair and shows that work failed, after earlier work that failed silently. */
  protected final Outcome showFailure(
      WorkRing ring, long position, int code, int vendorError, CompletionView view) {
    WorkStatus status = StatusCodes.of(code);
    if (state() != QueuePairState.ERROR) {
      fail("work failed: status=" + status + " vendorError=" + vendorError);
    }
    if (ring.head() < position && mayFailSilently) {
      showFlushed(ring, view);
      return Outcome.EARLIER_FLUSHED;
    }
    view.setFailure(ring.id(position), number(), status, vendorError);
    ring.free(position);
    return Outcome.SHOWN;
  }

  private void showFlushed(WorkRing ring, CompletionView view) {
    view.setFailure(ring.id(ring.head()), number(), WorkStatus.FLUSH_ERROR, 0);
    ring.free(ring.head());
  }

  /**
   * Flushes the oldest work of a broken queue pair that the device never got, or has had for longer
   * than the flush time-out. Called by the thread that polls that queue.
   *
   * @return whether there was any; the view shows it then
   */
  final boolean flushOne(CompletionQueue queue, long nowNs, CompletionView view) {
    if (sendCompletions == queue && flushOne(sends, nowNs, view)) {
      return true;
    }
    boolean flushed = receiveCompletions == queue && flushOne(receives, nowNs, view);
    receivesFlushed |= flushed;
    return flushed;
  }

  /** {@code flushOne} for a single ring. */
  private boolean flushOne(WorkRing ring, long nowNs, CompletionView view) {
    if (state() != QueuePairState.ERROR
        || ring.isEmpty()
        || (ring.isWithDevice() && (keepsWork || nowNs - brokenAtNs < flushTimeoutNs))) {
      return false;
    }
    showFlushed(ring, view);
    return true;
  }

  /** Whether any receive was flushed here: later completions of receives are suppressed. */
  protected final boolean areReceivesFlushed() {
    return receivesFlushed;
  }

  /**
   * Time at which work that the device has and that completes in this queue will be flushed;
   * Long.MAX_VALUE when there is none.
   */
  final long flushDeadlineNs(CompletionQueue queue) {
    boolean hasWork =
        (sendCompletions == queue && !sends.isEmpty())
            || (receiveCompletions == queue && !receives.isEmpty());
    return hasWork && !keepsWork ? brokenAtNs + flushTimeoutNs : Long.MAX_VALUE;
  }

  // The state, on any thread.

  /** Marks the queue pair, whose device does no more work, as broken and ends the connection. */
  protected final void fail(String reason) {
    if (markBroken()) {
      LOG.debug("Queue pair is broken: queuePair={} reason={}", number(), reason);
      connection.onQueuePairBroken(reason);
    }
  }

  /** Marks the queue pair as broken, without ending the connection: false when it already was. */
  final boolean markBroken() {
    if (!setBroken()) {
      return false;
    }
    sendCompletions.onBroken(this);
    if (receiveCompletions != sendCompletions) {
      receiveCompletions.onBroken(this);
    }
    return true;
  }

  /** The device does not flush: only its own completions, or its destruction, free the work. */
  protected final void keepWork() {
    keepsWork = true;
  }

  @Override
  protected final void onBreaking() {
    brokenAtNs = System.nanoTime();
  }

  /** The connection is established: sends may be posted. */
  public void markReady() throws VerbsException {
    setReady();
  }

  /** A second close waits for the end of the first. */
  @Override
  public final void close() {
    synchronized (closing) {
      if (setDestroyed()) {
        // Each step also when another fails, since a later close does nothing.
        var failures = new CloseFailures();
        failures.run(this::onDestroyed);
        // Its work is not flushed any more, even where the device destroys it later.
        sendCompletions.onClosing(this);
        receiveCompletions.onClosing(this);
        failures.run(() -> connection.onQueuePairClosed(this::release));
        failures.throwFirst();
      }
    }
  }

  /** The device has destroyed it, or failed to: queues, domain and name may be used again. */
  private void release() {
    var failures = new CloseFailures();
    table.release(name);
    sendCompletions.onDestroyed(this);
    receiveCompletions.onDestroyed(this);
    failures.run(this::free);
    leaveDomain();
    failures.throwFirst();
  }

  /** Called once at close, while the device still has the queue pair. */
  protected void onDestroyed() {}

  /** Frees its native memory; called once at close, when the device has destroyed it. */
  protected abstract void free();
}
