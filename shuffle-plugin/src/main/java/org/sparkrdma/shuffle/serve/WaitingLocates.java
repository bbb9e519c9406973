// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.serve;

import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import org.sparkrdma.memory.PinnedBudget;
import org.sparkrdma.shuffle.metrics.Counter;
import org.sparkrdma.shuffle.metrics.ShuffleCounters;

/**
 * The LOCATEs that were suspended, until they are answered or dropped: their deadlines, and which
 * of them wait for memory. The poorest reader is next to get some, and what nothing uses is closed
 * when others lack it. A LOCATE waits for memory while others get some, and so long after that.
 * Confined to the agent, but for {@link #onShortage}.
 */
final class WaitingLocates {
  /** 64 MiB leave in 55 ms at 10 Gb/s. */
  private static final long MEMORY_WAIT_NS = Duration.ofMillis(250).toNanos();

  /** Loads take less, but for those of a disk that is slow. */
  private static final long SLOW_DISK_NS = Duration.ofMillis(50).toNanos();

  /** So long after a LOCATE lacked memory no window is registered beside the answers. */
  private static final long SHORTAGE_NS = Duration.ofSeconds(1).toNanos();

  /** And so long others may lack it still: they do not ask while they use TCP. */
  private static final long LACK_NS = Duration.ofSeconds(10).toNanos();

  /** LOCATEs that look in vain for the memory of a window when some becomes free. */
  private static final int MAX_VAIN = 32;

  private final PinnedBudget budget;
  private final Consumer<Runnable> agent;
  private final LoadContext context;
  private final DiskWork work;
  private final CopyMemory memory;
  private final FileWindows windows;
  private final IdleWindows idleWindows;
  private final LocatePlanner planner;
  private final ShuffleCounters counters;

  /** Gets a LOCATE that has tried to load again. */
  private final Consumer<WaitingLocate> goOn;

  private final Set<WaitingLocate> all = new LinkedHashSet<>();

  /** Those that wait for memory. */
  private final Set<WaitingLocate> forMemory = new LinkedHashSet<>();

  /** Those that load again, for which chunks are free that they have not taken yet. */
  private final List<WaitingLocate> retried = new ArrayList<>(0);

  /** Largest number of bytes that others lack since the last command to make room; 0 for none. */
  private final AtomicLong lackedBytes = new AtomicLong();

  /** Whether a reader has lacked memory in the last seconds; the last one, and when. */
  private boolean isShort;

  private long lackingReader;
  private long shortNs;

  /** Time at which a LOCATE that had waited got some, if one did. */
  private long servedNs;

  private boolean hasServed;

  WaitingLocates(
      ServerParameters server,
      LoadContext context,
      FileWindows windows,
      IdleWindows idleWindows,
      LocatePlanner planner,
      Consumer<WaitingLocate> goOn) {
    this.budget = server.device().budget();
    this.agent = server.agent();
    this.counters = server.counters();
    this.context = context;
    this.work = context.work();
    this.memory = context.memory();
    this.windows = windows;
    this.idleWindows = idleWindows;
    this.planner = planner;
    this.goOn = goOn;
  }

  boolean isEmpty() {
    return all.isEmpty();
  }

  /** A LOCATE is suspended. */
  void add(WaitingLocate locate) {
    all.add(locate);
  }

  /** A LOCATE is answered. */
  void remove(WaitingLocate locate) {
    all.remove(locate);
  }

  /** Drops those of a connection that has ended. */
  void drop(long connection, long nowNs) {
    for (WaitingLocate locate : all.toArray(WaitingLocate[]::new)) {
      if (locate.locate().connection() == connection) {
        drop(locate, nowNs);
        counters.increment(Counter.LOCATES_DROPPED);
      }
    }
  }

  /** Drops all. */
  void dropAll(long nowNs) {
    for (WaitingLocate locate : all.toArray(WaitingLocate[]::new)) {
      drop(locate, nowNs);
    }
  }

  private void drop(WaitingLocate locate, long nowNs) {
    all.remove(locate);
    forMemory.remove(locate);
    locate.end(nowNs);
  }

  // Deadlines.

  /** Resumes those whose time is over, to be answered with what there is; returns their number. */
  int resumeOverdue(long nowNs) {
    int overdue = 0;
    for (WaitingLocate locate : all.toArray(WaitingLocate[]::new)) {
      if (isOpen(locate) && nowNs - deadlineNs(locate) >= 0) {
        forMemory.remove(locate);
        locate.resume();
        overdue++;
      }
    }
    return overdue;
  }

  /** The earliest deadline, or the other time if it is earlier. */
  long nextDeadlineNs(long otherNs) {
    long nextNs = otherNs;
    for (WaitingLocate locate : all) {
      if (isOpen(locate) && deadlineNs(locate) - nextNs < 0) {
        nextNs = deadlineNs(locate);
      }
    }
    return nextNs;
  }

  private static boolean isOpen(WaitingLocate locate) {
    return locate.is(WaitingLocate.State.NO_MEMORY) || locate.is(WaitingLocate.State.LOADING);
  }

