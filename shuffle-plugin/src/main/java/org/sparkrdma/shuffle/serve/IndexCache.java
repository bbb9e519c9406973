// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.serve;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import org.sparkrdma.shuffle.metrics.Counter;
import org.sparkrdma.shuffle.metrics.ShuffleCounters;
import org.sparkrdma.shuffle.output.MapOutput;
import org.sparkrdma.shuffle.output.MapOutputs;
import org.sparkrdma.shuffle.wire.Locate;

/**
 * Map outputs whose offsets and checksums are kept, with the windows of their files. Bounded in
 * partitions, which determine the heap, together with those of the indexes that loads read as a
 * whole (half as many more, where these may take the place of others). The files of a map output
 * never change, because a map id is of one attempt of a task: {@code RdmaPolicy} refuses Spark's
 * protocol before that.
 *
 * <p>A new one takes the place only of what was not used for a while: of more outputs than fit,
 * read one after the other again and again, a part stays that way, and the others are read in part
 * for each block. Confined to the agent, but for {@link #known} and {@link #tryClaim}.
 */
final class IndexCache {
  /** What an entry costs beside its partitions. */
  static final int ENTRY_PARTITIONS = 16;

  /** An entry that was used since is not evicted. */
  static final Duration RECENT = Duration.ofSeconds(5);

  /** Part of the cache in whose place indexes may be read as a whole. */
  private static final int EVICTABLE_PART = 2;

  /** What can be evicted is looked for again after this time. */
  private static final long LOOK_NS = Duration.ofMillis(100).toNanos();

  private static final float LOAD_FACTOR = 0.75f;
  private static final long RECENT_NS = RECENT.toNanos();

  private final MapOutputs source;
  private final int windowBytes;
  private final int maxPartitions;
  private final ShuffleCounters counters;

  /** Least recently used first. */
  private final Map<Key, Entry> entries = new LinkedHashMap<>(16, LOAD_FACTOR, true);

  /** Those that are kept, for loads that were planned before. Written by the agent. */
  private final Map<Key, MapOutput> known = new ConcurrentHashMap<>();

  /** Cost of what is kept, and of what loads have read as a whole until they end. */
  private final AtomicLong partitions = new AtomicLong();

  private long evictable;
  private long lookedNs;
  private boolean hasLooked;

  /** Number of shuffles that were removed: what began to load before is not kept. */
  private long generation;

  /** That of a look-up. */
  private final Key wanted = new Key();

  /** Of a map output. Not changed while it is in a map. */
  private static final class Key {
    private int owner;
    private int shuffleId;
    private long mapId;

    Key set(int newOwner, int newShuffleId, long newMapId) {
      owner = newOwner;
      shuffleId = newShuffleId;
      mapId = newMapId;
      return this;
    }

    @Override
    public boolean equals(Object other) {
      return other instanceof Key key
          && mapId == key.mapId
          && shuffleId == key.shuffleId
          && owner == key.owner;
    }

    @Override
    public int hashCode() {
      return 31 * (31 * Long.hashCode(mapId) + shuffleId) + owner;
    }
  }

  /** A map output, and what is registered of its file. */
  static final class Entry {
    private final Key key;
    private final MapOutput map;
    private final int disk;
    private final int blocks;

    /** Those of the file in their order; null where none is. */
    private final FileWindow[] windows;

    private final int windowShift;
    private long usedNs;
    private long registersFromNs;
    private boolean removed;

    /** Number of windows that load or are leased. */
    private int busyWindows;

    private Entry(Key key, MapOutput map, int disk, int windowBytes, long nowNs) {
      this.key = key;
      this.map = map;
      this.disk = disk;
      this.blocks = map.blocks();
      int windowCount = Math.toIntExact((map.lengthBytes() + windowBytes - 1) / windowBytes);
      this.windows = new FileWindow[windowCount];
      // A division for each extent costs much.
      this.windowShift = Integer.numberOfTrailingZeros(windowBytes);
      this.usedNs = nowNs;
      this.registersFromNs = nowNs;
    }

    MapOutput map() {
      return map;
    }

    /** Index of the disk of its data file. */
    int disk() {
      return disk;
    }

    /** Number of its partitions that are not empty. */
    int blocks() {
      return blocks;
    }

    /** The window with a byte of the file, when it may be READ; else null. */
    FileWindow readyWindow(long fileOffset) {
      FileWindow window = window(fileOffset);
      return window != null && window.isReady() ? window : null;
    }

    /** The window with a byte of the file, in any state; null without one. */
    FileWindow window(long fileOffset) {
      return windows[(int) (fileOffset >>> windowShift)];
    }

    /** Sets the window with a byte of the file; null for none. */
    void setWindow(long fileOffset, FileWindow window) {
      windows[(int) (fileOffset >>> windowShift)] = window;
    }

    void addBusyWindows(int count) {
      busyWindows += count;
    }

    /** A registration has failed: not to be tried again before this time. */
    void registersFrom(long timeNs) {
      registersFromNs = timeNs;
    }

    boolean mayRegister(long nowNs) {
      return !removed && nowNs - registersFromNs >= 0;
    }

    /** Whether it is no longer in the cache: its windows end as soon as nothing holds them. */
    boolean isRemoved() {
      return removed;
    }
  }

