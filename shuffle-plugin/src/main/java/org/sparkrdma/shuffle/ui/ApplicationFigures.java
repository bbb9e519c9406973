// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.ui;

import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import org.sparkrdma.shuffle.metrics.Figure;

/**
 * All that the tab shows of one application, and what of it has changed since the last event for
 * the event log. Bounded: the earliest removed executors and the earliest stages are dropped. Safe
 * for any thread.
 */
final class ApplicationFigures {
  static final int MAX_REMOVED = 2_000;
  static final int MAX_STAGES = 500;
  private static final int MAX_NOTES = 10;

  private final List<String> notes = new ArrayList<>();
  private final Map<String, ExecutorFigures> executors = new LinkedHashMap<>();
  private final TreeMap<Integer, StageBytes> stages = new TreeMap<>();

  /** Sums of executors that were dropped. */
  private final ApplicationTotals dropped = new ApplicationTotals();

  private int removed;
  private final List<String> newNotes = new ArrayList<>();
  private final Map<String, Map<String, Object>> changes = new LinkedHashMap<>();
  private final Set<Integer> changedStages = new TreeSet<>();

  /** Nothing yet. */
  ApplicationFigures() {}

  /** Those of the store of a History Server. */
  ApplicationFigures(Snapshot stored) {
    notes.addAll(stored.notes());
    executors.putAll(stored.executors());
    stored.stages().forEach(stage -> stages.put(stage.stageId(), stage));
  }

  /** Adds a sentence for the top of the page. */
  synchronized void note(String sentence) {
    if (notes.size() < MAX_NOTES && !notes.contains(sentence)) {
      notes.add(sentence);
      newNotes.add(sentence);
    }
  }

  /** An executor has started. */
  synchronized void start(String executorId, String host) {
    executor(executorId).setHost(host);
  }

  /** An executor has reported figures, perhaps with those of stages. */
  synchronized void report(String executorId, Map<String, Object> reported) {
    ExecutorFigures executor = executor(executorId);
    Map<String, Object> figures = new HashMap<>(reported);
    executor
        .updateStages(figures.remove(Figure.STAGES))
        .forEach((stageId, more) -> setReceived(stageId, stage(stageId).received().plus(more)));
    Map<String, Object> changed = executor.update(figures);
    if (!changed.isEmpty()) {
      changes.computeIfAbsent(executorId, id -> new LinkedHashMap<>()).putAll(changed);
    }
    notifyAll();
  }

  /** A task has ended. */
  synchronized void addTask(String executorId, int stageId, long remoteBytes, long localBytes) {
    if (remoteBytes > 0 || localBytes > 0) {
      executor(executorId).addRead(remoteBytes, localBytes);
      StageBytes known = stage(stageId);
      put(
          new StageBytes(
              stageId,
              known.remote() + remoteBytes,
              known.local() + localBytes,
              known.read(),
              known.copied(),
              known.tcp()));
    }
  }

  /** The bytes of a stage that all executors have received from others. */
  synchronized void setReceived(int stageId, BytesByPath sum) {
    changedStages.add(stageId);
    put(stage(stageId).withReceived(sum));
  }

  private StageBytes stage(int stageId) {
    return stages.getOrDefault(stageId, new StageBytes(stageId, 0, 0, 0, 0, 0));
  }

  private void put(StageBytes stage) {
    stages.put(stage.stageId(), stage);
    if (stages.size() > MAX_STAGES) {
      changedStages.remove(stages.pollFirstEntry().getKey());
    }
  }

  private ExecutorFigures executor(String executorId) {
    return executors.computeIfAbsent(executorId, id -> new ExecutorFigures());
  }

  /** Spark has removed an executor. */
  synchronized void remove(String executorId, String reason) {
    ExecutorFigures executor = executor(executorId);
    if (!executor.isRemoved()) {
      removed++;
    }
    executor.remove(reason);
    if (removed > MAX_REMOVED) {
      dropEarliestRemoved();
    }
  }

  /** Spark does not know an executor any more, and its event of the removal may be lost. */
  synchronized void removeLost(String executorId) {
    ExecutorFigures executor = executors.get(executorId);
    if (executor != null && !executor.isRemoved()) {
      remove(executorId, "Spark does not know it any more");
    }
  }

  /** Its sums stay. */
  private void dropEarliestRemoved() {
    Iterator<ExecutorFigures> all = executors.values().iterator();
    ExecutorFigures earliest = all.next();
    while (!earliest.isRemoved()) {
      earliest = all.next();
    }
    all.remove();
    removed--;
    dropped.add(earliest);
  }

  /**
   * Waits until executors have reported all bytes that Spark has counted.
   *
   * @param reporters whether an executor sends reports; of one without RDMA none will come
   */
  synchronized void awaitReports(Duration limit, Predicate<String> reporters)
      throws InterruptedException {
    long deadlineNs = System.nanoTime() + limit.toNanos();
    while (executors.entrySet().stream()
        .anyMatch(one -> one.getValue().hasUnreported() && reporters.test(one.getKey()))) {
      long leftMs = TimeUnit.NANOSECONDS.toMillis(deadlineNs - System.nanoTime());
      if (leftMs <= 0) {
        return;
      }
      wait(leftMs);
    }
  }

  /** Sums of all executors. */
  synchronized ApplicationTotals totals() {
    ApplicationTotals totals = new ApplicationTotals(dropped);
    executors.values().forEach(totals::add);
    return totals;
  }

  /** All that the page shows, but the totals. */
  synchronized Snapshot snapshot() {
    Map<String, ExecutorFigures> copies = new LinkedHashMap<>();
    executors.forEach((executorId, executor) -> copies.put(executorId, executor.copy()));
    return new Snapshot(List.copyOf(notes), copies, List.copyOf(stages.values()));
  }

  /** Whether there is nothing to show. */
  synchronized boolean isEmpty() {
    return notes.isEmpty() && executors.values().stream().noneMatch(ExecutorFigures::hasReported);
  }

  /** An event with what has changed since the last call; empty without changes. */
  synchronized Optional<RdmaShuffleEvent> takeChanges(long nowMs) {
    if (changes.isEmpty() && newNotes.isEmpty() && changedStages.isEmpty()) {
      return Optional.empty();
    }
    Map<Integer, BytesByPath> received = new LinkedHashMap<>();
    changedStages.forEach(stageId -> received.put(stageId, stage(stageId).received()));
    RdmaShuffleEvent event =
        new RdmaShuffleEvent(
            RdmaShuffleEvent.SCHEMA,
            nowMs,
            List.copyOf(newNotes),
            new LinkedHashMap<>(changes),
            received);
    newNotes.clear();
    changes.clear();
    changedStages.clear();
    return Optional.of(event);
  }
}
