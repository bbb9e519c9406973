// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.serve;

import java.io.IOException;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.sparkrdma.shuffle.metrics.Counter;
import org.sparkrdma.shuffle.metrics.ShuffleCounters;
import org.sparkrdma.shuffle.output.MapOutput;
import org.sparkrdma.shuffle.output.MapOutputs;

/**
 * Cache of map outputs: offsets and checksums are read once, of large indexes those that are
 * requested.
 *
 * <p>Bounded in map outputs and in partitions, which determine the heap: above a limit the least
 * recently used map output without leases is evicted with its windows. Used with the server's lock.
 */
final class ServedOutputs {
  private static final Logger LOG = LoggerFactory.getLogger(ServedOutputs.class);
  private static final float LOAD_FACTOR = 0.75f;

  /** Maximum number of partitions of all entries: 32 MiB of heap at 16 bytes each. */
  static final int MAX_PARTITIONS = 2 << 20;

  private final MapOutputs mapOutputs;
  private final UnleasedWindows windows;
  private final ShuffleCounters counters;
  private final int maxEntries;
  private final int windowBytes;
  private final StateLock state;

  /** Least recently used first. */
  private final Map<Key, ServedOutput> entries = new LinkedHashMap<>(16, LOAD_FACTOR, true);

  private final Key wanted = new Key();
  private long partitions;
  private long unregistrations;

  ServedOutputs(
      MapOutputs mapOutputs,
      UnleasedWindows windows,
      ShuffleCounters counters,
      int maxEntries,
      int windowBytes,
      StateLock state) {
    this.mapOutputs = mapOutputs;
    this.windows = windows;
    this.counters = counters;
    this.maxEntries = maxEntries;
    this.windowBytes = windowBytes;
    this.state = state;
  }

  /** A cached map output; null when it is not cached. */
  ServedOutput cached(int shuffleId, long mapId) {
    assert state.isHeld();
    wanted.set(shuffleId, mapId);
    return entries.get(wanted);
  }

  /** Index of the disk that {@link #open} reads. */
  int indexDisk(int shuffleId, long mapId) {
    return mapOutputs.indexDisk(shuffleId, mapId);
  }

  /** Opens a map output; null when it does not exist or cannot be read. */
  ServedOutput open(int shuffleId, long mapId) {
    while (true) {
      long before = unregistrations;
      MapOutput mapOutput;
      try {
        mapOutput = state.unlocked(() -> mapOutputs.open(shuffleId, mapId));
      } catch (IOException e) {
        LOG.trace("Map output cannot be served: shuffle={} map={}", shuffleId, mapId, e);
        return null;
      }
      ServedOutput other = cached(shuffleId, mapId);
      if (mapOutput == null || other != null) {
        return other;
      }
      if (before == unregistrations) {
        return add(shuffleId, mapId, mapOutput);
      }
      // It may be of the shuffle that was unregistered meanwhile: look again.
    }
  }

  private ServedOutput add(int shuffleId, long mapId, MapOutput mapOutput) {
    evictFor(1, mapOutput.loadedPartitions());
    ServedOutput output =
        new ServedOutput(shuffleId, mapId, mapOutput, mapOutputs.dataDisk(mapOutput), windowBytes);
    Key key = new Key();
    key.set(shuffleId, mapId);
    entries.put(key, output);
    partitions += mapOutput.loadedPartitions();
    return output;
  }

  /**
   * Reads the offsets and checksums of these partitions.
   *
   * @throws IOException when the files cannot be read or are inconsistent
   */
  void load(ServedOutput output, int startReduceId, int endReduceId) throws IOException {
    MapOutput mapOutput = output.mapOutput();
    var pages = state.unlocked(() -> mapOutput.read(startReduceId, endReduceId));
    int more = mapOutput.add(pages);
    if (!output.isRemoved()) {
      partitions += more;
      evictFor(0, 0);
    }
  }

  private void evictFor(int moreEntries, int morePartitions) {
    Iterator<ServedOutput> eldestFirst = entries.values().iterator();
    while ((entries.size() + moreEntries > maxEntries
            || partitions + morePartitions > MAX_PARTITIONS)
        && eldestFirst.hasNext()) {
      ServedOutput output = eldestFirst.next();
      if (!output.isInUse()) {
        eldestFirst.remove();
        counters.add(Counter.WINDOWS_EVICTED, windows.removeOutput(output));
        partitions -= output.mapOutput().loadedPartitions();
      }
    }
  }

  /**
   * Removes the map outputs of a shuffle. {@code pending} waits for those with windows, which
   * {@link UnleasedWindows#deregisterRemoved} deregisters after the end of their last lease. After
   * an Error, another call with the same {@code pending} goes on.
   */
  void unregister(int shuffleId, PendingUnregistration pending) {
    unregistrations++;
    Iterator<Map.Entry<Key, ServedOutput>> all = entries.entrySet().iterator();
    while (all.hasNext()) {
      Map.Entry<Key, ServedOutput> entry = all.next();
      if (entry.getKey().shuffleId == shuffleId) {
        unregister(entry.getValue(), pending);
        all.remove();
        partitions -= entry.getValue().mapOutput().loadedPartitions();
      }
    }
  }

  private void unregister(ServedOutput output, PendingUnregistration pending) {
    if (output.isRegistered() && !output.isUnregistered()) {
      pending.await();
      output.unregister(pending);
    }
    windows.removeOutput(output);
  }

  /** Removes all entries, after the last lease has ended. */
  void close() {
    entries.values().forEach(windows::removeOutput);
    windows.deregisterRemoved(Integer.MAX_VALUE);
    entries.clear();
    partitions = 0;
  }

  /** Key of a map output; changed only while it is not in the map. */
  private static final class Key {
    private int shuffleId;
    private long mapId;

    void set(int newShuffleId, long newMapId) {
      shuffleId = newShuffleId;
      mapId = newMapId;
    }

    @Override
    public boolean equals(Object other) {
      return other instanceof Key key && key.mapId == mapId && key.shuffleId == shuffleId;
    }

    @Override
    public int hashCode() {
      return Long.hashCode(mapId) * 31 + shuffleId;
    }
  }
}
