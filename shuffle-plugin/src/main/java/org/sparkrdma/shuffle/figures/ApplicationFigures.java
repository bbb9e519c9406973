// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.figures;

import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
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
 * the event log. Bounded: the earliest removed executors and the earliest stages are dropped, but
 * in a replay no executor before the event that names its removal. Safe for any thread.
 */
public final class ApplicationFigures {
  /** Removed executors that it keeps. */
  public static final int MAX_REMOVED = 2_000;

  /** Stages that it keeps. */
  public static final int MAX_STAGES = 2_000;

  /** Executors with changes for the next event from which dropped ones are left out. */
  public static final int MAX_CHANGED = 10_000;

  private static final int MAX_NOTES = 10;
  private static final String COMPACTED =
      "Spark has compacted this event log, so some bytes, stages and ends of executors are missing";

  private final List<String> notes = new ArrayList<>();
  private final Map<String, ExecutorFigures> executors = new LinkedHashMap<>();
  private final TreeMap<Integer, StageBytes> stages = new TreeMap<>();

  /** Sums of executors that were dropped. */
  private final ApplicationTotals dropped;

  private boolean ended;

  /** The last sums in an event. */
  private Map<String, Object> takenTotals = Map.of();

  // Of a replay.

  /** When the last figures of executors and the last sums were collected; 0 for none. */
  private long figuresMs;

  private long totalsMs;

  /** The last sums. */
  private final ExecutorFigures later;

  /** Removed executors, the earliest first. */
  private final Set<String> removed = new LinkedHashSet<>();

  /** Whether the application runs, and somebody takes what has changed; else this is a replay. */
  private final boolean posts;

  private final List<String> newNotes = new ArrayList<>();
  private final Map<String, Map<String, Object>> changes = new LinkedHashMap<>();
  private final Map<String, SparkExecutor> changedExecutors = new LinkedHashMap<>();
  private final Set<Integer> changedStages = new TreeSet<>();

  /**
   * Nothing yet.
   *
   * @param posts whether {@link #takeChanges} will be called; else changes are not kept
   */
  public ApplicationFigures(boolean posts) {
    this.posts = posts;
    this.dropped = new ApplicationTotals();
    this.later = new ExecutorFigures();
  }

  /** Those of the store of a History Server. */
  public ApplicationFigures(Snapshot stored) {
    posts = false;
    dropped = stored.dropped();
    ended = stored.ended();
    figuresMs = stored.figuresMs();
    totalsMs = stored.totalsMs();
    later = stored.later();
    notes.addAll(stored.notes());
    executors.putAll(stored.executors());
    stored.stages().forEach(stage -> stages.put(stage.stageId(), stage));
    boolean compacted = false;
    for (ExecutorFigures executor : executors.values()) {
      compacted |= executor.endReplay();
    }
    if (compacted) {
      notes.add(COMPACTED);
    }
  }

  /** Adds a sentence for the top of the page. */
  public synchronized void note(String sentence) {
    if (notes.size() < MAX_NOTES && !notes.contains(sentence)) {
      notes.add(sentence);
      if (posts) {
        newNotes.add(sentence);
      }
    }
  }

  /** An executor has started. */
  public synchronized void start(String executorId, String host) {
    ExecutorFigures executor = executor(executorId);
    executor.setHost(host);
    addChange(executorId, executor);
  }

  private void addChange(String executorId, ExecutorFigures executor) {
    if (posts) {
      changedExecutors.put(executorId, executor.spark());
    }
  }

  /** An executor has reported figures, perhaps with those of stages. */
  public synchronized void report(String executorId, Map<String, Object> reported) {
    ExecutorFigures executor = executor(executorId);
    Map<String, Object> figures = new HashMap<>(reported);
    executor
        .updateStages(figures.remove(Figure.STAGES))
        .forEach((stageId, more) -> put(stage(stageId).plus(more)));
    Map<String, Object> changed = executor.update(figures);
    if (posts && !changed.isEmpty()) {
      changes.computeIfAbsent(executorId, id -> new LinkedHashMap<>()).putAll(changed);
    }
    notifyAll();
  }

  /** A task has ended. */
  public synchronized void addTask(
      String executorId, int stageId, long remoteBytes, long localBytes) {
    if (remoteBytes > 0 || localBytes > 0) {
      ExecutorFigures executor = executor(executorId);
      executor.addRead(remoteBytes, localBytes);
      addChange(executorId, executor);
      StageBytes known = stage(stageId);
      put(known.withSpark(known.remote() + remoteBytes, known.local() + localBytes));
    }
  }

  /** Takes an executor over from an event of a log, which may lack Spark's own events. */
  public synchronized void replay(String executorId, SparkExecutor known) {
    executor(executorId).update(known);
    if (known.removed() != null) {
      remove(executorId, known.removed());
      dropEarliest(executorId);
    }
  }