  /**
   * @param windowBytes length of a window, a power of two
   * @param maxPartitions of all entries together
   */
  IndexCache(MapOutputs source, int windowBytes, int maxPartitions, ShuffleCounters counters) {
    this.source = source;
    this.windowBytes = windowBytes;
    this.maxPartitions = maxPartitions;
    this.counters = counters;
  }

  /** A map output of an owner, as in {@link Locate}; null when it is not kept. */
  Entry get(int owner, int shuffleId, long mapId, long nowNs) {
    Entry entry = entries.get(wanted.set(owner, shuffleId, mapId));
    if (entry != null) {
      entry.usedNs = nowNs;
    }
    return entry;
  }

  /** Changes when a shuffle is removed. */
  long generation() {
    return generation;
  }

  /** A map output that is kept by now; else null. Any thread. */
  MapOutput known(int owner, int shuffleId, long mapId) {
    return known.get(new Key().set(owner, shuffleId, mapId));
  }

  /**
   * Whether a load may read an index as a whole: it would be kept, perhaps in place of others.
   * {@link #offer} or {@link #endClaim} follows. Any thread.
   *
   * @param count its partitions
   * @param evictablePartitions what could be evicted when the load began
   */
  boolean tryClaim(BlockLoad.Part part, int count, long evictablePartitions) {
    long cost = cost(count);
    long most = maxPartitions + evictablePartitions - cost;
    boolean fits = partitions.getAndUpdate(now -> now > most ? now : now + cost) <= most;
    part.claimed = fits ? cost : 0;
    return fits;
  }

  /** An index that was read as a whole is not kept. Does nothing without a claim. */
  void endClaim(BlockLoad.Part part) {
    partitions.addAndGet(-part.claimed);
    part.claimed = 0;
  }

  /** What could be evicted a short while ago. */
  long evictable(long nowNs) {
    if (!hasLooked || nowNs - lookedNs > LOOK_NS) {
      hasLooked = true;
      lookedNs = nowNs;
      long enough = maxPartitions / EVICTABLE_PART;
      evictable = Math.min(enough, evictable(enough, nowNs));
    }
    return evictable;
  }

  /** What can be evicted now, or a part of it that is enough. */
  private long evictable(long enough, long nowNs) {
    long found = 0;
    for (Entry eldest : entries.values()) {
      if (found >= enough || isRecent(eldest, nowNs)) {
        break;
      }
      found += eldest.busyWindows == 0 ? cost(eldest.map.partitions()) : 0;
    }
    return found;
  }

  private static boolean isRecent(Entry entry, long nowNs) {
    return nowNs - entry.usedNs < RECENT_NS;
  }

  private static long cost(int count) {
    return (long) ENTRY_PARTITIONS + count;
  }

  /**
   * Counts a map output that was read for a block, and keeps it if there is room.
   *
   * @param loadedIn generation in which its load began
   */
  void offer(BlockLoad.Part part, long loadedIn, long nowNs) {
    MapOutput map = part.map;
    counters.increment(map.isWhole() ? Counter.INDEXES_READ : Counter.INDEX_PARTS_READ);
    if (!map.isWhole()
        || loadedIn != generation
        || get(part.owner, part.shuffleId, part.mapId, nowNs) != null
        || (part.claimed == 0 && !tryClaim(part, map.partitions(), evictable(nowNs)))) {
      return;
    }
    // Others that are read now evict for themselves.
    long lacking = Math.min(part.claimed, partitions.get() - maxPartitions);
    if (evictable(lacking, nowNs) < lacking) {
      return;
    }
    Iterator<Entry> eldestFirst = entries.values().iterator();
    while (lacking > 0) {
      Entry eldest = eldestFirst.next();
      if (eldest.busyWindows == 0) {
        eldestFirst.remove();
        remove(eldest);
        lacking -= cost(eldest.map.partitions());
      }
    }
    part.claimed = 0;
    Key key = new Key().set(part.owner, part.shuffleId, part.mapId);
    entries.put(key, new Entry(key, map, source.dataDisk(map), windowBytes, nowNs));
    known.put(key, map);
  }

  private void remove(Entry entry) {
    partitions.addAndGet(-cost(entry.map.partitions()));
    known.remove(entry.key);
    entry.removed = true;
    for (FileWindow window : entry.windows) {
      if (window != null && window.isIdle()) {
        window.evict();
      }
    }
  }

  /** Forgets a map output whose file cannot be read. */
  void drop(int owner, int shuffleId, long mapId) {
    Entry entry = entries.remove(wanted.set(owner, shuffleId, mapId));
    if (entry != null) {
      remove(entry);
    }
  }

  /** Removes the map outputs of a shuffle, whose files are deleted. */
  void unregister(int shuffleId) {
    generation++;
    List<Entry> removed = new ArrayList<>();
    entries.values().removeIf(entry -> entry.key.shuffleId == shuffleId && removed.add(entry));
    removed.forEach(this::remove);
  }

  /** Removes all entries. */
  void close() {
    generation++;
    List<Entry> all = List.copyOf(entries.values());
    entries.clear();
    all.forEach(this::remove);
  }
}
