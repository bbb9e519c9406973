// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.engine;

import java.net.InetSocketAddress;
import org.sparkrdma.verbs.ProtectionDomain;
import org.sparkrdma.verbs.QueuePair;
import org.sparkrdma.verbs.QueuePairSettings;
import org.sparkrdma.verbs.VerbsException;
import org.sparkrdma.verbs.cm.Connection;
import org.sparkrdma.verbs.cm.ConnectionEvent;
import org.sparkrdma.verbs.cm.ConnectionParameters;

/**
 * One end of a connection: checks what its owner asks for against the {@link ConnectionPhase}, and
 * keeps its addresses, its queue pair and its attachment. The lock guards the phase, since events
 * arrive on other threads than the owner's.
 *
 * @param <Q> the engine's queue pairs
 */
public abstract class EngineConnection<Q extends EngineQueuePair> implements Connection {
  private final EngineDevice<?> device;
  private final EngineConnectionManager manager;
  private final InetSocketAddress remoteAddress;
  private volatile InetSocketAddress localAddress;
  private volatile ConnectionPhase phase;
  private volatile Q queuePair;
  private boolean closing;
  private Object attachment;

  /**
   * @param initiator whether this end asks for the connection; else a peer does
   */
  protected EngineConnection(
      EngineConnectionManager manager, InetSocketAddress remoteAddress, boolean initiator) {
    this.manager = manager;
    this.remoteAddress = remoteAddress;
    device = manager.device();
    phase = initiator ? ConnectionPhase.RESOLVING : ConnectionPhase.REQUESTED;
  }

  // Called by the owner.

  @Override
  public final InetSocketAddress localAddress() {
    return localAddress;
  }

  @Override
  public final InetSocketAddress remoteAddress() {
    return remoteAddress;
  }

  @Override
  public final synchronized QueuePair createQueuePair(
      ProtectionDomain domain, QueuePairSettings settings) throws VerbsException {
    checkNotEnded("rdma_create_qp");
    if (queuePair != null
        || closing
        || (!isIn(ConnectionPhase.RESOLVED) && !isIn(ConnectionPhase.REQUESTED))) {
      throw new IllegalStateException("no queue pair can be created now: phase=" + phase);
    }
    LimitChecks.checkQueuePair(settings, device.info().limits());
    if (!(domain instanceof EngineProtectionDomain own) || !own.isOf(device)) {
      throw new IllegalArgumentException("protection domain of another device");
    }
    EngineCompletionQueue.checkQueues(settings, device);
    queuePair =
        own.create(
            () -> {
              Q created = newQueuePair(own, settings);
              created.onCreated();
              return created;
            });
    return queuePair;
  }

  /** Creates the queue pair, or leaves nothing behind when that fails; under the lock. */
  protected abstract Q newQueuePair(EngineProtectionDomain domain, QueuePairSettings settings)
      throws VerbsException;

  @Override
  public final Q queuePair() {
    return queuePair;
  }

  @Override
  public final synchronized void connect(ConnectionParameters parameters) throws VerbsException {
    checkNotEnded("rdma_connect");
    require(isIn(ConnectionPhase.RESOLVED) && queuePair != null);
    checkPrivateData(parameters.privateData());
    phase = ConnectionPhase.CONNECTING;
    sendRequest(parameters);
  }

  /** Sends the connection request; under the lock. */
  protected abstract void sendRequest(ConnectionParameters parameters) throws VerbsException;

  @Override
  public final synchronized void accept(ConnectionParameters parameters) throws VerbsException {
    checkNotEnded("rdma_accept");
    require(isIn(ConnectionPhase.REQUESTED) && queuePair != null);
    checkPrivateData(parameters.privateData());
    phase = ConnectionPhase.ACCEPTED;
    try {
      sendReply(parameters);
    } catch (VerbsException e) {
      phase = ConnectionPhase.ENDED;
      throw e;
    }
  }

  /** Sends the reply and makes the queue pair ready; under the lock. */
  protected abstract void sendReply(ConnectionParameters parameters) throws VerbsException;

  @Override
  public final synchronized void reject(byte[] privateData) {
    if (isIn(ConnectionPhase.ENDED)) {
      return;
    }
    require(isIn(ConnectionPhase.REQUESTED));
    checkPrivateData(privateData);
    phase = ConnectionPhase.ENDED;
    sendRejection(privateData);
  }

  /** Sends the rejection, where the close that follows does not; under the lock. */
  protected abstract void sendRejection(byte[] privateData);

  /** It ends on any thread, so the owner may not know yet: a failure, and no misuse. */
  private void checkNotEnded(String call) throws VerbsException {
    if (isIn(ConnectionPhase.ENDED)) {
      throw new VerbsException(
          call, call + " failed: the connection has ended: remote=" + remoteAddress);
    }
  }

  private void checkPrivateData(byte[] privateData) {
    LimitChecks.checkPrivateData(privateData, device.info().limits().maxPrivateDataBytes());
  }

  private void require(boolean allowed) {
    if (!allowed) {
      throw new IllegalStateException(
          "not possible now: phase=" + phase + " queuePair=" + (queuePair != null));
    }
  }

  @Override
  public final Object attachment() {
    return attachment;
  }

  @Override
  public final void attach(Object newAttachment) {
    attachment = newAttachment;
  }

  // Called by the engine, on any thread.

  final boolean isClosed() {
    return isIn(ConnectionPhase.CLOSED);
  }

  protected final boolean isIn(ConnectionPhase expected) {
    return phase == expected;
  }

  /** The queue pair that its close destroys, or null. No queue pair is created after this call. */
  protected final synchronized Q beginClose() {
    closing = true;
    return queuePair;
  }

  /** Moves to a phase, unless the connection is closed; false when it is. */
  protected final synchronized boolean moveTo(ConnectionPhase next) {
    if (phase == ConnectionPhase.CLOSED) {
      return false;
    }
    phase = next;
    return true;
  }

  protected final void setLocalAddress(InetSocketAddress address) {
    localAddress = address;
  }

  protected final void offer(ConnectionEvent.Type type, byte[] privateData, String reason) {
    manager.offer(new ConnectionEvent(type, this, null, privateData, reason));
  }

  protected final void offer(ConnectionEvent.Type type, String reason) {
    offer(type, EngineConnectionManager.NO_DATA, reason);
  }
}
