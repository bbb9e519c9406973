// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.serve;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.sparkrdma.shuffle.output.ComputedChecksums;
import org.sparkrdma.shuffle.output.MapOutputs;
import org.sparkrdma.shuffle.wire.Locate;

/**
 * Cache of map outputs: offsets and checksums are read once.
 *
 * <p>Bounded in map outputs and in partitions, which determine the heap: above a limit the least
 * recently used map output that nothing holds is evicted with its windows and copies. LOCATEs that
 * wait keep the map outputs that they need, within the same limits: one that does not fit beside
 * them fails to load. Confined to the agent.
 */
final class IndexCache {
  private static final Logger LOG = LoggerFactory.getLogger(IndexCache.class);
  private static final float LOAD_FACTOR = 0.75f;

  /** Maximum number of partitions of all entries: 32 MiB of heap at 16 bytes each. */
  static final int MAX_PARTITIONS = 2 << 20;

  private final MapOutputs source;
  private final DiskWork work;
  private final int maxEntries;
  private final int windowBytes;
  private final int checksumKind;

  /** Least recently used first. */
  private final Map<Key, CachedOutput> entries = new LinkedHashMap<>(16, LOAD_FACTOR, true);

  private final Key wanted = new Key();
  private long partitions;

  /** Map outputs that waiting LOCATEs keep, and their partitions. */
  private int keptOutputs;

  private long keptPartitions;

  /**
   * @param checksumKind of computed checksums
   */
  IndexCache(MapOutputs source, DiskWork work, int maxEntries, int windowBytes, int checksumKind) {
    this.source = source;
    this.work = work;
    this.maxEntries = maxEntries;
    this.windowBytes = windowBytes;
    this.checksumKind = checksumKind;
  }

  /** A map output of an owner, as in {@link Locate}; null when it is not cached. */
  CachedOutput get(int owner, int shuffleId, long mapId) {
    return entries.get(wanted.set(owner, shuffleId, mapId));
  }

  /** A map output; begins to load it if necessary. */
  CachedOutput getOrLoad(int owner, int shuffleId, long mapId) {
    CachedOutput output = get(owner, shuffleId, mapId);
    if (output == null) {
      output = new CachedOutput(this, source, owner, shuffleId, mapId, windowBytes);
      entries.put(new Key().set(owner, shuffleId, mapId), output);
      work.load(source.indexDiskOf(owner, shuffleId, mapId), output);
    }
    return output;
  }

  /** Whether a LOCATE that waits may keep a map output; the first one it always may. */
  boolean mayKeep(CachedOutput output, int count) {
    return keptOutputs == 0
        || (output.isReady() && output.isHeld())
        || (keptOutputs < maxEntries && keptPartitions + count <= MAX_PARTITIONS);
  }

  void onKept(CachedOutput output) {
    keptOutputs++;
    keptPartitions += output.partitions();
  }

  void onReleased(CachedOutput output) {
    keptOutputs--;
    keptPartitions -= output.partitions();
  }

  void onLoaded(CachedOutput output) {
    keptOutputs += output.isHeld() ? 1 : 0;
    addPartitions(output, output.mapOutput().partitions());
  }

  private void addPartitions(CachedOutput output, int count) {
    if (output.isRemoved()) {
      return;
    }
    output.addPartitions(count);
    partitions += count;
    keptPartitions += output.isHeld() ? count : 0;
    Iterator<CachedOutput> eldestFirst = entries.values().iterator();
    while ((entries.size() > maxEntries || partitions > MAX_PARTITIONS) && eldestFirst.hasNext()) {
      CachedOutput eldest = eldestFirst.next();
      if (!eldest.isInUse()) {
        eldestFirst.remove();
        remove(eldest);
      }
    }
  }

  private void remove(CachedOutput output) {
    partitions -= output.partitions();
    output.remove();
  }

  /** Removes one whose load has failed. */
  void drop(CachedOutput output) {
    if (!output.isRemoved()) {
      entries.remove(wanted.set(output.owner(), output.shuffleId(), output.mapId()));
      output.remove();
    }
  }

  /** Removes the map outputs of a shuffle, whose files are deleted. */
  void unregister(int shuffleId) {
    List<CachedOutput> removed = new ArrayList<>();
    entries.values().removeIf(output -> output.shuffleId() == shuffleId && removed.add(output));
    removed.forEach(this::remove);
  }

  /** Removes all entries. */
  void close() {
    List<CachedOutput> all = List.copyOf(entries.values());
    entries.clear();
    all.forEach(this::remove);
  }

  /** Checksums at an offset of the file, in a block; begins to compute them if necessary. */
  Sums sums(CachedOutput output, long blockStart, long blockEnd, long at) {
    Sums sums = output.sums(blockStart, blockEnd, at);
    if (sums == null) {
      long start = ComputedChecksums.groupStart(blockStart, at);
      sums = new Sums(output, start, ComputedChecksums.groupEnd(start, blockEnd));
      output.sums().put(sums.key, sums);
      work.load(output.disk(), sums);
    }
    return sums;
  }

  /** Computed checksums of the cells of a range. */
  final class Sums extends CacheEntry {
    private final CachedOutput output;
    private final long start;
    private final long end;
    private final CachedOutput.RangeKey key;
    private long[] values;

    Sums(CachedOutput output, long start, long end) {
      this.output = output;
      this.start = start;
      this.end = end;
      this.key = new CachedOutput.RangeKey().set(start, end - start);
    }

    long start() {
      return start;
    }

    long[] values() {
      return values;
    }

    @Override
    void load() throws IOException {
      values = ComputedChecksums.compute(output.mapOutput(), start, end, checksumKind);
    }

    @Override
    boolean onLoaded(Exception failure, long nowNs) {
      if (failure != null) {
        LOG.trace("Block cannot be read; the reader uses TCP", failure);
        return false;
      }
      addPartitions(output, values.length);
      return true;
    }

    @Override
    void onDropped() {
      output.sums().remove(key);
    }
  }

  /** Key of a map output; changed only while it is not in the map. */
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
          && key.mapId == mapId
          && key.shuffleId == shuffleId
          && key.owner == owner;
    }

    @Override
    public int hashCode() {
      return Long.hashCode(mapId) * 31 + shuffleId;
    }
  }
}
