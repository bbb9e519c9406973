// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.ui.figures;

import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import org.sparkrdma.shuffle.metrics.Figure;

/**
 * All that the tab shows of one application. Bounded: the earliest removed executors and the
 * earliest stages are dropped. Safe for any thread.
 */
public final class ApplicationFigures {
  private static final int MAX_EXECUTORS = 2_000;
  private static final int MAX_STAGES = 500;
  private static final int MAX_NOTES = 10;
  private static final double FULL = 0.95;

  private final List<String> notes = new ArrayList<>();
  private final Map<String, ExecutorFigures> executors = new LinkedHashMap<>();
  private final Map<Integer, StageBytes> stages = new TreeMap<>();
  private TimeSeries series = new TimeSeries();

  /** Sums of executors that were dropped. */
  private ExecutorSums dropped = ExecutorSums.NONE;

  /** Sums of an event log that are later than the figures of single executors. */
  private BytesByPath ofEvents = BytesByPath.NONE;

  /** Nothing yet. */
  public ApplicationFigures() {}

  /** Adds a sentence for the top of the page. */
  public synchronized void note(String sentence) {
    if (notes.size() < MAX_NOTES && !notes.contains(sentence)) {
      notes.add(sentence);
    }
  }

  /** An executor has started. */
  public synchronized void start(String executorId, String host) {
    executor(executorId).setHost(host);
  }

  /** An executor has reported figures. */
  public void report(String executorId, Map<String, Object> figures, long timeMs) {
    report(Map.of(executorId, figures), timeMs);
  }

  /** Several executors have reported at the same time, which is one point of the chart. */
  public synchronized void report(Map<String, Map<String, Object>> figures, long timeMs) {
    figures.forEach((executorId, values) -> executor(executorId).update(values));
    sample(timeMs);
    notifyAll();
  }

  /** All executors together have received at least these bytes, from an event. */
  public synchronized void setTotal(BytesByPath sum, long timeMs) {
    ofEvents = ofEvents.atLeast(sum);
    sample(timeMs);
  }

  /** A task has ended. */
  public synchronized void addTask(
      String executorId, int stageId, long remoteBytes, long localBytes, long timeMs) {
    if (remoteBytes == 0 && localBytes == 0) {
      return;
    }
    executor(executorId).addRead(remoteBytes, localBytes);
    add(new StageBytes(stageId, remoteBytes, localBytes, BytesByPath.NONE));
    sample(timeMs);
  }

  /**
   * An executor has reported more bytes of a stage.
   *
   * @return the sum of all executors
   */
  public synchronized BytesByPath addReceived(int stageId, BytesByPath more) {
    return add(new StageBytes(stageId, 0, 0, more)).received();
  }

  /** The sum of all executors, from an event. */
  public synchronized void setReceived(int stageId, BytesByPath sum) {
    StageBytes known = stages.remove(stageId);
    add(
        new StageBytes(
            stageId, known == null ? 0 : known.remote(), known == null ? 0 : known.local(), sum));
  }

  private StageBytes add(StageBytes more) {
    StageBytes sum = stages.merge(more.stageId(), more, StageBytes::plus);
    if (stages.size() > MAX_STAGES) {
      stages.remove(stages.keySet().iterator().next());
    }
    return sum;
  }

  /** Spark has removed an executor. */
  public synchronized void remove(String executorId, String reason) {
    executor(executorId).remove(reason);
  }

  private ExecutorFigures executor(String executorId) {
    ExecutorFigures known = executors.get(executorId);
    if (known == null) {
      known = new ExecutorFigures();
      if (executors.size() < MAX_EXECUTORS || dropEarliestRemoved()) {
        executors.put(executorId, known);
      }
    }
    return known;
  }

  /** Makes room for one more; its sums stay. Running executors are not dropped. */
  private boolean dropEarliestRemoved() {
    Iterator<ExecutorFigures> all = executors.values().iterator();
    while (all.hasNext()) {
      ExecutorFigures executor = all.next();
      if (executor.isRemoved()) {
        dropped = dropped.plus(ExecutorSums.of(executor));
        all.remove();
        return true;
      }
    }
    return false;
  }

  /** Waits until executors have reported all bytes that Spark has counted. */
  public synchronized void awaitReports(Duration limit) throws InterruptedException {
    long deadlineNs = System.nanoTime() + limit.toNanos();
    while (executors.values().stream().anyMatch(ExecutorFigures::hasUnreported)) {
      long leftMs = TimeUnit.NANOSECONDS.toMillis(deadlineNs - System.nanoTime());
      if (leftMs <= 0) {
        return;
      }
      wait(leftMs);
    }
  }

  private void sample(long timeMs) {
    if (series.isDue(timeMs)) {
      series.add(timeMs, total());
    }
  }

