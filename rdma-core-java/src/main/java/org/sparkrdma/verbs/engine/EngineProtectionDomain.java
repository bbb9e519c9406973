// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.engine;

import java.nio.file.Path;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import org.sparkrdma.verbs.AccessFlag;
import org.sparkrdma.verbs.HostMemory;
import org.sparkrdma.verbs.MemoryRegion;
import org.sparkrdma.verbs.ProtectionDomain;
import org.sparkrdma.verbs.QueuePair;
import org.sparkrdma.verbs.QueuePairSettings;
import org.sparkrdma.verbs.VerbsException;

/**
 * A protection domain with its regions and queue pairs: it cannot be closed while it has any. Safe
 * for any thread. Registering does not take the lock: pinning much memory takes long, and several
 * threads may do it at once. Registrations and creations of queue pairs that are in progress are
 * counted, so that the domain is deallocated after them.
 */
public abstract class EngineProtectionDomain implements ProtectionDomain {
  /** A registration may hang, as in a read of a page from a disk that hangs. */
  private static final Duration CLOSE_TIMEOUT = Duration.ofSeconds(10);

  private final EngineDevice device;
  private final Duration closeTimeout;
  private final Set<EngineRegion> regions = ConcurrentHashMap.newKeySet();
  private final Set<QueuePair> queuePairs = ConcurrentHashMap.newKeySet();
  private int inProgress;
  private boolean closed;
  private boolean deallocated;

  protected EngineProtectionDomain(EngineDevice device) {
    this(device, CLOSE_TIMEOUT);
  }

  /**
   * @param closeTimeout time for which {@link #close} waits for what is in progress
   */
  protected EngineProtectionDomain(EngineDevice device, Duration closeTimeout) {
    this.device = device;
    this.closeTimeout = closeTimeout;
  }

  final boolean isOf(EngineDevice other) {
    return device == other;
  }

  @Override
  public final MemoryRegion register(
      HostMemory memory, long offset, long lengthBytes, Set<AccessFlag> access)
      throws VerbsException {
    if (!(memory instanceof EngineMemory own) || !own.isOf(device)) {
      throw new IllegalArgumentException("memory of another device");
    }
    LimitChecks.checkAccess(access);
    LimitChecks.checkRange(offset, lengthBytes, memory.lengthBytes());
    LimitChecks.checkOnDemand(access, device.info());
    begin();
    try {
      return add(registerRetained(own, offset, lengthBytes, access));
    } finally {
      end();
    }
  }

  private EngineRegion registerRetained(
      EngineMemory memory, long offset, long lengthBytes, Set<AccessFlag> access)
      throws VerbsException {
    memory.retain();
    EngineRegion region = null;
    try {
      region = registerMemory(memory, offset, lengthBytes, access);
    } finally {
      if (region == null) {
        memory.release();
      }
    }
    return region;
  }

  /**
   * Registers a range of this device's memory.
   *
   * @param memory of the engine's own class
   */
  protected abstract EngineRegion registerMemory(
      EngineMemory memory, long offset, long lengthBytes, Set<AccessFlag> access)
      throws VerbsException;

  @Override
  public final MemoryRegion registerFile(
      Path file, long offset, long lengthBytes, Set<AccessFlag> access) throws VerbsException {
    LimitChecks.checkFileAccess(access);
    LimitChecks.checkRange(offset, lengthBytes, Long.MAX_VALUE);
    LimitChecks.checkOnDemand(access, device.info());
    begin();
    try {
      return add(registerRange(file, offset, lengthBytes, access));
    } finally {
      end();
    }
  }

  /** Registers a range of a file. */
  protected abstract EngineRegion registerRange(
      Path file, long offset, long lengthBytes, Set<AccessFlag> access) throws VerbsException;

  @Override
  public final void testQueuePair(QueuePairSettings settings) throws VerbsException {
    LimitChecks.checkQueuePair(settings, device.info().limits());
    EngineCompletionQueue.checkQueues(settings, device);
    begin();
    try {
      tryQueuePair(settings);
    } finally {
      end();
    }
  }

