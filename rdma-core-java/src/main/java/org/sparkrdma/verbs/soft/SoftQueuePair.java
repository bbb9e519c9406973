// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.soft;

import java.io.IOException;
import java.util.Set;
import java.util.concurrent.atomic.AtomicLong;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.sparkrdma.verbs.AccessFlag;
import org.sparkrdma.verbs.QueuePairSettings;
import org.sparkrdma.verbs.QueuePairState;
import org.sparkrdma.verbs.VerbsException;
import org.sparkrdma.verbs.WorkRequest;
import org.sparkrdma.verbs.WorkStatus;
import org.sparkrdma.verbs.engine.EngineQueuePair;
import org.sparkrdma.verbs.engine.EngineRegion;
import org.sparkrdma.verbs.engine.RegionAccess;
import org.sparkrdma.verbs.soft.shared.PrivateFiles;
import org.sparkrdma.verbs.soft.shared.SharedDirectory;
import org.sparkrdma.verbs.soft.shared.SharedReceives;
import org.sparkrdma.verbs.soft.shared.SharedTable;

/**
 * A queue pair: sends that its owner posts and {@link SendSide} executes, and receives, into whose
 * memory the peer writes its messages.
 *
 * <p>Sends are executed and receives completed under the lock of the device. Its entry in the
 * shared table, by which peers may access memory, exists from the connection's set-up until it
 * fails or is closed.
 */
final class SoftQueuePair extends EngineQueuePair {
  private static final Logger LOG = LoggerFactory.getLogger(SoftQueuePair.class);

  /** Whether it waits for a turn; guarded by the lock of the device. */
  boolean active;

  private final SoftDevice device;
  private final SoftCompletionQueue sendCompletions;
  private final SoftCompletionQueue receiveCompletions;
  private final SharedReceives sharedReceives;
  private final int index;
  private final int domainId;
  private final SendSide sendSide;

  /** Lengths of the posted receives, which the peer cannot change. */
  private final long[] receiveBytes;

  /** Number of posted receives; written by the owner. */
  private final AtomicLong postedReceives = new AtomicLong();

  // Guarded by the lock of the device.
  private long completedReceives;

  /** The end of its connection; null before the set-up. */
  private SoftEndpoint endpoint;

  private boolean established;
  private boolean failed;
  private int access;
  private boolean published;

  SoftQueuePair(
      SoftDevice device,
      SoftProtectionDomain domain,
      SoftConnection connection,
      int number,
      QueuePairSettings settings)
      throws IOException, VerbsException {
    super(domain, connection, number, settings);
    this.device = device;
    sendCompletions = (SoftCompletionQueue) settings.sendQueue();
    receiveCompletions = (SoftCompletionQueue) settings.receiveQueue();
    sendSide = new SendSide(this, settings, device);
    receiveBytes = new long[SendSide.ringSize(settings.receiveDepth())];
    sharedReceives =
        SharedReceives.create(
            SharedDirectory.receives(device.directory.path(), number),
            receiveBytes.length,
            settings.maxSge());
    index = SharedTable.queuePairIndex(number);
    domainId = domain.id();
    access = RegionAccess.bits(settings.remoteAccess());
    setKeepsWork(true);
    device.loop.call(() -> device.loop.setQueuePair(index, this));
  }

  /** Its index in the shared table. */
  int index() {
    return index;
  }

  // Called by the owner.

  @Override
  protected void writeSend(int i, WorkRequest request, long requestNumber) {
    sendSide.write(request);
  }

  @Override
  protected int submitSends(int count) {
    sendSide.submit(count);
    device.loop.ring(this);
    return count;
  }

  @Override
  protected boolean submitReceive(WorkRequest request, long requestNumber) {
    long position = postedReceives.getPlain();
    for (int i = 0; i < request.elementCount(); i++) {
      var region = (EngineRegion) request.region(i);
      sharedReceives.setElement(
          position,
          i,
          region.address() + request.offset(i),
          request.length(i),
          region.remote().remoteKey32());
    }
    receiveBytes[(int) position & (receiveBytes.length - 1)] = request.totalBytes();
    // Counted before the peer can find it: its message may arrive at once.
    postedReceives.setRelease(position + 1);
    sharedReceives.post(position, request.elementCount(), request.totalBytes());
    return true;
  }

