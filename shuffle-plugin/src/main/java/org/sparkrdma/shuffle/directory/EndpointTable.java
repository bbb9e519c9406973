// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.directory;

import java.util.ArrayDeque;
import java.util.Collection;
import java.util.HashMap;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Optional;
import java.util.TreeMap;

/**
 * The driver's table: the record of each executor, or that it was removed, with the version of the
 * change. Not safe for several threads; owned by the {@link DirectoryService}.
 */
final class EndpointTable {
  private final int maxGone;
  private final NavigableMap<Long, Entry> byVersion = new TreeMap<>();
  private final Map<String, Long> versions = new HashMap<>();
  private final ArrayDeque<String> gone = new ArrayDeque<>();
  private long version;
  private long forgottenVersion;

  /** Entry of one executor; the record is empty when it was removed. */
  record Entry(String executorId, Optional<ExecutorRecord> record) {}

  /** Result of {@link #publish}. */
  enum Published {
    /** The record was stored. */
    TAKEN,
    /** The same record was stored before. */
    KNOWN,
    /** The executor was removed, another process has its id, or a later record exists. */
    REFUSED
  }

  /**
   * @param maxGone maximum number of remembered removed executors
   */
  EndpointTable(int maxGone) {
    this.maxGone = maxGone;
  }

  /** Version of the latest change; 0 before the first. */
  long version() {
    return version;
  }

  /** Whether removals after this version are no longer known. */
  boolean hasDroppedRemovalsAfter(long since) {
    return since < forgottenVersion;
  }

  /** Changes after a version, oldest first; a view. */
  NavigableMap<Long, Entry> changesAfter(long since) {
    return byVersion.tailMap(since, false);
  }

  /** All entries; a view. */
  Collection<Entry> all() {
    return byVersion.values();
  }

  /** Stores a record. Executor ids are never reused, so another process is refused. */
  Published publish(ExecutorRecord record) {
    Long known = versions.get(record.executorId());
    if (known != null) {
      ExecutorRecord earlier = byVersion.get(known).record().orElse(null);
      if (earlier == null
          || earlier.publisher() != record.publisher()
          || earlier.epoch() > record.epoch()) {
        return Published.REFUSED;
      }
      if (earlier.epoch() == record.epoch()) {
        return Published.KNOWN;
      }
      byVersion.remove(known);
    }
    put(record.executorId(), Optional.of(record));
    return Published.TAKEN;
  }

  /** Marks an executor as removed, whether it had published or not. */
  void remove(String executorId) {
    Long known = versions.get(executorId);
    if (known != null && byVersion.get(known).record().isEmpty()) {
      return;
    }
    if (known != null) {
      byVersion.remove(known);
    }
    put(executorId, Optional.empty());
    gone.add(executorId);
    if (gone.size() > maxGone) {
      forgottenVersion = versions.remove(gone.remove());
      byVersion.remove(forgottenVersion);
    }
  }

  private void put(String executorId, Optional<ExecutorRecord> record) {
    version++;
    versions.put(executorId, version);
    byVersion.put(version, new Entry(executorId, record));
  }
}