  /** Creates and destroys a queue pair of the device, where that needs no connection. */
  protected void tryQueuePair(QueuePairSettings settings) throws VerbsException {}

  private synchronized void begin() {
    checkOpen();
    inProgress++;
  }

  private synchronized void end() {
    inProgress--;
    notifyAll();
  }

  private EngineRegion add(EngineRegion region) {
    synchronized (this) {
      if (!closed) {
        regions.add(region);
        return region;
      }
    }
    // Closed while it was being registered.
    region.close();
    throw closedException();
  }

  /**
   * Creates the queue pair of a connection and adds it.
   *
   * @throws IllegalStateException when the domain is closed; then it has no new queue pair
   */
  final EngineQueuePair createQueuePair(EngineConnection connection, QueuePairSettings settings)
      throws VerbsException {
    begin();
    try {
      EngineQueuePair created = create(connection, settings);
      if (!add(created)) {
        // Closed while it was being created.
        created.close();
        throw closedException();
      }
      return created;
    } finally {
      end();
    }
  }

  private EngineQueuePair create(EngineConnection connection, QueuePairSettings settings)
      throws VerbsException {
    int name = device.queuePairs().take();
    if (name == -1) {
      throw new VerbsException("rdma_create_qp", "rdma_create_qp failed: too many queue pairs");
    }
    EngineQueuePair created = null;
    try {
      created = connection.newQueuePair(this, name, settings);
      created.onCreated();
      return created;
    } finally {
      if (created == null) {
        device.queuePairs().release(name);
      }
    }
  }

  private synchronized boolean add(QueuePair queuePair) {
    return !closed && queuePairs.add(queuePair);
  }

  private synchronized void checkOpen() {
    if (closed) {
      throw closedException();
    }
  }

  private static IllegalStateException closedException() {
    return new IllegalStateException("protection domain is closed");
  }

  final void onClosed(EngineRegion region) {
    regions.remove(region);
  }

  /** A queue pair was destroyed. */
  final void onClosed(QueuePair queuePair) {
    queuePairs.remove(queuePair);
  }

  final int regionCount() {
    return regions.size();
  }

  final int queuePairCount() {
    return queuePairs.size();
  }

  /** Closes its members, in verbs order, then the domain. */
  final void closeAll() {
    synchronized (this) {
      closed = true;
    }
    var failures = new CloseFailures();
    failures.closeEach(queuePairs, QueuePair::close);
    failures.closeEach(regions, MemoryRegion::close);
    failures.run(this::close);
    failures.throwFirst();
  }

  /** Waits for what is in progress, which fails because the domain is closed. */
  @Override
  public final synchronized void close() {
    if (!regions.isEmpty() || !queuePairs.isEmpty()) {
      throw new IllegalStateException(
          "protection domain is in use: regions="
              + regions.size()
              + (" queuePairs=" + queuePairs.size()));
    }
    closed = true;
    awaitProgress();
    if (!deallocated) {
      deallocated = true;
      try {
        deallocate();
      } finally {
        device.onClosed(this);
      }
    }
  }

  /** Releases the lock while it waits; keeps an interrupt for the caller. */
  private synchronized void awaitProgress() {
    boolean interrupted = false;
    long startNs = System.nanoTime();
    long leftNs = closeTimeout.toNanos();
    while (inProgress > 0 && leftNs > 0) {
      try {
        TimeUnit.NANOSECONDS.timedWait(this, leftNs);
      } catch (InterruptedException e) {
        interrupted = true;
      }
      leftNs = closeTimeout.toNanos() - (System.nanoTime() - startNs);
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
    if (inProgress > 0) {
      throw new IllegalStateException("protection domain is in use: unfinishedCalls=" + inProgress);
    }
  }

  /** Deallocates the domain; called once, when it is empty. */
  protected abstract void deallocate();
}