  /** Returns when no peer uses access any more that is taken back. */
  @Override
  protected void changeRemoteAccess(Set<AccessFlag> newAccess) {
    int granted = RegionAccess.bits(newAccess);
    // Only the owner changes it.
    boolean takesBack = (access & ~granted) != 0;
    device.loop.call(
        () -> {
          access = granted;
          device.table.setQueuePairAccess(index, granted);
        });
    if (takesBack) {
      device.onRetired(device.table.awaitQueuePairReaders(index));
    }
  }

  /** See ibv_destroy_qp(3); returns when no peer uses its access any more. */
  void destroy() {
    device.loop.call(
        () -> {
          device.loop.setQueuePair(index, null);
          fail();
        });
    device.onRetired(device.table.awaitQueuePairReaders(index));
  }

  @Override
  protected void free() {
    PrivateFiles.delete(SharedDirectory.receives(device.directory.path(), number()));
    device.queuePairNumbers.release(number());
  }

  // Called with the lock of the device.

  /** Belongs to this end of a connection from now on: each of them ends with the other. */
  void attach(SoftEndpoint end) {
    endpoint = end;
  }

  /** The connection is established: sends may be posted. False when the queue pair is broken. */
  boolean tryMarkReady() {
    return setReady();
  }

  /** Allows peers' operations. */
  void publish() {
    if (!failed) {
      published = true;
      device.table.publishQueuePair(index, number(), domainId, access);
    }
  }

  /** The connection is established: work may begin. */
  void onEstablished(int receiverNotReadyRetries) {
    established = true;
    sendSide.onEstablished(endpoint, receiverNotReadyRetries);
    onArrival();
    device.loop.activate(this);
  }

  /** The peer has delivered messages. */
  void onArrival() {
    if (established && !failed && !completeReceives()) {
      fail();
    }
  }

  /** Completes the receives with a message; false after one that could not be received. */
  private boolean completeReceives() {
    while (!device.loop.hasEnded()
        && completedReceives < postedReceives.getAcquire()
        && sharedReceives.isDelivered(completedReceives)) {
      long position = completedReceives++;
      WorkStatus status =
          sharedReceives.status(position, receiveBytes[(int) position & (receiveBytes.length - 1)]);
      complete(
          receiveCompletions,
          receiveCompletions.add(
              requestNumber((int) position | RECEIVE_BIT),
              status,
              sharedReceives.messageBytes(position),
              sharedReceives.flags(position),
              sharedReceives.immediate(position)));
      if (status != WorkStatus.SUCCESS) {
        return false;
      }
    }
    return true;
  }

  /** A send completes. */
  void completeSend(long position, WorkStatus status) {
    complete(
        sendCompletions,
        sendCompletions.add(requestNumber((int) position & ~RECEIVE_BIT), status, 0, 0, 0));
  }

  private void complete(SoftCompletionQueue queue, boolean added) {
    if (!added && !failed) {
      LOG.debug("Completion queue is overrun: capacity={}", queue.capacity());
      // Not from inside the loop that completes work.
      device.loop.schedule(device.loop.nowNs(), this::fail);
    }
  }

  /**
   * One turn; true when it needs another one.
   *
   * @param posting whether the caller is posting, and leaves long copies to threads that poll
   */
  boolean run(boolean posting) {
    try {
      return !failed && state() == QueuePairState.READY_TO_SEND && sendSide.run(posting);
    } catch (RuntimeException e) {
      LOG.error("Unexpected failure in soft device: queuePair={}", number(), e);
      fail();
      return false;
    }
  }

  /**
   * The connection ended, work failed, or it is closed: ends all work. It is broken only when its
   * completions are all there, because the owner's next poll flushes the rest behind them.
   */
  void fail() {
    if (failed) {
      return;
    }
    failed = true;
    if (published) {
      device.table.retireQueuePair(index);
    }
    completeReceives();
    sendSide.drop();
    markBroken();
    setKeepsWork(false);
    if (endpoint != null) {
      endpoint.onEnded("the queue pair is in error");
    }
  }
}
