// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.engine;

import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;
import org.sparkrdma.verbs.CompletionChannel;
import org.sparkrdma.verbs.CompletionQueue;
import org.sparkrdma.verbs.Device;
import org.sparkrdma.verbs.HostMemory;
import org.sparkrdma.verbs.ProtectionDomain;
import org.sparkrdma.verbs.VerbsException;
import org.sparkrdma.verbs.cm.ConnectionEvent;
import org.sparkrdma.verbs.cm.ConnectionManager;
import org.sparkrdma.verbs.device.DeviceInfo;
import org.sparkrdma.verbs.device.OpenResources;

/**
 * An open device of an engine. {@link #close} also closes all objects created on it that are still
 * open, in verbs order. Safe for any thread.
 */
public abstract class EngineDevice implements Device {
  private final DeviceInfo info;
  private final KernelDriver driver;
  private final long flushTimeoutNs;
  private final Consumer<Device> onClosed;
  private final QueuePairTable queuePairs = new QueuePairTable();

  /** All open objects except queue pairs, listeners and connections. */
  private final Set<EngineObject> objects = ConcurrentHashMap.newKeySet();

  private final Object closing = new Object();
  private volatile boolean closed;

  /** Whether nothing is left to close; guarded by {@link #closing}. */
  private boolean ended;

  /**
   * @param flushTimeoutNs how long the device may keep work of a broken queue pair
   * @param onClosed called once, after everything was closed
   */
  protected EngineDevice(
      DeviceInfo info, KernelDriver driver, long flushTimeoutNs, Consumer<Device> onClosed) {
    this.info = info;
    this.driver = driver;
    this.flushTimeoutNs = flushTimeoutNs;
    this.onClosed = onClosed;
  }

  @Override
  public final DeviceInfo info() {
    return info;
  }

  public final KernelDriver driver() {
    return driver;
  }

  final QueuePairTable queuePairs() {
    return queuePairs;
  }

  final long flushTimeoutNs() {
    return flushTimeoutNs;
  }

  private <T extends EngineObject> List<T> all(Class<T> kind) {
    return objects.stream().filter(kind::isInstance).map(kind::cast).toList();
  }

  @Override
  public final OpenResources openResources() {
    List<EngineConnectionManager> managers = all(EngineConnectionManager.class);
    managers.forEach(EngineConnectionManager::takeAllEvents);
    return new OpenResources(
        all(EngineProtectionDomain.class).size(),
        all(EngineMemory.class).size(),
        all(EngineRegion.class).size(),
        all(EngineChannel.class).size(),
        all(EngineCompletionQueue.class).size(),
        queuePairs.all().size(),
        managers.size(),
        managers.stream().mapToInt(EngineConnectionManager::listenerCount).sum(),
        managers.stream().mapToInt(EngineConnectionManager::connectionCount).sum());
  }

  @Override
  public final HostMemory allocate(long lengthBytes) throws VerbsException {
    if (lengthBytes <= 0) {
      throw new IllegalArgumentException(
          "memory needs at least one byte: lengthBytes=" + lengthBytes);
    }
    for (int refusals = 1; ; refusals++) {
      try {
        return tryAllocate(lengthBytes);
      } catch (VerbsException e) {
        if (e.errno() != VerbsException.ENOMEM || !awaitFreedMemory(refusals)) {
          throw e;
        }
      }
    }
  }

  private synchronized HostMemory tryAllocate(long lengthBytes) throws VerbsException {
    checkOpen();
    return add(newMemory(lengthBytes));
  }

  protected abstract EngineMemory newMemory(long lengthBytes) throws VerbsException;

  /**
   * Memory was refused: waits until closed memory may have been freed, without the lock of this,
   * because others use the device meanwhile.
   *
   * @param refusals of the same allocation
   * @return whether to try again
   */
  protected boolean awaitFreedMemory(int refusals) {
    return false;
  }

  @Override
  public final synchronized ProtectionDomain allocateProtectionDomain() throws VerbsException {
    checkOpen();
    return add(newProtectionDomain());
  }