  /** Takes a stage over from an event of a log, which may lack Spark's own events. */
  public synchronized void replay(StageBytes sum) {
    StageBytes known = stage(sum.stageId());
    put(
        sum.withSpark(
            Math.max(known.remote(), sum.remote()), Math.max(known.local(), sum.local())));
  }

  /** The application has ended. */
  public synchronized void end() {
    ended = true;
  }

  private StageBytes stage(int stageId) {
    return stages.getOrDefault(stageId, new StageBytes(stageId, 0, 0, 0, 0, 0));
  }

  private void put(StageBytes stage) {
    stages.put(stage.stageId(), stage);
    if (posts) {
      changedStages.add(stage.stageId());
    }
    if (stages.size() > MAX_STAGES) {
      changedStages.remove(stages.pollFirstEntry().getKey());
    }
  }

  private ExecutorFigures executor(String executorId) {
    return executors.computeIfAbsent(executorId, id -> new ExecutorFigures());
  }

  /** Spark has removed an executor. */
  public synchronized void remove(String executorId, String reason) {
    ExecutorFigures executor = executor(executorId);
    executor.remove(reason);
    addChange(executorId, executor);
    // In a replay its last figures come later, with the event that names its removal.
    if (posts) {
      dropEarliest(executorId);
    }
  }

  /** Counts an executor as removed, and drops the earliest one where there are too many. */
  private void dropEarliest(String executorId) {
    if (removed.add(executorId) && removed.size() > MAX_REMOVED) {
      String earliest = removed.iterator().next();
      removed.remove(earliest);
      // Its sums stay.
      dropped.add(executors.remove(earliest));
      if (changedExecutors.size() > MAX_CHANGED) {
        changes.remove(earliest);
        changedExecutors.remove(earliest);
      }
    }
  }

  /** Spark does not know an executor any more, and its event of the removal may be lost. */
  public synchronized void removeLost(String executorId) {
    ExecutorFigures executor = executors.get(executorId);
    if (executor != null && !executor.isRemoved()) {
      remove(executorId, "Spark does not know it any more");
    }
  }

  /**
   * Waits until executors have reported all bytes that Spark has counted.
   *
   * @param reporters whether an executor sends reports; of one without RDMA none will come
   */
  public synchronized void awaitReports(Duration limit, Predicate<String> reporters)
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

  /** Sums of all executors; in a History Server perhaps later ones than its executors show. */
  public synchronized ApplicationTotals totals() {
    ApplicationTotals totals = new ApplicationTotals(dropped);
    executors.values().forEach(totals::add);
    if (totalsMs > 0) {
      totals.raise(later, !ended && totalsMs > figuresMs);
    }
    return totals;
  }

  /** All that the page shows, but the totals. */
  public synchronized Snapshot snapshot() {
    Map<String, ExecutorFigures> copies = new LinkedHashMap<>();
    executors.forEach((executorId, executor) -> copies.put(executorId, executor.copy()));
    return new Snapshot(
        List.copyOf(notes),
        copies,
        List.copyOf(stages.values()),
        new ApplicationTotals(dropped),
        ended,
        figuresMs,
        totalsMs,
        later.copy());
  }

  /** Whether there is nothing to show. */
  public synchronized boolean isEmpty() {
    return notes.isEmpty() && executors.values().stream().noneMatch(ExecutorFigures::hasReported);
  }

  /** What has changed since the last call; empty without changes. */
  public synchronized Optional<Changes> takeChanges(long nowMs) {
    if (changes.isEmpty()
        && newNotes.isEmpty()
        && changedExecutors.isEmpty()
        && changedStages.isEmpty()) {
      return Optional.empty();
    }
    Changes all =
        new Changes(
            nowMs,
            List.copyOf(newNotes),
            new LinkedHashMap<>(changes),
            new LinkedHashMap<>(changedExecutors),
            changedStages.stream().map(this::stage).toList(),
            Map.of());
    newNotes.clear();
    changes.clear();
    changedExecutors.clear();
    changedStages.clear();
    return Optional.of(all);
  }

  /** The sums, if they have changed since the last call. */
  public synchronized Optional<Changes> takeTotals(long nowMs) {
    Map<String, Object> sums = totals().values();
    if (sums.equals(takenTotals)) {
      return Optional.empty();
    }
    takenTotals = sums;
    return Optional.of(new Changes(nowMs, List.of(), Map.of(), Map.of(), List.of(), sums));
  }

  /** An event of a log was replayed. */
  public synchronized void replay(long timeMs, Map<String, Object> sums) {
    if (sums.isEmpty()) {
      figuresMs = Math.max(figuresMs, timeMs);
    } else {
      totalsMs = Math.max(totalsMs, timeMs);
      later.update(sums);
    }
  }
}
