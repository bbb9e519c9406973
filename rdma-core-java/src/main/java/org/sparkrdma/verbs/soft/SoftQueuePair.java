// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.soft;

import java.io.IOException;
import java.util.Set;
import java.util.concurrent.atomic.AtomicBoolean;
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
import org.sparkrdma.verbs.soft.shared.SharedReceives;
import org.sparkrdma.verbs.soft.shared.SharedTable;
import org.sparkrdma.verbs.soft.wire.Link;

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

  /** Next in the device's list of doorbells. */
  SoftQueuePair nextRung;

  /** Whether it waits for a turn; guarded by the lock of the device. */
  boolean active;

  private final SoftContext context;
  private final SoftCompletionQueue sendCompletions;
  private final SoftCompletionQueue receiveCompletions;
  private final SharedReceives sharedReceives;
  private final SharedTable table;
  private final int index;
  private final int domainId;
  private final SendSide sendSide;
  private final AtomicBoolean rung = new AtomicBoolean();
  private final Object publishing = new Object();

  /** Lengths of the posted receives, which the peer cannot change. */
  private final long[] receiveBytes;

  /** Number of posted receives; written by the owner. */
  private final AtomicLong postedReceives = new AtomicLong();

  // Guarded by the lock of the device.
  private long completedReceives;
  private Runnable onFailure = () -> {};
  private boolean established;
  private boolean dropped;

  // Guarded by publishing.
  private int access;
  private boolean published;

  SoftQueuePair(
      SoftDevice device,
      SoftProtectionDomain domain,
      SoftConnection connection,
      int name,
      int number,
      QueuePairSettings settings)
      throws IOException, VerbsException {
    super(device, domain, connection, name, number, settings);
    context = device.context();
    sendCompletions = (SoftCompletionQueue) settings.sendQueue();
    receiveCompletions = (SoftCompletionQueue) settings.receiveQueue();
    sendSide = new SendSide(this, settings, context);
    receiveBytes = new long[SendSide.ringSize(settings.receiveDepth())];
    sharedReceives =
        SharedReceives.create(
            context.directory().receives(number), receiveBytes.length, settings.maxSge());
    table = context.table();
    index = SharedTable.queuePairIndex(number);
    domainId = domain.id();
    access = RegionAccess.bits(settings.remoteAccess());
    setKeepsWork(true);
    context.loop().add(this, index);
  }

  // Called by the owner.

  @Override
  protected void writeSend(int i, WorkRequest request, long requestNumber) {
    sendSide.write(request);
  }

  @Override
  protected int submitSends(int count) {
    sendSide.submit(count);
    context.loop().ring(this);
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
    sharedReceives.post(position, request.elementCount(), request.totalBytes());
    postedReceives.setRelease(position + 1);
    return true;
  }

  /** Returns when no peer uses the access of before any more. */
  @Override
  protected void changeRemoteAccess(Set<AccessFlag> newAccess) {
    synchronized (publishing) {
      access = RegionAccess.bits(newAccess);
      table.setQueuePairAccess(index, access);
    }
    table.awaitQueuePairReaders(index);
  }

  boolean tryMarkRung() {
    return !rung.get() && rung.compareAndSet(false, true);
  }

  void clearRung() {
    rung.set(false);
  }

  /** See ibv_destroy_qp(3); returns when no peer uses its access any more. */
  void destroy() {
    context
        .loop()
        .call(
            () -> {
              context.loop().remove(index);
              fail();
            });
    table.awaitQueuePairReaders(index);
  }

  @Override
  protected void free() {
    context.directory().removeReceives(number());
    context.queuePairNumbers().release(number());
  }

  // Called with the lock of the device.

  /** Runs once when the queue pair fails or is closed. */
  void setFailureListener(Runnable listener) {
    onFailure = listener;
  }

  /** The connection is established: sends may be posted. False when the queue pair is broken. */
  boolean tryMarkReady() {
    return setReady();
  }

  boolean hasFailed() {
    return dropped;
  }

  /** Allows peers' operations. */
  void publish() {
    synchronized (publishing) {
      published = true;
      table.publishQueuePair(index, number(), domainId, access);
    }
  }

  private void retire() {
    synchronized (publishing) {
      if (published) {
        published = false;
        table.retireQueuePair(index);
      }
    }
  }

  void onEstablished(Link link, SoftEndpoint endpoint, int receiverNotReadyRetries) {
    established = true;
    sendSide.onEstablished(link, endpoint, receiverNotReadyRetries);
    onArrival();
    context.loop().activate(this);
  }

  /** The peer has delivered messages. */
  void onArrival() {
    if (established && !dropped && !completeReceives()) {
      fail();
    }
  }

  /** Completes the receives with a message; false after one that could not be received. */
  private boolean completeReceives() {
    while (completedReceives < postedReceives.getAcquire()
        && sharedReceives.isDelivered(completedReceives)) {
      long position = completedReceives++;
      WorkStatus status =
          sharedReceives.status(position, receiveBytes[(int) position & (receiveBytes.length - 1)]);
      int flags = sharedReceives.flags(position);
      complete(
          receiveCompletions,
          receiveCompletions.add(
              requestNumber((int) position | RECEIVE_BIT),
              status,
              sharedReceives.messageBytes(position),
              (flags & SharedReceives.WRITTEN) != 0,
              (flags & SharedReceives.WITH_IMMEDIATE) != 0,
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
        sendCompletions.add(requestNumber((int) position & ~RECEIVE_BIT), status, 0));
  }

  private void complete(SoftCompletionQueue queue, boolean added) {
    if (!added && !dropped) {
      LOG.debug("Completion queue is overrun: capacity={}", queue.capacity());
      // Not from inside the loop that completes work.
      context.loop().execute(this::fail);
    }
  }

  /**
   * One turn; true when it needs another one.
   *
   * @param posting whether the caller is posting, and leaves long copies to threads that poll
   */
  boolean run(boolean posting) {
    try {
      return !dropped && state() == QueuePairState.READY_TO_SEND && sendSide.run(posting);
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
    if (dropped) {
      return;
    }
    dropped = true;
    retire();
    completeReceives();
    sendSide.drop();
    markBroken();
    setKeepsWork(false);
    onFailure.run();
  }
}
