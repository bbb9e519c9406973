// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.serve;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.sparkrdma.memory.PinnedBudget;
import org.sparkrdma.verbs.MemoryRegion;
import org.sparkrdma.verbs.RemoteRegion;
import org.sparkrdma.verbs.VerbsException;

/**
 * A range of a map output's data file that is registered for remote reading.
 *
 * <pre>
 *  LOADING ──► IDLE ◄──► LEASED      evicted only when it is IDLE
 *     │          └──► CLOSED
 *     └──────► CLOSED               it could not be registered
 * </pre>
 *
 * <p>Confined to the agent, but for {@link #load} and {@link #close}.
 */
final class FileWindow implements Leased {
  private enum State {
    LOADING,
    IDLE,
    LEASED,
    CLOSED
  }

  /** Part of a window whose bytes may have been copied while it was registered. */
  private static final int COPIED_PART = 8;

  private final FileWindows windows;
  private final IdleWindows idle;
  private final IndexCache.Entry entry;
  private final long offset;
  private final int lengthBytes;

  /** Null when it pages on demand. */
  private final PinnedBudget.Grant grant;

  /** Bytes that are not located yet: those behind the block for which it was made. */
  private long leftBytes;

  private final List<Runnable> waiters = new ArrayList<>(0);

  private State state = State.LOADING;
  private MemoryRegion region;
  private long address;
  private long remoteKey;
  private int leases;

  /** The lease that has held it last, which holds it once. */
  private Object lastLease;

  private long idleSinceNs;

  private long loadNs;
  private long closeNs;

  FileWindow(
      FileWindows windows,
      IdleWindows idle,
      IndexCache.Entry entry,
      long offset,
      int lengthBytes,
      PinnedBudget.Grant grant,
      long leftBytes) {
    this.windows = windows;
    this.idle = idle;
    this.entry = entry;
    this.offset = offset;
    this.lengthBytes = lengthBytes;
    this.grant = grant;
    this.leftBytes = leftBytes;
  }

  IndexCache.Entry entry() {
    return entry;
  }

  /** Bytes of it are located; returns whether it is spent now. */
  boolean onLocated(int locatedBytes) {
    leftBytes -= locatedBytes;
    return isSpent();
  }

  /** Whether all of it was located: jobs read each byte once, about in the order of the file. */
  boolean isSpent() {
    return isSpent(leftBytes, lengthBytes);
  }

  /** The same for one of this length, of which so many bytes are left. */
  static boolean isSpent(long leftBytes, long lengthBytes) {
    return leftBytes <= lengthBytes / COPIED_PART;
  }

  /** Whether it is registered now, or waits for that. */
  boolean isLoading() {
    return state == State.LOADING;
  }

  boolean isIdle() {
    return state == State.IDLE;
  }

  /** Whether it may be READ. */
  boolean isReady() {
    return state == State.IDLE || state == State.LEASED;
  }

  /** Offset of its first byte in the file. */
  long offset() {
    return offset;
  }

  int lengthBytes() {
    return lengthBytes;
  }

  /** Offset of the byte after its last one in the file. */
  long end() {
    return offset + lengthBytes;
  }

  /** Address of its first byte as peers see it. */
  long address() {
    return address;
  }

  long remoteKey() {
    return remoteKey;
  }

  long idleSinceNs() {
    return idleSinceNs;
  }

  /** How long the registration took. */
  long loadNs() {
    return loadNs;
  }

  /** How long the deregistration took. */
  long closeNs() {
    return closeNs;
  }

  /** Runs something when it is registered, or could not be. */
  void whenRegistered(Runnable waiter) {
    waiters.add(waiter);
  }

  /**
   * Registers it; on a thread of its disk.
   *
   * @throws IOException when the file cannot be read
   * @throws VerbsException when the device refuses
   */
  void load() throws IOException, VerbsException {
    long beganNs = windows.nowNs();
    try {
      region = windows.register(this);
    } finally {
      if (region == null && grant != null) {
        grant.close();
      }
    }
    loadNs = windows.nowNs() - beganNs;
  }

  /** It is registered. */
  void onLoaded(long nowNs) {
    RemoteRegion remote = region.remote();
    address = remote.address();
    remoteKey = remote.remoteKey();
    // LOCATEs may wait for it, also if it is spent.
    becomeIdle(false, nowNs);
  }

  /** It could not be registered. */
  void onFailed() {
    state = State.CLOSED;
  }

  /** After {@link #onLoaded} or {@link #onFailed}. */
  void runWaiters() {
    waiters.forEach(Runnable::run);
    waiters.clear();
  }

  @Override
  public boolean hold(Object lease) {
    if (lastLease == lease) {
      return false;
    }
    lastLease = lease;
    leases++;
    if (leases == 1) {
      state = State.LEASED;
      idle.remove(this);
      entry.addBusyWindows(1);
    }
    return true;
  }

  @Override
  public void release(long nowNs) {
    leases--;
    if (leases == 0) {
      lastLease = null;
      entry.addBusyWindows(-1);
      becomeIdle(isSpent(), nowNs);
    }
  }

  private void becomeIdle(boolean isSpent, long nowNs) {
    state = State.IDLE;
    idleSinceNs = nowNs;
    idle.add(this, isSpent);
    if (entry.isRemoved()) {
      evict();
    }
  }

  /** Ends it, which is idle. */
  void evict() {
    state = State.CLOSED;
    idle.remove(this);
    windows.close(this);
  }

  /** Bytes that it holds of the budget. */
  long pinnedBytes() {
    return grant == null ? 0 : lengthBytes;
  }

  /** Deregisters it, which may wait for the device. */
  void close() {
    long beganNs = windows.nowNs();
    try {
      region.close();
    } finally {
      if (grant != null) {
        grant.close();
      }
    }
    closeNs = windows.nowNs() - beganNs;
  }
}
