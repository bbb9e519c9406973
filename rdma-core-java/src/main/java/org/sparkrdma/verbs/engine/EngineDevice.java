// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.engine;

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
  private final Driver driver;
  private final long flushTimeoutNs;
  private final Consumer<Device> onClosed;
  private final QueuePairTable queuePairs = new QueuePairTable();
  private final Set<EngineProtectionDomain> domains = ConcurrentHashMap.newKeySet();
  private final Set<EngineMemory> memories = ConcurrentHashMap.newKeySet();
  private final Set<EngineChannel> channels = ConcurrentHashMap.newKeySet();
  private final Set<EngineCompletionQueue> completionQueues = ConcurrentHashMap.newKeySet();
  private final Set<EngineConnectionManager> managers = ConcurrentHashMap.newKeySet();
  private final Object closing = new Object();
  private boolean closed;

  /** Whether nothing is left to close; guarded by {@link #closing}. */
  private boolean ended;

  /**
   * @param flushTimeoutNs how long the device may keep work of a broken queue pair
   * @param onClosed called once, after everything was closed
   */
  protected EngineDevice(
      DeviceInfo info, Driver driver, long flushTimeoutNs, Consumer<Device> onClosed) {
    this.info = info;
    this.driver = driver;
    this.flushTimeoutNs = flushTimeoutNs;
    this.onClosed = onClosed;
  }

  @Override
  public final DeviceInfo info() {
    return info;
  }

  public final Driver driver() {
    return driver;
  }

  final QueuePairTable queuePairs() {
    return queuePairs;
  }

  final long flushTimeoutNs() {
    return flushTimeoutNs;
  }

  @Override
  public final OpenResources openResources() {
    managers.forEach(EngineConnectionManager::takeAllEvents);
    return new OpenResources(
        domains.size(),
        memories.size(),
        domains.stream().mapToInt(EngineProtectionDomain::regionCount).sum(),
        channels.size(),
        completionQueues.size(),
        domains.stream().mapToInt(EngineProtectionDomain::queuePairCount).sum(),
        managers.size(),
        managers.stream().mapToInt(EngineConnectionManager::listenerCount).sum(),
        managers.stream().mapToInt(EngineConnectionManager::connectionCount).sum());
  }

  @Override
  public final synchronized HostMemory allocate(long lengthBytes) throws VerbsException {
    checkOpen();
    LimitChecks.checkMemory(lengthBytes);
    EngineMemory memory = newMemory(lengthBytes);
    memories.add(memory);
    return memory;
  }

  protected abstract EngineMemory newMemory(long lengthBytes) throws VerbsException;

  @Override
  public final synchronized ProtectionDomain allocateProtectionDomain() throws VerbsException {
    checkOpen();
    EngineProtectionDomain domain = newProtectionDomain();
    domains.add(domain);
    return domain;
  }

  protected abstract EngineProtectionDomain newProtectionDomain() throws VerbsException;

  @Override
  public final synchronized CompletionChannel createCompletionChannel() throws VerbsException {
    checkOpen();
    EngineChannel channel = newChannel();
    channels.add(channel);
    return channel;
  }

  protected abstract EngineChannel newChannel() throws VerbsException;

  @Override
  public final synchronized CompletionQueue createCompletionQueue(
      int capacity, CompletionChannel channel, int vector) throws VerbsException {
    checkOpen();
    LimitChecks.checkCompletionQueue(capacity, info.limits());
    LimitChecks.checkCompletionVector(vector, info.limits());
    EngineCompletionQueue queue = newCompletionQueue(capacity, ownChannel(channel), vector);
    completionQueues.add(queue);
    return queue;
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
    EngineConnectionManager manager = newConnectionManager(ownChannel(channel));
    managers.add(manager);
    return manager;
  }

  protected abstract EngineConnectionManager newConnectionManager(EngineChannel channel)
      throws VerbsException;

  private EngineChannel ownChannel(CompletionChannel channel) {
    if (channel != null && !channels.contains(channel)) {
      throw new IllegalArgumentException("completion channel of another device, or a closed one");
    }
    return (EngineChannel) channel;
  }

  private void checkOpen() {
    if (closed) {
      throw new IllegalStateException("device is closed");
    }
  }

  final void onClosed(EngineMemory memory) {
    memories.remove(memory);
  }

  final void onClosed(EngineProtectionDomain domain) {
    domains.remove(domain);
  }

  final void onClosed(EngineChannel channel) {
    channels.remove(channel);
  }

  final void onClosed(EngineCompletionQueue queue) {
    completionQueues.remove(queue);
  }

  final void onClosed(EngineConnectionManager manager) {
    managers.remove(manager);
  }

  /** The device cannot be used any more: the owners of its connection managers get an event. */
  public final void offerDown(String reason) {
    managers.forEach(manager -> manager.offerOfDevice(ConnectionEvent.Type.DEVICE_DOWN, reason));
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
    failures.closeEach(managers, EngineConnectionManager::close);
    // Queue pairs went with their connections, so nothing completes in these any more.
    failures.closeEach(completionQueues, EngineCompletionQueue::close);
    failures.closeEach(domains, EngineProtectionDomain::closeAll);
    failures.closeEach(memories, EngineMemory::closeWithDevice);
    if (managers.isEmpty() && completionQueues.isEmpty()) {
      failures.closeEach(channels, EngineChannel::close);
    }
    failures.throwFirst();
  }

  /** Closes the device itself; called once, after all objects on it were closed. */
  protected abstract void closeDevice();
}
