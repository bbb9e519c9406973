// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.directory;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.BiPredicate;
import java.util.zip.Deflater;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The driver's table of executors, and the answers to their messages:
 *
 * <pre>
 *   [PUBLISH, record]         → Boolean: accepted
 *   [REPORT, report]          → Boolean: taken; see {@link ExecutorReport}
 *   [CHANGES, since version]  → [version, Boolean: these are all, [records, ...], ids of gone ones]
 * </pre>
 *
 * <p>Messages contain only lists and JDK types, see {@link RecordCodec}; records are byte arrays of
 * {@link Records}, of which later ones replace earlier ones. Thousands of executors ask for all
 * records within seconds, so what most of them lack is one array, encoded once. Safe for any
 * thread.
 */
final class DirectoryService {
  static final String PUBLISH = "publish";
  static final String CHANGES = "changes";
  static final String REPORT = "report";

  /** Maximum number of removed executors that are remembered. */
  static final int MAX_GONE = 1_000;

  /** The snapshot is encoded again when later records have more than this part of its length. */
  private static final int MAX_LATER_SHARE = 4;

  private static final Logger LOG = LoggerFactory.getLogger(DirectoryService.class);

  private final String consequence;
  private final BiPredicate<String, Map<String, Object>> reports;

  /** The latest change of each executor, by its id. */
  private final Map<String, Entry> entries = new HashMap<>();

  /** Encoded records of executors by the version of their entry. */
  private final NavigableMap<Long, byte[]> records = new TreeMap<>();

  /** Ids of removed executors by the version of their entry. */
  private final NavigableMap<Long, String> gone = new TreeMap<>();

  private long version;

  /** All records at a version, and those since then at a later one. */
  private byte[] snapshot = Records.join(List.of(), Deflater.BEST_SPEED);

  private long snapshotVersion;
  private byte[] later = snapshot;
  private long laterVersion;

  /** Version of the latest removal that is not remembered any more. */
  private long forgottenVersion;

  /** Whether an executor without RDMA has been logged. */
  private boolean loggedUnavailable;

  /** Whether no executor has an endpoint, whatever it publishes. */
  private volatile boolean ended;

  /** The latest change of an executor; the record is empty when it was removed. */
  private record Entry(long version, Optional<ExecutorRecord> record) {}

  /**
   * @param consequence for users when an executor does not use RDMA
   * @param reports receives the values that an executor reports, by its id; returns whether they
   *     are taken
   */
  DirectoryService(String consequence, BiPredicate<String, Map<String, Object>> reports) {
    this.consequence = consequence;
    this.reports = reports;
  }

  /**
   * @throws IllegalArgumentException when the message is none of the above
   */
  Object answer(Object message) {
    List<?> request = RecordCodec.list(message, 2);
    String kind = RecordCodec.name(request.get(0));
    return switch (kind) {
      case PUBLISH -> publish(RecordCodec.decode(RecordCodec.as(byte[].class, request.get(1))));
      case REPORT -> {
        ExecutorReport report = ExecutorReport.decode(request.get(1));
        // Not under the lock: the figures of the application call knows under their own lock, which
        // taking a report needs too.
        // An executor whose report is not taken asks for changes.
        yield reports.test(report.executorId(), report.values()) && !ended;
      }
      case CHANGES -> changes(RecordCodec.as(Long.class, request.get(1)));
      default -> throw new IllegalArgumentException("no such message: kind=" + kind);
    };
  }

  /** Whether the answer may be long. */
  static boolean isLookUp(Object message) {
    return message instanceof List<?> request
        && request.size() == 2
        && CHANGES.equals(request.get(0));
  }

  /** RDMA has ended on the driver: executors learn that none has an endpoint, so they use TCP. */
  synchronized void end() {
    if (!ended) {
      ended = true;
      List.copyOf(entries.values())
          .forEach(entry -> entry.record().ifPresent(record -> put(record.withoutEndpoint())));
    }
  }

  /** Whether the executor has published what it has of RDMA, which it does before it reports. */
  synchronized boolean knows(String executorId) {
    return entries.containsKey(executorId);
  }

  /** Executors that have published and are not removed. */
  synchronized List<String> executors() {
    return entries.entrySet().stream()
        .filter(one -> one.getValue().record().isPresent())
        .map(Map.Entry::getKey)
        .toList();
  }

  /** Removes an executor that Spark has removed, whether it had published or not. */
  synchronized void remove(String executorId) {
    Entry known = entries.get(executorId);
    if (known != null && known.record().isEmpty()) {
      return;
    }
    put(executorId, Optional.empty());
    gone.put(version, executorId);
    if (gone.size() > MAX_GONE) {
      forgetEarliestGone();
    }
  }

  private void forgetEarliestGone() {
    Map.Entry<Long, String> earliest = gone.pollFirstEntry();
    forgottenVersion = earliest.getKey();
    entries.remove(earliest.getValue());
    if (forgottenVersion > snapshotVersion) {
      // It may have the executor, which no answer would name as gone.
      encodeSnapshot();
    }
  }

  private void put(String executorId, Optional<ExecutorRecord> record) {
    version++;
    Entry before = entries.put(executorId, new Entry(version, record));
    if (before != null) {
      records.remove(before.version());
    }
    record.ifPresent(one -> records.put(version, RecordCodec.encode(one)));
  }

  private void put(ExecutorRecord record) {
    put(record.executorId(), Optional.of(record));
  }

  /** Executor ids are never reused, so another process is refused. */
  private synchronized Boolean publish(ExecutorRecord record) {
    Entry known = entries.get(record.executorId());
    if (known != null) {
      ExecutorRecord earlier = known.record().orElse(null);
      if (earlier == null
          || earlier.publisher() != record.publisher()
          || earlier.epoch() > record.epoch()) {
        LOG.warn(
            "Rejecting RDMA endpoint of executor={} epoch={}: the executor was removed, another"
                + " process published the same id, or a later record exists",
            record.executorId(),
            record.epoch());
        return false;
      }
      if (earlier.epoch() == record.epoch()) {
        return true;
      }
    }
    put(ended ? record.withoutEndpoint() : record);
    if (record.endpoint().isEmpty() && !loggedUnavailable) {
      loggedUnavailable = true;
      LOG.warn(
          "RDMA is not used in executor {}: {}. {}; further executors are not logged",
          record.executorId(),
          String.join("; ", record.reasons()),
          consequence);
    }
    return true;
  }

  private synchronized List<Object> changes(long since) {
    boolean all = since < forgottenVersion;
    List<Object> answered = new ArrayList<>();
    long from = since;
    if (all || version - since > records.size() / 2) {
      from = Math.min(since, snapshotVersion);
      encodeLater();
      answered.add(snapshot);
      answered.add(later);
    } else {
      answered.add(recordsSince(since, Deflater.NO_COMPRESSION));
    }
    List<Object> removed = new ArrayList<>(gone.tailMap(all ? 0 : from, false).values());
    return new ArrayList<>(List.of(version, all, answered, removed));
  }

  private void encodeLater() {
    if (laterVersion != version) {
      later = recordsSince(snapshotVersion, Deflater.NO_COMPRESSION);
      laterVersion = version;
      if (later.length > snapshot.length / MAX_LATER_SHARE) {
        encodeSnapshot();
      }
    }
  }

  private void encodeSnapshot() {
    snapshot = recordsSince(0, Deflater.BEST_SPEED);
    snapshotVersion = version;
    later = recordsSince(version, Deflater.NO_COMPRESSION);
    laterVersion = version;
  }

  private byte[] recordsSince(long since, int level) {
    return Records.join(records.tailMap(since, false).values(), level);
  }
}