  private BytesByPath total() {
    return executors.values().stream()
        .map(ExecutorFigures::bytes)
        .reduce(dropped.bytes(), BytesByPath::plus)
        .atLeast(ofEvents);
  }

  /** Bytes of the application by path. */
  public synchronized BytesByPath bytes() {
    return total();
  }

  /** Sums for the metrics system and the summary. */
  public synchronized ApplicationTotals totals() {
    ExecutorSums sums = dropped;
    List<ExecutorFigures> up = new ArrayList<>();
    long off = 0;
    for (ExecutorFigures executor : executors.values()) {
      sums = sums.plus(ExecutorSums.of(executor));
      if (!executor.isRemoved() && executor.hasReported()) {
        if (executor.text(Figure.STATE).equals("up")) {
          up.add(executor);
        } else {
          off++;
        }
      }
    }
    long full =
        up.stream()
            .filter(one -> one.number(Figure.PINNED) >= FULL * one.number(Figure.PINNED_LIMIT))
            .count();
    Map<Figure, Long> present = new EnumMap<>(Figure.class);
    for (ExecutorFigures executor : up) {
      ApplicationTotals.SUMMED.forEach(
          figure -> present.merge(figure, executor.number(figure), Long::sum));
      ApplicationTotals.HIGHEST.forEach(
          figure -> present.merge(figure, executor.number(figure), Math::max));
    }
    return new ApplicationTotals(up.size(), off, full, present, sums);
  }

  /** All that the page shows at this time. */
  public synchronized Snapshot snapshot(long nowMs) {
    List<TimeSeries.Point> points = new ArrayList<>(series.points());
    if (!points.isEmpty()) {
      long last = points.get(points.size() - 1).timeMs();
      points.add(new TimeSeries.Point(Math.max(nowMs, last), total()));
    }
    Map<String, ExecutorFigures> copies = new LinkedHashMap<>();
    executors.forEach((executorId, executor) -> copies.put(executorId, executor.copy()));
    return new Snapshot(List.copyOf(notes), copies, List.copyOf(stages.values()), points, total());
  }

  /** Time of the last point; 0 without one. */
  public synchronized long lastTimeMs() {
    List<TimeSeries.Point> points = series.points();
    return points.isEmpty() ? 0 : points.get(points.size() - 1).timeMs();
  }

  /** Whether there is nothing to show. */
  public synchronized boolean isEmpty() {
    return notes.isEmpty() && executors.values().stream().noneMatch(ExecutorFigures::hasReported);
  }

  /** All of it as JDK types, for {@link #ofMap}. */
  public synchronized Map<String, Object> toMap() {
    Map<String, Object> all = new LinkedHashMap<>();
    executors.forEach((executorId, executor) -> all.put(executorId, executor.toMap()));
    List<List<Long>> stageList = new ArrayList<>();
    for (StageBytes stage : stages.values()) {
      BytesByPath received = stage.received();
      stageList.add(
          List.of(
              (long) stage.stageId(),
              stage.remote(),
              stage.local(),
              received.read(),
              received.copied(),
              received.tcp()));
    }
    return Map.of(
        "notes",
        List.copyOf(notes),
        "executors",
        all,
        "stages",
        stageList,
        "series",
        series.toList(),
        "totals",
        List.of(ofEvents.read(), ofEvents.copied(), ofEvents.tcp()));
  }

  /** Figures of {@link #toMap}; what is malformed is left out. */
  public static ApplicationFigures ofMap(Map<?, ?> map) {
    ApplicationFigures figures = new ApplicationFigures();
    if (map.get("notes") instanceof List<?> notes) {
      notes.forEach(note -> figures.notes.add(String.valueOf(note)));
    }
    if (map.get("executors") instanceof Map<?, ?> executors) {
      executors.forEach(
          (executorId, stored) -> {
            if (stored instanceof Map<?, ?> one) {
              figures.executors.put(String.valueOf(executorId), ExecutorFigures.ofMap(one));
            }
          });
    }
    if (map.get("stages") instanceof List<?> stages) {
      for (Object element : stages) {
        if (element instanceof List<?> one && one.size() >= 3) {
          long[] numbers = new long[6];
          for (int i = 0; i < Math.min(numbers.length, one.size()); i++) {
            numbers[i] = Stored.number(one.get(i));
          }
          BytesByPath received = new BytesByPath(numbers[3], numbers[4], numbers[5], 0);
          figures.add(new StageBytes((int) numbers[0], numbers[1], numbers[2], received));
        }
      }
    }
    figures.series = TimeSeries.ofList(map.get("series"));
    if (map.get("totals") instanceof List<?> sums && sums.size() >= 3) {
      figures.ofEvents =
          new BytesByPath(
              Stored.number(sums.get(0)),
              Stored.number(sums.get(1)),
              Stored.number(sums.get(2)),
              0);
    }
    return figures;
  }
}
