// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.soft;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.sparkrdma.verbs.Opcode;
import org.sparkrdma.verbs.WorkStatus;

/**
 * Executes the one-sided operations of a {@link SendSide} in steps, with injected faults. Confined
 * to the device thread.
 */
final class OneSidedTurn {
  /** Result of one step. */
  enum Outcome {
    /** The queue pair has failed. */
    FAILED,
    /** Another step follows. */
    CONTINUES,
    /** Another copy is in progress. */
    BUSY,
    /** It cannot run before all earlier requests have completed. */
    WAITS,
    /** The operation is complete; its completion is not written yet. */
    COMPLETE
  }

  private static final Logger LOG = LoggerFactory.getLogger(OneSidedTurn.class);
  private static final int SIGNAL_BYTES = 1 << 18;

  private final SoftQueuePair queuePair;
  private final SoftContext context;
  private final ReadFaults readFaults;
  private SoftPeer peer;
  private int peerNumber;
  private long bytesSinceSignal;

  OneSidedTurn(SoftQueuePair queuePair, SoftContext context) {
    this.queuePair = queuePair;
    this.context = context;
    readFaults = new ReadFaults(context.faults());
  }

  /** The connection is established: operations may begin. */
  void onEstablished(SoftPeer remote, int remoteNumber) {
    peer = remote;
    peerNumber = remoteNumber;
  }

  /** The queue pair is destroyed. */
  void drop() {
    peer = null;
  }

  /**
   * One step of an operation.
   *
   * @param position of the entry in the send queue
   */
  Outcome run(WorkEntry entry, long position) {
    if (!context.loop().mayCopy()) {
      return Outcome.BUSY;
    }
    if (readFaults.tryDropConnection(entry)) {
      LOG.debug("Dropping the connection by the fault plan: queuePair={}", queuePair.number());
      queuePair.fail();
      return Outcome.FAILED;
    }
    if (readFaults.tryFail(entry)) {
      queuePair.failSend(position, WorkStatus.REMOTE_OPERATION_ERROR);
      return Outcome.FAILED;
    }
    WorkStatus status = step(entry);
    if (status != WorkStatus.SUCCESS) {
      queuePair.failSend(position, status);
      return Outcome.FAILED;
    }
    if (entry.progress < entry.totalBytes) {
      return Outcome.CONTINUES;
    }
    if (entry.opcode == Opcode.WRITE_WITH_IMMEDIATE) {
      entry.written = true;
      return Outcome.CONTINUES;
    }
    readFaults.corrupt(entry);
    return Outcome.COMPLETE;
  }

  /**
   * One step of a READ while earlier messages are not acknowledged. One that fails is executed
   * again when all before it has completed, so that its failure does not overtake them.
   */
  Outcome runAhead(WorkEntry entry) {
    if (!context.loop().mayCopy()) {
      return Outcome.BUSY;
    }
    if (step(entry) != WorkStatus.SUCCESS) {
      entry.progress = 0;
      return Outcome.WAITS;
    }
    return entry.progress < entry.totalBytes ? Outcome.CONTINUES : Outcome.COMPLETE;
  }

  /** Whether READs may be executed while earlier messages are not acknowledged. */
  boolean mayRunAhead() {
    return !context.faults().isActive();
  }

  private WorkStatus step(WorkEntry entry) {
    if (!entry.mayUseLocalMemory()) {
      return WorkStatus.LOCAL_PROTECTION_ERROR;
    }
    return entry.totalBytes == 0
        ? WorkStatus.SUCCESS
        : context.oneSided().step(queuePair, peer, peerNumber, entry);
  }

  /** Wakes the owners of completion queues before much more is transferred. */
  void signalInTime(long bytes) {
    bytesSinceSignal += bytes;
    if (bytesSinceSignal >= SIGNAL_BYTES) {
      bytesSinceSignal = 0;
      context.loop().signalNow();
    }
  }
}
