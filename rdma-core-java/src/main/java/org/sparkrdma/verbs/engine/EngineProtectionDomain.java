// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.engine;

import java.nio.file.Path;
import java.time.Duration;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.sparkrdma.verbs.AccessFlag;
import org.sparkrdma.verbs.HostMemory;
import org.sparkrdma.verbs.MemoryRegion;
import org.sparkrdma.verbs.ProtectionDomain;
import org.sparkrdma.verbs.QueuePairSettings;
import org.sparkrdma.verbs.VerbsException;
import org.sparkrdma.verbs.device.Capability;
import org.sparkrdma.verbs.device.DeviceLimits;

/**
 * A protection domain; its regions and queue pairs are its users. Safe for any thread. Registering
 * does not take the lock: pinning much memory takes long, and several threads may do it at once.
 * Registrations and creations of queue pairs that are in progress are counted, so that the domain
 * is deallocated after them.
 */
public abstract class EngineProtectionDomain extends EngineObject implements ProtectionDomain {
  /** A registration may hang, as in a read of a page from a disk that hangs. */
  private static final Duration CLOSE_TIMEOUT = Duration.ofSeconds(10);

  private final Duration closeTimeout;

  /** Guarded by this, as the next one. */
  private int inProgress;

  /** Whether a close has begun: nothing more is created. */
  private boolean ending;

  protected EngineProtectionDomain(EngineDevice device) {
    this(device, CLOSE_TIMEOUT);
  }

  /**
   * @param closeTimeout time for which {@link #close} waits for what is in progress
   */
  protected EngineProtectionDomain(EngineDevice device, Duration closeTimeout) {
    super(device, "protection domain");
    this.closeTimeout = closeTimeout;
  }

  @Override
  public final MemoryRegion register(
      HostMemory memory, long offset, long lengthBytes, Set<AccessFlag> access)
      throws VerbsException {
    if (!(memory instanceof EngineMemory own) || own.device() != device()) {
      throw new IllegalArgumentException("memory of another device");
    }
    if (access.contains(AccessFlag.REMOTE_WRITE) && !access.contains(AccessFlag.LOCAL_WRITE)) {
      throw new IllegalArgumentException("REMOTE_WRITE needs LOCAL_WRITE: access=" + access);
    }
    checkRange(offset, lengthBytes, memory.lengthBytes(), access);
    begin();
    try {
      own.retain();
      EngineRegion region = null;
      try {
        own.checkOpen();
        region = registerMemory(own, offset, lengthBytes, access);
      } finally {
        if (region == null) {
          own.release();
        }
      }
      return add(region);
    } finally {
      end();
    }
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
    if (!access.contains(AccessFlag.REMOTE_READ)
        || access.contains(AccessFlag.LOCAL_WRITE)
        || access.contains(AccessFlag.REMOTE_WRITE)) {
      throw new IllegalArgumentException("files are REMOTE_READ only: access=" + access);
    }
    checkRange(offset, lengthBytes, Long.MAX_VALUE, access);
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
  public final boolean testReadOnlyFile(Path file, long lengthBytes) throws VerbsException {
    checkRange(0, lengthBytes, Long.MAX_VALUE, Set.of());
    begin();
    try {
      return tryReadOnlyRange(file, lengthBytes);
    } finally {
      end();
    }
  }

  /** Registers and deregisters a mapping that cannot be written; false where there is no such. */
  protected boolean tryReadOnlyRange(Path file, long lengthBytes) throws VerbsException {
    return false;
  }

  private void checkRange(long offset, long lengthBytes, long limit, Set<AccessFlag> access) {
    if (lengthBytes < 1) {
      throw new IllegalArgumentException(
          "a region needs at least one byte: lengthBytes=" + lengthBytes);
    }
    Objects.checkFromIndexSize(offset, lengthBytes, limit);
    if (access.contains(AccessFlag.ON_DEMAND)
        && !device().info().can(Capability.ON_DEMAND_PAGING)) {
      throw new UnsupportedOperationException(
          "the device has no on-demand paging: device=" + device().info().name());
    }
  }

  private EngineRegion add(EngineRegion region) {
    device().add(region);
    if (isEnding()) {
      region.close();
      throw closedException();
    }
    return region;
  }

  @Override
  public final void testQueuePair(QueuePairSettings settings) throws VerbsException {
    checkQueuePair(settings);
    begin();
    try {
      tryQueuePair(settings);
    } finally {
      end();
    }
  }

  /** Creates and destroys a queue pair of the device, where that needs no connection. */
  protected void tryQueuePair(QueuePairSettings settings) throws VerbsException {}

  private void checkQueuePair(QueuePairSettings settings) {
    DeviceLimits limits = device().info().limits();
    if (settings.sendDepth() > limits.maxQueuePairDepth()
        || settings.receiveDepth() > limits.maxQueuePairDepth()
        || settings.maxSge() > limits.maxSge()) {
      throw new IllegalArgumentException(
          "exceeds the limits of the device: "
              + settings
              + (" maxQueuePairDepth=" + limits.maxQueuePairDepth())
              + (" maxSge=" + limits.maxSge()));
    }
    EngineCompletionQueue.check(settings.sendQueue(), device());
    EngineCompletionQueue.check(settings.receiveQueue(), device());
  }

  /**
   * Creates the queue pair of a connection.
   *
   * @throws IllegalStateException when the domain is closed; then it has no new queue pair
   */
  final EngineQueuePair createQueuePair(EngineConnection connection, QueuePairSettings settings)
      throws VerbsException {
    checkQueuePair(settings);
    begin();
    try {
      EngineQueuePair created = connection.newQueuePair(this, settings);
      boolean opened = created.open();
      if (!opened || isEnding()) {
        created.close();
      }
      if (isEnding()) {
        throw closedException();
      }
      if (!opened) {
        throw new VerbsException("rdma_create_qp", "rdma_create_qp failed: too many queue pairs");
      }
      return created;
    } finally {
      end();
    }
  }

  private synchronized void begin() {
    if (isEnding()) {
      throw closedException();
    }
    inProgress++;
  }

  private synchronized void end() {
    inProgress--;
    notifyAll();
  }

  private synchronized boolean isEnding() {
    return ending || device().isClosed();
  }

  /** Waits for what is in progress, which fails because the domain is closed. */
  @Override
  public final void close() {
    synchronized (this) {
      checkUnused();
      ending = true;
    }
    closeWhenDone();
  }

  /** Closes it when what is in progress has closed its regions and queue pairs. */
  final void closeWhenDone() {
    awaitProgress();
    super.close();
  }

  /** Releases the lock while it waits; keeps an interrupt for the caller. */
  private synchronized void awaitProgress() {
    ending = true;
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
}