  protected abstract EngineProtectionDomain newProtectionDomain() throws VerbsException;

  @Override
  public final synchronized CompletionChannel createCompletionChannel() throws VerbsException {
    checkOpen();
    return add(newChannel());
  }

  protected abstract EngineChannel newChannel() throws VerbsException;

  @Override
  public final synchronized CompletionQueue createCompletionQueue(
      int capacity, CompletionChannel channel, int vector) throws VerbsException {
    checkOpen();
    int limit = info.limits().maxCompletionQueueDepth();
    if (capacity < 1) {
      throw new IllegalArgumentException(
          "a completion queue needs at least one entry: capacity=" + capacity);
    }
    if (capacity > limit) {
      throw new VerbsException(
          "ibv_create_cq",
          "ibv_create_cq failed: over the limit: capacity=" + capacity + " limit=" + limit);
    }
    int vectors = info.limits().completionVectors();
    if (vector < 0 || vector >= vectors) {
      throw new IllegalArgumentException(
          "no such completion vector: vector=" + vector + " completionVectors=" + vectors);
    }
    return add(newCompletionQueue(capacity, ownChannel(channel), vector).open());
  }

  /**
   * @param channel null for a queue that is only polled
   * @param vector a completion vector of the device
   */
  protected abstract EngineCompletionQueue newCompletionQueue(
      int capacity, EngineChannel channel, int vector) throws VerbsException;

  @Override
  public final synchronized ConnectionManager createConnectionManager(CompletionChannel channel)
      throws VerbsException {
    checkOpen();
    if (channel == null) {
      throw new IllegalArgumentException("a connection manager needs a channel");
    }
    return add(newConnectionManager(ownChannel(channel)));
  }

  protected abstract EngineConnectionManager newConnectionManager(EngineChannel channel)
      throws VerbsException;

  private EngineChannel ownChannel(CompletionChannel channel) {
    if (channel != null && !objects.contains(channel)) {
      throw new IllegalArgumentException("completion channel of another device, or a closed one");
    }
    return (EngineChannel) channel;
  }

  private void checkOpen() {
    if (closed) {
      throw new IllegalStateException("device is closed");
    }
  }

  final boolean isClosed() {
    return closed;
  }

  final <T extends EngineObject> T add(T object) {
    objects.add(object);
    return object;
  }

  final void remove(EngineObject object) {
    objects.remove(object);
  }

  /** The device cannot be used any more: the owners of its connection managers get an event. */
  public final void offerDown(String reason) {
    all(EngineConnectionManager.class)
        .forEach(manager -> manager.offerOfDevice(ConnectionEvent.Type.DEVICE_DOWN, reason));
  }

  /** A second close waits for the first. It does nothing, or closes what the first one left. */
  @Override
  public final void close() {
    synchronized (this) {
      closed = true;
    }
    synchronized (closing) {
      if (!ended) {
        closeObjects();
        ended = true;
        var failures = new CloseFailures();
        failures.run(this::closeDevice);
        failures.run(() -> onClosed.accept(this));
        failures.throwFirst();
      }
    }
  }

  /** Closes all objects; an object that fails keeps its channel and the device open. */
  private void closeObjects() {
    var failures = new CloseFailures();
    Consumer<EngineObject> close = EngineObject::close;
    failures.closeEach(all(EngineConnectionManager.class), close);
    // Queue pairs went with their connections, so nothing completes in these any more.
    failures.closeEach(all(EngineCompletionQueue.class), close);
    failures.closeEach(all(EngineRegion.class), close);
    failures.closeEach(all(EngineProtectionDomain.class), EngineProtectionDomain::closeWhenDone);
    failures.closeEach(all(EngineMemory.class), EngineMemory::closeWithDevice);
    failures.throwFirst();
    failures.closeEach(all(EngineChannel.class), close);
    failures.throwFirst();
  }

  /** Closes the device itself; called once, after all objects on it were closed. */
  protected abstract void closeDevice();
}
