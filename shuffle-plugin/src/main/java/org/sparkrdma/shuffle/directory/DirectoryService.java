// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.directory;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.BiPredicate;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The driver's table of executors, and the answers to their messages:
 *
 * <pre>
 *   [PUBLISH, record]         → Boolean: accepted
 *   [REPORT, report]          → Boolean: taken; see {@link ExecutorReport}
 *   [CHANGES, since version]  → [version, Boolean: these are all, records, ids of gone executors]
 * </pre>
 *
 * <p>Messages contain only lists and JDK types, see {@link RecordCodec}. Safe for any thread.
 */
final class DirectoryService {
  static final String PUBLISH = "publish";
  static final String CHANGES = "changes";
  static final String REPORT = "report";

  /** Maximum number of removed executors that are remembered. */
  static final int MAX_GONE = 1_000;

  private static final Logger LOG = LoggerFactory.getLogger(DirectoryService.class);

  private final String consequence;
  private final BiPredicate<String, Map<String, Object>> reports;

  /** By executor id, in the order of their versions. */
  private final Map<String, Entry> entries = new LinkedHashMap<>();

  private long version;
  private int gone;

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
      case PUBLISH -> publish(RecordCodec.decode(request.get(1)));
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
    gone++;
    if (gone > MAX_GONE) {
      forgetEarliestGone();
    }
  }

  private void forgetEarliestGone() {
    Map.Entry<String, Entry> earliest =
        entries.entrySet().stream()
            .filter(entry -> entry.getValue().record().isEmpty())
            .findFirst()
            .orElseThrow();
    forgottenVersion = earliest.getValue().version();
    entries.remove(earliest.getKey());
    gone--;
  }

  private void put(String executorId, Optional<ExecutorRecord> record) {
    version++;
    entries.remove(executorId);
    entries.put(executorId, new Entry(version, record));
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
    ArrayList<Object> records = new ArrayList<>();
    ArrayList<Object> removed = new ArrayList<>();
    entries.forEach(
        (executorId, entry) -> {
          if (all || entry.version() > since) {
            entry
                .record()
                .ifPresentOrElse(
                    record -> records.add(RecordCodec.encode(record)),
                    () -> removed.add(executorId));
          }
        });
    return new ArrayList<>(List.of(version, all, records, removed));
  }
}
