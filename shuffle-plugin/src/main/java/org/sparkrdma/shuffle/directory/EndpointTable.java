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
 * What the driver knows: each executor's record, or that it is gone, under the version at which
 * that was learnt. Not safe for several threads; owned by the {@link DirectoryService}.
 */
final class EndpointTable {
  private final int maxGone;
  private final NavigableMap<Long, Entry> byVersion = new TreeMap<>();
  private final Map<String, Long> versions = new HashMap<>();
  private final ArrayDeque<String> gone = new ArrayDeque<>();
  private long version;
  private long forgottenVersion;

  /** Of one executor; the record is empty when it is gone. */
  record Entry(String executorId, Optional<ExecutorRecord> record) {}

  /** What {@link #publish} did. */
  enum Published {
    /** It is the executor's record from now on. */
    TAKEN,
    /** It was known already. */
    KNOWN,
    /** The executor is gone, another process has its id, or the record has come late. */
    REFUSED
  }

  /**
   * @param maxGone maximum number of executors that are remembered as gone
   */
  EndpointTable(int maxGone) {
    this.maxGone = maxGone;
  }

  /** Version of the latest change; 0 before the first. */
  long version() {
    return version;
  }

  /** Whether executors that went after this version are forgotten by now. */
  boolean hasForgottenAfter(long since) {
    return since < forgottenVersion;
  }

  /** What changed after a version, oldest first; a view. */
  NavigableMap<Long, Entry> changesAfter(long since) {
    return byVersion.tailMap(since, false);
  }

  /** Everything; a view. */
  Collection<Entry> all() {
    return byVersion.values();
  }

  /** Takes a record in. An executor's id is never used again, so another process is refused. */
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

  /** Whether an executor other than this one has an endpoint. */
  boolean hasEndpointBeside(String executorId) {
    return byVersion.values().stream()
        .anyMatch(
            entry ->
                !entry.executorId().equals(executorId)
                    && entry.record().flatMap(ExecutorRecord::endpoint).isPresent());
  }

  /** The executor is gone, whether it had published or not. */
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
