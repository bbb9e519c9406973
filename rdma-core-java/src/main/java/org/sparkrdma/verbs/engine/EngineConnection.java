// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.engine;

import java.net.InetSocketAddress;
import java.time.Duration;
import org.sparkrdma.verbs.ProtectionDomain;
import org.sparkrdma.verbs.QueuePair;
import org.sparkrdma.verbs.QueuePairSettings;
import org.sparkrdma.verbs.QueuePairState;
import org.sparkrdma.verbs.VerbsException;
import org.sparkrdma.verbs.cm.ConnectionEvent;
import org.sparkrdma.verbs.cm.ConnectionParameters;

/**
 * One end of a connection, over an identifier like those of the kernel's connection manager, see
 * rdma_cm(7): checks what its owner asks for against the {@link ConnectionPhase}, and keeps its
 * addresses, its queue pair and its attachment. How it is destroyed is in {@link IdentifierLife}.
 *
 * <p>When either end ends the connection, this class breaks the queue pair, disconnects, and offers
 * the event at once, because not every event of the kernel arrives. The lock guards the phase and
 * the identifier, since events and failures of the queue pair come on other threads than the
 * owner's.
 */
public abstract class EngineConnection extends IdentifierLife {
  private final EngineConnectionManager manager;
  private final EngineDevice device;
  private final InetSocketAddress remoteAddress;
  private final int resolveTimeoutMs;
  private volatile InetSocketAddress localAddress;
  private volatile EngineQueuePair queuePair;
  private volatile long deadlineNs;
  private boolean closing;

  /** Whether a thread creates the queue pair; guarded by this. */
  private boolean creating;

  private Object attachment;

