// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.serve;

import java.io.IOException;
import java.util.HashMap;
import java.util.Map;
import java.util.OptionalLong;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.sparkrdma.shuffle.output.ComputedChecksums;
import org.sparkrdma.shuffle.output.MapOutput;
import org.sparkrdma.shuffle.output.MapOutputs;

/**
 * A map output in the {@link IndexCache}, and what is cached of its files. Confined to the agent,
 * but for {@link #load}.
 */
final class CachedOutput extends CacheEntry {
  private static final Logger LOG = LoggerFactory.getLogger(CachedOutput.class);

  /** Key of a range of the data file; changed only while it is in no map. */
  static final class RangeKey {
    private long offset;
    private long lengthBytes;

    RangeKey set(long newOffset, long newLengthBytes) {
      offset = newOffset;
      lengthBytes = newLengthBytes;
      return this;
    }

    @Override
    public boolean equals(Object other) {
      return other instanceof RangeKey key
          && key.offset == offset
          && key.lengthBytes == lengthBytes;
    }

    @Override
    public int hashCode() {
      return Long.hashCode(offset * 31 + lengthBytes);
    }
  }

  private final IndexCache cache;
  private final MapOutputs source;
  private final int owner;
  private final int shuffleId;
  private final long mapId;
  private final int windowBytes;
  private MapOutput mapOutput;
  private int disk;
  private FileWindows.Window[] windows;

  /** By their offsets; the length in the key is 0. */
  private final Map<RangeKey, CopyPool.Copy> copies = new HashMap<>(0);

  private final Map<RangeKey, IndexCache.Sums> sums = new HashMap<>(0);
  private final RangeKey wanted = new RangeKey();
  private int partitions;
  private int heldRanges;
  private boolean removed;
  private boolean hasNoRoom;
  private OptionalLong refusedUntilNs = OptionalLong.empty();

  CachedOutput(
      IndexCache cache, MapOutputs source, int owner, int shuffleId, long mapId, int windowBytes) {
    this.cache = cache;
    this.source = source;
    this.owner = owner;
    this.shuffleId = shuffleId;
    this.mapId = mapId;
    this.windowBytes = windowBytes;
  }

  /** Its owner, as in a LOCATE. */
  int owner() {
    return owner;
  }

  int shuffleId() {
    return shuffleId;
  }

  long mapId() {
    return mapId;
  }

  @Override
  void load() throws IOException {
    mapOutput = source.openOf(owner, shuffleId, mapId);
  }

  @Override
  boolean onLoaded(Exception failure, long nowNs) {
    if (failure != null) {
      LOG.trace("Map output cannot be served: shuffle={} map={}", shuffleId, mapId, failure);
      return false;
    }
    if (mapOutput == null) {
      return false;
    }
    hasNoRoom = !cache.mayKeep(this, mapOutput.partitions());
    if (hasNoRoom) {
      // Its waiting LOCATEs keep this entry, but not its offsets and checksums.
      mapOutput = null;
      return false;
    }
    disk = source.dataDisk(mapOutput);
    windows =
        new FileWindows.Window
            [Math.toIntExact((mapOutput.lengthBytes() + windowBytes - 1) / windowBytes)];
    cache.onLoaded(this);
    return true;
  }

  @Override
  void onHeld() {
    if (isReady()) {
      cache.onKept(this);
    }
  }

  @Override
  void onReleased() {
    if (isReady()) {
      cache.onReleased(this);
    }
  }

  /** Whether its load has failed because waiting LOCATEs keep as many others as fit. */
  boolean hasNoRoom() {
    return hasNoRoom;
  }

  @Override
  void onDropped() {
    cache.drop(this);
  }

  MapOutput mapOutput() {
    return mapOutput;
  }

  /** Index of the disk of its data file. */
  int disk() {
    return disk;
  }

  /** The window at an index; null when it is not cached. */
  FileWindows.Window window(int index) {
    return windows[index];
  }

  void addWindow(int index, FileWindows.Window window) {
    windows[index] = window;
  }

  /** A window is no longer in the cache; it may still be registered. */
  void removeWindow(int index) {
    windows[index] = null;
  }

  /** The copy that begins at an offset; null when it is not cached. */
  CopyPool.Copy copy(long offset) {
    return copies.get(wanted.set(offset, 0));
  }

  Map<RangeKey, CopyPool.Copy> copies() {
    return copies;
  }

  /** Computed checksums at an offset of the file, in a block; null when they are not cached. */
  IndexCache.Sums sums(long blockStart, long blockEnd, long at) {
    long start = ComputedChecksums.groupStart(blockStart, at);
    long end = ComputedChecksums.groupEnd(start, blockEnd);
    return sums.get(wanted.set(start, end - start));
  }

  Map<RangeKey, IndexCache.Sums> sums() {
    return sums;
  }

  /** Number of partitions and computed checksums that it has in memory. */
  int partitions() {
    return partitions;
  }

  void addPartitions(int count) {
    partitions += count;
  }

  void onRangeHeld() {
    heldRanges++;
  }

  void onRangeReleased() {
    heldRanges--;
  }

  /** Whether it must stay in the cache. */
  boolean isInUse() {
    return isLoading() || isHeld() || heldRanges > 0;
  }

  /** Windows could not be registered: not to be tried again before this time. */
  void refuseWindows(long untilNs) {
    refusedUntilNs = OptionalLong.of(untilNs);
  }

  boolean mayRegister(long nowNs) {
    return refusedUntilNs.isEmpty() || nowNs - refusedUntilNs.getAsLong() >= 0;
  }

  /** Whether it is no longer in the cache: its ranges are freed as soon as nothing holds them. */
  boolean isRemoved() {
    return removed;
  }

  /** It is no longer in the cache. */
  void remove() {
    removed = true;
    if (windows != null) {
      for (FileWindows.Window window : windows) {
        if (window != null && window.isIdle()) {
          window.evict();
        }
      }
      for (CopyPool.Copy copy : copies.values().toArray(CopyPool.Copy[]::new)) {
        if (copy.isIdle()) {
          copy.evict();
        }
      }
    }
  }
}
