// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.directory;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import java.util.function.Function;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Answers the directory's messages on the driver.
 *
 * <pre>
 *   [PUBLISH, record]         → Boolean: accepted
 *   [FIGURES, figures]        → Boolean: taken; see {@link FiguresMessage}
 *   [FINDINGS, findings]      → Boolean: taken; see {@link ExecutorFindings}
 *   [PROFILE, executor id]    → resources of its ResourceProfile; see {@link RecordCodec}
 *   [CHANGES, since version]  → [version, Boolean: these are all, records, ids of gone executors]
 * </pre>
 *
 * <p>Messages contain only lists and JDK types, see {@link RecordCodec}. Safe for any thread.
 */
final class DirectoryService {
  static final String PUBLISH = "publish";
  static final String CHANGES = "changes";
  static final String FIGURES = "figures";
  static final String FINDINGS = "findings";
  static final String PROFILE = "profile";

  private static final Logger LOG = LoggerFactory.getLogger(DirectoryService.class);
  private static final int MAX_GONE = 1_000;

  private final EndpointTable table = new EndpointTable(MAX_GONE);
  private final String consequence;

  /** Executors that do not use RDMA and have not ended. */
  private final Set<String> unavailable = new HashSet<>();

  /** Number of such executors so far. */
  private long unavailableSoFar;

  private Function<String, Optional<Map<String, Long>>> profiles =
      executorId -> Optional.of(Map.of());

  /** Null until the driver collects figures. */
  private BiConsumer<String, Map<String, Object>> figures;

  /** Null where the driver does not collect findings. */
  private Consumer<ExecutorFindings> findings;

  /**
   * @param consequence for users when an executor does not use RDMA
   */
  DirectoryService(String consequence) {
    this.consequence = consequence;
  }

  /**
   * @throws IllegalArgumentException when the message is none of the above
   */
  synchronized Object answer(Object message) {
    List<?> request = RecordCodec.list(message, 2);
    String kind = RecordCodec.name(request.get(0));
    return switch (kind) {
      case PUBLISH -> publish(RecordCodec.decode(request.get(1)));
      case FIGURES -> figures(FiguresMessage.decode(request.get(1)));
      case FINDINGS -> findings(ExecutorFindings.decode(request.get(1)));
      case PROFILE -> RecordCodec.encode(profiles.apply(RecordCodec.name(request.get(1))));
      case CHANGES -> changes(RecordCodec.as(Long.class, request.get(1)));
      default -> throw new IllegalArgumentException("no such message: kind=" + kind);
    };
  }

  /** Removes an executor that Spark has removed. */
  synchronized void remove(String executorId) {
    table.remove(executorId);
    unavailable.remove(executorId);
  }

  /**
   * @param resources of an executor's ResourceProfile by name, none for the default profile; empty
   *     when it does not know the executor yet
   */
  synchronized void setProfiles(Function<String, Optional<Map<String, Long>>> resources) {
    profiles = resources;
  }

  /**
   * @param consumer receives the figures of executors, by executor id, in the thread of {@link
   *     #answer}
   */
  synchronized void setFiguresConsumer(BiConsumer<String, Map<String, Object>> consumer) {
    figures = consumer;
  }

  /**
   * @param consumer receives the findings of executors, in the thread of {@link #answer}
   */
  synchronized void setFindingsConsumer(Consumer<ExecutorFindings> consumer) {
    findings = consumer;
  }

  private Boolean findings(ExecutorFindings ofExecutor) {
    if (findings == null) {
      return false;
    }
    findings.accept(ofExecutor);
    return true;
  }

  private Boolean figures(FiguresMessage message) {
    if (figures == null) {
      return false;
    }
    figures.accept(message.executorId(), message.figures());
    return true;
  }

  private Boolean publish(ExecutorRecord record) {
    switch (table.publish(record)) {
      case TAKEN -> {
        if (record.endpoint().isEmpty()) {
          logUnavailable(record);
        }
      }
      case REFUSED -> {
        LOG.warn(
            "Rejecting RDMA endpoint of executor={} epoch={}: the executor was removed, another"
                + " process published the same id, or a later record exists",
            record.executorId(),
            record.epoch());
        return false;
      }
      case KNOWN -> LOG.debug("RDMA endpoint published again: executor={}", record.executorId());
    }
    return true;
  }

  /** The first one with its reasons, then only their number each time it has doubled. */
  private void logUnavailable(ExecutorRecord record) {
    if (!unavailable.add(record.executorId())) {
      return;
    }
    unavailableSoFar++;
    if (unavailableSoFar == 1) {
      LOG.warn(
          "RDMA is not used in executor {}: {}. {}; further executors are only counted",
          record.executorId(),
          String.join("; ", record.reasons()),
          consequence);
    } else if (Long.bitCount(unavailableSoFar) == 1) {
      LOG.warn(
          "RDMA is not used in {} executors so far, the latest is {}",
          unavailableSoFar,
          record.executorId());
    }
  }

  private List<Object> changes(long since) {
    boolean all = table.hasDroppedRemovalsAfter(since);
    ArrayList<Object> records = new ArrayList<>();
    ArrayList<Object> gone = new ArrayList<>();
    for (EndpointTable.Entry entry : all ? table.all() : table.changesAfter(since).values()) {
      entry
          .record()
          .ifPresentOrElse(
              record -> records.add(RecordCodec.encode(record)),
              () -> gone.add(entry.executorId()));
    }
    return new ArrayList<>(List.of(table.version(), all, records, gone));
  }
}