  /**
   * @param resolveTimeout null for a connection that a peer asks for
   */
  protected EngineConnection(
      EngineConnectionManager manager, InetSocketAddress remoteAddress, Duration resolveTimeout) {
    super(resolveTimeout == null ? ConnectionPhase.REQUESTED : ConnectionPhase.RESOLVING);
    this.manager = manager;
    this.remoteAddress = remoteAddress;
    device = manager.device();
    resolveTimeoutMs =
        resolveTimeout == null
            ? 0
            : (int) Math.max(1, Math.min(Integer.MAX_VALUE, resolveTimeout.toMillis()));
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
  public final QueuePair createQueuePair(ProtectionDomain domain, QueuePairSettings settings)
      throws VerbsException {
    EngineProtectionDomain own = beginCreation(domain);
    EngineQueuePair created = null;
    try {
      created = own.createQueuePair(this, settings);
    } finally {
      endCreation(created);
    }
    checkNotEnded("rdma_create_qp");
    return created;
  }

  private synchronized EngineProtectionDomain beginCreation(ProtectionDomain domain)
      throws VerbsException {
    checkNotEnded("rdma_create_qp");
    if (queuePair != null
        || creating
        || closing
        || (!isIn(ConnectionPhase.RESOLVED) && !isIn(ConnectionPhase.REQUESTED))) {
      throw new IllegalStateException("no queue pair can be created now: phase=" + phase());
    }
    if (!(domain instanceof EngineProtectionDomain own) || own.device() != device) {
      throw new IllegalArgumentException("protection domain of another device");
    }
    creating = true;
    return own;
  }

  /** Also one of a connection that has ended meanwhile: its close destroys it. */
  private synchronized void endCreation(EngineQueuePair created) {
    queuePair = created;
    creating = false;
    notifyAll();
  }

  /**
   * Creates the queue pair, or leaves nothing behind when that fails. Without the lock, so that the
   * thread that polls takes events meanwhile; the identifier is not destroyed before it returns.
   */
  protected abstract EngineQueuePair newQueuePair(
      EngineProtectionDomain domain, QueuePairSettings settings) throws VerbsException;

  @Override
  public final EngineQueuePair queuePair() {
    return queuePair;
  }

  @Override
  public final synchronized void connect(ConnectionParameters parameters) throws VerbsException {
    checkNotEnded("rdma_connect");
    require(isIn(ConnectionPhase.RESOLVED) && queuePair != null);
    checkPrivateData(parameters.privateData());
    moveTo(ConnectionPhase.CONNECTING);
    beginAttempt(parameters.timeout());
    try {
      sendRequest(parameters);
    } catch (VerbsException e) {
      manager.removeAttempt(this);
      moveTo(ConnectionPhase.ENDED);
      throw e;
    }
  }

  /** Sends the connection request; under the lock. */
  protected abstract void sendRequest(ConnectionParameters parameters) throws VerbsException;

  @Override
  public final synchronized void accept(ConnectionParameters parameters) throws VerbsException {
    checkNotEnded("rdma_accept");
    require(isIn(ConnectionPhase.REQUESTED) && queuePair != null);
    checkPrivateData(parameters.privateData());
    moveTo(ConnectionPhase.ACCEPTED);
    try {
      sendReply(parameters);
      queuePair.markReady();
    } catch (VerbsException e) {
      moveTo(ConnectionPhase.ENDED);
      throw e;
    }
  }

  /** Sends the reply; under the lock. */
  protected abstract void sendReply(ConnectionParameters parameters) throws VerbsException;

  @Override
  public final synchronized void reject(byte[] privateData) {
    if (isIn(ConnectionPhase.ENDED)) {
      return;
    }
    require(isIn(ConnectionPhase.REQUESTED));
    checkPrivateData(privateData);
    moveTo(ConnectionPhase.ENDED);
    sendRejection(privateData);
  }

  /** Sends the rejection, where the close that follows does not; under the lock. */
  protected abstract void sendRejection(byte[] privateData);

  /**
   * It ends on any thread, so the owner may not know yet: a failure, and no misuse. With a broken
   * queue pair its receives are flushed, so the device must not get any message for them.
   */
  private void checkNotEnded(String call) throws VerbsException {
    if (isIn(ConnectionPhase.ENDED)
        || (queuePair != null && queuePair.state() == QueuePairState.ERROR)) {
      throw new VerbsException(
          call, call + " failed: the connection has ended: remote=" + remoteAddress);
    }
  }

  private void checkPrivateData(byte[] privateData) {
    int limit = device.info().limits().maxPrivateDataBytes();
    if (privateData.length > limit) {
      throw new IllegalArgumentException(
          "too much private data: lengthBytes=" + privateData.length + " limit=" + limit);
    }
  }

  private void require(boolean allowed) {
    if (!allowed) {
      throw new IllegalStateException(
          "not possible now: phase=" + phase() + " queuePair=" + (queuePair != null));
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

  protected final void setLocalAddress(InetSocketAddress address) {
    localAddress = address;
  }

  private void offer(ConnectionEvent.Type type, byte[] privateData, String reason) {
    manager.offer(new ConnectionEvent(type, this, null, privateData, reason));
  }

  // Resolving.

  /** Begins to resolve the address; the route follows on an event. */
  final synchronized void resolve(InetSocketAddress local) {
    // The kernel limits address and route to this time each; its events normally arrive earlier.
    beginAttempt(Duration.ofMillis(3L * resolveTimeoutMs));
    try {
      resolveAddress(local, resolveTimeoutMs);
    } catch (VerbsException e) {
      failResolving(e.getMessage());
    }
  }

  /**
   * See rdma_resolve_addr(3).
   *
   * @param local null for one that the kernel chooses
   */
  protected abstract void resolveAddress(InetSocketAddress local, int timeoutMs)
      throws VerbsException;

  /** The address is resolved. */
  protected final void onAddressResolved() {
    if (!isIn(ConnectionPhase.RESOLVING)) {
      return;
    }
    try {
      String other = otherDevice();
      if (other == null) {
        resolveRoute(resolveTimeoutMs);
      } else {
        failResolving(
            "the route uses another device: device=" + other + " wanted=" + device.info().name());
      }
    } catch (VerbsException e) {
      failResolving(e.getMessage());
    }
  }

  /** The device that the kernel chose, when it is not this one; else null. */
  protected String otherDevice() throws VerbsException {
    return null;
  }

  /** See rdma_resolve_route(3). */
  protected abstract void resolveRoute(int timeoutMs) throws VerbsException;

  /** The route is resolved. */
  protected final void onRouteResolved() {
    if (!isIn(ConnectionPhase.RESOLVING)) {
      return;
    }
    try {
      setLocalAddress(sourceAddress());
      moveTo(ConnectionPhase.RESOLVED);
      manager.removeAttempt(this);
      offer(ConnectionEvent.Type.RESOLVED, EngineConnectionManager.NO_DATA, "");
    } catch (VerbsException e) {
      failResolving(e.getMessage());
    }
  }

  /** See rdma_get_local_addr(3). */
  protected abstract InetSocketAddress sourceAddress() throws VerbsException;

  /** The address or the route cannot be resolved. */
  protected final void onResolveFailed(String reason) {
    if (isIn(ConnectionPhase.RESOLVING)) {
      failResolving(reason);
    }
  }

  private void failResolving(String reason) {
    moveTo(ConnectionPhase.ENDED);
    manager.removeAttempt(this);
    offer(
        ConnectionEvent.Type.RESOLVE_FAILED,
        EngineConnectionManager.NO_DATA,
        "no route to the address: " + reason);
  }

  // Connecting.

  private void beginAttempt(Duration timeout) {
    deadlineNs = System.nanoTime() + timeout.toNanos();
    manager.addAttempt(this);
  }

  final long deadlineNs() {
    return deadlineNs;
  }

  final synchronized void endWhenLate(long nowNs) {
    if (nowNs - deadlineNs < 0) {
      return;
    }
    if (isIn(ConnectionPhase.CONNECTING)) {
      end(ConnectionEvent.Type.UNREACHABLE, "no answer within the connect time-out");
    } else if (isIn(ConnectionPhase.RESOLVING)) {
      failResolving("no answer within the time-out");
    }
  }

  /** The connection is established. */
  protected final void onEstablished(byte[] privateData) {
    if (isIn(ConnectionPhase.ENDED)) {
      // The connection has ended here: disconnect the peer.
      disconnectIdentifier();
    }
    if (!isIn(ConnectionPhase.CONNECTING) && !isIn(ConnectionPhase.ACCEPTED)) {
      return;
    }
    manager.removeAttempt(this);
    try {
      queuePair.markReady();
    } catch (VerbsException e) {
      end(ConnectionEvent.Type.CONNECT_ERROR, e.getMessage());
      return;
    }
    moveTo(ConnectionPhase.ESTABLISHED);
    // When it breaks before, there is no connection to end.
    if (queuePair.state() == QueuePairState.ERROR) {
      endBroken();
    } else {
      offer(ConnectionEvent.Type.ESTABLISHED, privateData, "");
    }
  }

  private synchronized void endBroken() {
    if (isIn(ConnectionPhase.ESTABLISHED)) {
      end(ConnectionEvent.Type.CONNECT_ERROR, "the queue pair broke while it was connected");
    }
  }

  /**
   * The attempt failed.
   *
   * <p>On InfiniBand and RoCE this also comes for an established connection: a responder that ends
   * before it has received RTU sends REJ instead of DREQ (cm_destroy_id in the kernel's cm.c).
   */
  protected final void onFailed(ConnectionEvent.Type type, byte[] privateData, String reason) {
    if (isIn(ConnectionPhase.CONNECTING)) {
      end(type, privateData, reason);
    } else {
      endIfEstablished(reason);
    }
  }

  /** The device was removed. */
  protected final void onDeviceRemoved() {
    if (!isIn(ConnectionPhase.CLOSED)) {
      end(
          ConnectionEvent.Type.DEVICE_REMOVED,
          "the device was removed: device=" + device.info().name());
    }
  }

  // Ending.

  @Override
  public final synchronized void disconnect() {
    endIfEstablished("disconnected");
  }

  /** Ends it when it is established or accepted, with the event that belongs to that. */
  protected final synchronized void endIfEstablished(String reason) {
    if (isIn(ConnectionPhase.ESTABLISHED)) {
      end(ConnectionEvent.Type.DISCONNECTED, reason);
    } else if (isIn(ConnectionPhase.ACCEPTED)) {
      end(ConnectionEvent.Type.CONNECT_ERROR, reason);
    }
  }

  protected final void end(ConnectionEvent.Type type, String reason) {
    end(type, EngineConnectionManager.NO_DATA, reason);
  }

  private void end(ConnectionEvent.Type type, byte[] privateData, String reason) {
    boolean established = isIn(ConnectionPhase.ESTABLISHED) || isIn(ConnectionPhase.ACCEPTED);
    moveTo(ConnectionPhase.ENDED);
    manager.removeAttempt(this);
    if (queuePair != null) {
      queuePair.markBroken();
      breakQueuePair();
    }
    if (established && !awaitsOutcome) {
      // Not for an attempt: there the kernel would wait for its outcome first.
      disconnectIdentifier();
    }
    offer(type, privateData, reason);
  }

  /** Makes the device flush the queue pair, where rdma_disconnect does not. */
  protected void breakQueuePair() {}

  /** See rdma_disconnect(3); the connection may have ended already. */
  protected abstract void disconnectIdentifier();

  // Closing, by any thread. The queue pair is destroyed before the identifier that it was created
  // on; so a close waits for the close of the queue pair by another thread.

  @Override
  public final void close() {
    EngineQueuePair pair = beginClose();
    try {
      if (pair != null) {
        pair.close();
      }
    } finally {
      runDestruction(this::closeIdentifier);
    }
  }

  /**
   * The queue pair that the close destroys, or null; waits while a thread creates it. None is
   * created after this call.
   */
  private synchronized EngineQueuePair beginClose() {
    closing = true;
    awaitWhile(() -> creating);
    return queuePair;
  }

  /**
   * The queue pair is being closed: ends the connection and destroys the device's queue pair.
   *
   * @param destroyed runs when the device's queue pair is destroyed, which may be later
   */
  final void onQueuePairClosed(Runnable destroyed) {
    runDestruction(() -> closeQueuePair(destroyed));
  }

  private synchronized void closeQueuePair(Runnable destroyed) {
    try {
      if (awaitsOutcome && isIn(ConnectionPhase.CONNECTING)) {
        moveTo(ConnectionPhase.ENDED);
        manager.removeAttempt(this);
        // So that the queue pair can be forgotten although the device still has it.
        breakQueuePair();
      }
      endIfEstablished("queue pair closed");
    } finally {
      destroy(() -> destroyQueuePair(destroyed));
    }
  }

  private void destroyQueuePair(Runnable destroyed) {
    try {
      destroyQueuePair();
    } finally {
      destroyed.run();
    }
  }

  /** The identifier, as the connection manager knows it. */
  protected abstract Object id();

  @Override
  final boolean mayNotWait() {
    return manager.isClosed();
  }

  @Override
  final void onClosed() {
    manager.removeAttempt(this);
  }

  @Override
  final void forget() {
    // Last: a closed manager without identifiers destroys their event channel.
    manager.remove(id(), this);
  }
}