  private long deadlineNs(WaitingLocate locate) {
    long deadlineNs = locate.locate().deadlineNs();
    boolean lacks = locate.is(WaitingLocate.State.NO_MEMORY);
    return lacks && memoryDeadlineNs(locate) - deadlineNs < 0
        ? memoryDeadlineNs(locate)
        : deadlineNs;
  }

  private long memoryDeadlineNs(WaitingLocate locate) {
    boolean moved = hasServed && servedNs - locate.waitsSinceNs() > 0;
    return (moved ? servedNs : locate.waitsSinceNs()) + MEMORY_WAIT_NS;
  }

  /** Others lack memory: what is ready does not wait for a disk that is slow. */
  void resumeSlow(long nowNs) {
    for (WaitingLocate locate : all.toArray(WaitingLocate[]::new)) {
      if (locate.is(WaitingLocate.State.LOADING)
          && nowNs - locate.locate().arrivedNs() > SLOW_DISK_NS
          && planner.hasResults(locate, nowNs)) {
        locate.resume();
      }
    }
  }

  // Memory.

  /** Whether some wait for memory. */
  boolean lackMemory() {
    return !forMemory.isEmpty();
  }

  /** A LOCATE has something to be answered with. */
  void onResults(WaitingLocate locate, long nowNs) {
    if (locate.waitsSinceNs() != 0) {
      hasServed = true;
      servedNs = nowNs;
    }
  }

  /** Whether a LOCATE that lacks memory may wait, perhaps again. */
  boolean mayWait(WaitingLocate locate, long nowNs) {
    return locate.waitsSinceNs() == 0 || nowNs - memoryDeadlineNs(locate) < 0;
  }

  /** One for which nothing has loaded waits for memory. */
  void waitForMemory(WaitingLocate locate, long nowNs) {
    if (locate.waitsSinceNs() == 0) {
      counters.increment(Counter.SERVE_WAITS);
    }
    locate.waitForMemory(nowNs);
    forMemory.add(locate);
    if (context.waitsForWindows() || memory.isExhausted()) {
      // Not only the share of its reader is used up.
      isShort = true;
      shortNs = nowNs;
      lackingReader = locate.locate().reader();
      windows.offerNoneUntil(nowNs + SHORTAGE_NS);
    }
  }

  /** Memory may have become free: those that wait load again, the poorest reader first. */
  void serveMemory(long nowNs) {
    if (forMemory.isEmpty()) {
      return;
    }
    if (memory.isExhausted() && idleWindows.bytes() > 0) {
      // They were in use when memory was wanted.
      onShortage(BlockLoad.MAX_BYTES);
    }
    // One for each chunk that is free: more would only find it taken.
    retried.removeIf(one -> !one.hasRetriedSince(nowNs - SLOW_DISK_NS));
    long most = context.waitsForWindows() ? forMemory.size() : memory.freeChunks() - retried.size();
    int vain = 0;
    for (long left = Math.min(most, forMemory.size()); left > 0 && vain < MAX_VAIN; left--) {
      WaitingLocate next = null;
      for (WaitingLocate one : forMemory) {
        if ((context.waitsForWindows() || memory.couldTake(one.share()))
            && (next == null || one.share().bytes() < next.share().bytes())) {
          next = one;
        }
      }
      if (next == null) {
        return;
      }
      forMemory.remove(next);
      next.retry(nowNs);
      retried.add(next);
      planner.loadAll(next, nowNs);
      goOn.accept(next);
      vain += context.waitsForWindows() && next.is(WaitingLocate.State.NO_MEMORY) ? 1 : 0;
    }
  }

  /** Whether other readers than this one have waited for memory in the last seconds. */
  boolean isLackedByOthers(long reader, long nowNs) {
    isShort &= nowNs - shortNs < LACK_NS;
    return isShort && lackingReader != reader;
  }

  /** Others lack pinned memory, perhaps thousands of times a second. Any thread. */
  void onShortage(long lengthBytes) {
    if (lackedBytes.getAndAccumulate(lengthBytes, Math::max) == 0) {
      agent.accept(this::makeRoom);
    }
  }

  /** Closes memory that nothing uses: windows first, then that of copies. */
  private void makeRoom() {
    long neededBytes = lackedBytes.getAndSet(0);
    boolean refused = budget.takeRefusal();
    long lackedNow = neededBytes;
    if (!refused) {
      // The device may have no room, whatever the budget could grant.
      lackedNow -= work.closingBytes() + (memory.isExhausted() ? 0 : budget.availableBytes());
    }
    if (lackedNow <= 0) {
      return;
    }
    // Windows that page on demand hold nothing of the budget.
    boolean mayEvict = refused || idleWindows.bytes() > 0;
    long evictedBytes = mayEvict ? idleWindows.evict(lackedNow) : 0;
    if (evictedBytes < lackedNow && memory.unusedBytes() > 0) {
      work.deregister(() -> memory.closeUnused(neededBytes));
    }
  }
}
