/*
 * Licensed under the Apache License, Version 2.0 (the "License");
 * you may not use this file except in compliance with the License.
 * You may obtain a copy of the License at
 *
 *     http://www.apache.org/licenses/LICENSE-2.0
 *
 * Unless required by applicable law or agreed to in writing, software
 * distributed under the License is distributed on an "AS IS" BASIS,
 * WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
 * See the License for the specific language governing permissions and
 * limitations under the License.
 */
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
 * Cache of map outputs: index and checksums are read once.
 *
 * <p>Bounded in map outputs and in partitions, which determine the heap: above a limit the least
 * recently used map output without leases is evicted with its windows. On the server's thread.
 */
final class ServedOutputs {
  private static final Logger LOGGER = LoggerFactory.getLogger(ServedOutputs.class);
  private static final float LOAD_FACTOR = 0.75f;

  /** Maximum number of partitions of all entries: 32 MiB of heap at 16 bytes each. */
  static final int MAX_PARTITIONS = 2 << 20;

  private final MapOutputs mapOutputs;
  private final RegisteredFiles files;
  private final ShuffleCounters counters;
  private final int maxEntries;
  private final int windowBytes;

  /** In access order. */
  private final Map<Key, ServedOutput> entries = new LinkedHashMap<>(16, LOAD_FACTOR, true);

  private final Key wanted = new Key();
  private long partitions;

  ServedOutputs(
      MapOutputs mapOutputs,
      RegisteredFiles files,
      ShuffleCounters counters,
      int maxEntries,
      int windowBytes) {
    this.mapOutputs = mapOutputs;
    this.files = files;
    this.counters = counters;
    this.maxEntries = maxEntries;
    this.windowBytes = windowBytes;
  }

  /** Finds a map output; null when it does not exist or cannot be read. */
  ServedOutput find(int shuffleId, long mapId) {
    wanted.set(shuffleId, mapId);
    ServedOutput known = entries.get(wanted);
    return known != null ? known : open(shuffleId, mapId);
  }

  private ServedOutput open(int shuffleId, long mapId) {
    MapOutput mapOutput;
    try {
      mapOutput = mapOutputs.open(shuffleId, mapId);
    } catch (IOException e) {
      LOGGER.debug("map output cannot be served: shuffle={} map={}", shuffleId, mapId, e);
      return null;
    }
    if (mapOutput == null) {
      return null;
    }
    evictFor(mapOutput.partitions());
    ServedOutput output = new ServedOutput(mapOutput, windowBytes);
    Key key = new Key();
    key.set(shuffleId, mapId);
    entries.put(key, output);
    partitions += mapOutput.partitions();
    return output;
  }

  private void evictFor(int morePartitions) {
    Iterator<ServedOutput> eldestFirst = entries.values().iterator();
    while ((entries.size() >= maxEntries || partitions + morePartitions > MAX_PARTITIONS)
        && eldestFirst.hasNext()) {
      ServedOutput output = eldestFirst.next();
      if (!output.isLeased()) {
        eldestFirst.remove();
        partitions -= output.mapOutput().partitions();
        counters.add(Counter.WINDOWS_EVICTED, files.deregisterIdle(output));
      }
    }
  }

  /** Removes the map outputs of a shuffle; {@code pending} waits for those that are leased. */
  void unregister(int shuffleId, PendingUnregistration pending) {
    Iterator<Map.Entry<Key, ServedOutput>> all = entries.entrySet().iterator();
    while (all.hasNext()) {
      Map.Entry<Key, ServedOutput> entry = all.next();
      if (entry.getKey().shuffleId == shuffleId) {
        all.remove();
        partitions -= entry.getValue().mapOutput().partitions();
        unregister(entry.getValue(), pending);
      }
    }
  }

  private void unregister(ServedOutput output, PendingUnregistration pending) {
    files.deregisterIdle(output);
    if (output.isRegistered()) {
      pending.await();
      output.unregister(pending);
    }
  }

  /** Removes all entries, after the last lease has ended. */
  void close() {
    entries.values().forEach(files::deregisterIdle);
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
