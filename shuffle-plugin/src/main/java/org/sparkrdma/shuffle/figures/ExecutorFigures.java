// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.figures;

import com.fasterxml.jackson.annotation.JsonAutoDetect;
import com.fasterxml.jackson.annotation.JsonAutoDetect.Visibility;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.sparkrdma.shuffle.metrics.Figure;
import org.sparkrdma.shuffle.metrics.ShuffleCounters.StageReads;

/**
 * All figures of one executor. Its fields are JSON in the store of a History Server, so their names
 * stay. Not safe for several threads; owned by {@link ApplicationFigures}.
 */
@JsonAutoDetect(
    fieldVisibility = Visibility.ANY,
    getterVisibility = Visibility.NONE,
    isGetterVisibility = Visibility.NONE)
public final class ExecutorFigures {
  /** More than this version has; another one may have others. */
  private static final int MAX_VALUES = 100;

  private final Map<String, Object> values = new HashMap<>();
  private String host = "";
  private long remote;
  private long local;

  /** Spark's reason for the removal; null while the executor runs. */
  private String removed;

  /** Whether a compacted event log has dropped Spark's events about it. */
  private transient boolean compacted;

  /** Number of the last report about stages. */
  private transient long stageReport;

  /**
   * Takes over reported values; the others stay. The highest number of pinned bytes does not fall
   * when RDMA starts again and counts from 0.
   *
   * @return those that have changed
   */
  Map<String, Object> update(Map<String, Object> reported) {
    Map<String, Object> changes = new HashMap<>();
    long highest = number(Figure.PINNED_HIGHEST);
    reported.forEach(
        (name, value) -> {
          boolean lower =
              name.equals(Figure.PINNED_HIGHEST.label())
                  && value instanceof Number number
                  && number.longValue() < highest;
          boolean fits = values.size() < MAX_VALUES || values.containsKey(name);
          if (!lower && fits && !value.equals(values.put(name, value))) {
            changes.put(name, value);
          }
        });
    return changes;
  }

  /**
   * Takes over a report about stages once.
   *
   * @param reported {@link StageReads#report}; null without one
   * @return the bytes that it adds to each stage
   */
  Map<Integer, BytesByPath> updateStages(Object reported) {
    Map<Integer, BytesByPath> increments = new TreeMap<>();
    if (!(reported instanceof List<?> numbers)
        || numbers.isEmpty()
        || (Long) numbers.get(0) <= stageReport) {
      return increments;
    }
    stageReport = (Long) numbers.get(0);
    for (int i = 1; i + StageReads.FIELDS <= numbers.size(); i += StageReads.FIELDS) {
      BytesByPath more =
          new BytesByPath(
              (Long) numbers.get(i + 1), (Long) numbers.get(i + 2), (Long) numbers.get(i + 3), 0);
      increments.merge(((Long) numbers.get(i)).intValue(), more, BytesByPath::plus);
    }
    return increments;
  }

  /** Spark has named the host. */
  void setHost(String name) {
    host = name;
  }

  /** Its host as Spark names it; empty when Spark has not named it. */
  public String host() {
    return host;
  }

  /** Adds the bytes that a task has read of other executors and of its own. */
  void addRead(long remoteBytes, long localBytes) {
    remote += remoteBytes;
    local += localBytes;
  }

  /** The facts from Spark's own events so far. */
  public SparkExecutor spark() {
    return new SparkExecutor(host, remote, local, removed);
  }

  /** Takes over facts from Spark's own events, some of which this may have already. */
  void update(SparkExecutor known) {
    host = known.host().isEmpty() ? host : known.host();
    remote = Math.max(remote, known.remote());
    local = Math.max(local, known.local());
  }

  /** The event log has no more. Spark names the host of every executor that is running. */
  boolean endReplay() {
    compacted = removed == null && host.isEmpty();
    return compacted;
  }

  /** Spark has removed the executor. */
  public void remove(String reason) {
    // Without most of what it may have of a container's output.
    removed = reason == null ? "" : reason.substring(0, Math.min(1_200, reason.length()));
  }

  /** Whether Spark has removed it, or a compacted event log has dropped its start and end. */
  public boolean isRemoved() {
    return removed != null || compacted;
  }

  /** State of RDMA, Spark's reason for the removal, or that its end is not known. */
  public String state() {
    if (isRemoved()) {
      return compacted ? "compacted" : "lost: " + removed;
    }
    return hasReported() ? text(Figure.STATE) : "not reported";
  }

  /** Whether it runs with RDMA. */
  public boolean isUp() {
    return !isRemoved() && text(Figure.STATE).equals("up");
  }

  /** Value of a figure; 0 when it is not reported. */
  public long number(Figure figure) {
    return number(figure.label());
  }

  /** The same by its label, or by another name. */
  public long number(String name) {
    return values.get(name) instanceof Number number ? number.longValue() : 0;
  }

  /** Value of a figure; empty when it is not reported. */
  public String text(Figure figure) {
    return values.get(figure.label()) instanceof String text ? text : "";
  }

  /** Whether it has reported at all. */
  boolean hasReported() {
    return !values.isEmpty();
  }

  /** Bytes received by TCP; of an executor that does not use RDMA, what Spark has counted. */
  private long tcpBytes() {
    return usesSparksReader()
        ? Math.max(number(Figure.TCP), remote - number(Figure.READ))
        : number(Figure.TCP);
  }

  private boolean usesSparksReader() {
    boolean neverUp = !text(Figure.REASONS).isEmpty() && text(Figure.DEVICE).isEmpty();
    return !hasReported() || neverUp || text(Figure.STATE).equals("off");
  }

  /** Whether only Spark has counted bytes that it received by TCP. */
  public boolean hasPlainBytes() {
    return tcpBytes() > number(Figure.TCP);
  }

  /** Whether its tasks have read bytes of other executors that it has not reported yet. */
  boolean hasUnreported() {
    boolean reportsAll = hasReported() && usesSparksReader();
    return !isRemoved() && !reportsAll && remote > number(Figure.READ) + number(Figure.TCP);
  }

  /** Numbers of blocks that used TCP, by the label of the reason. */
  public Map<String, Long> fallbacks() {
    Map<String, Long> fallbacks = new TreeMap<>();
    values.forEach(
        (name, value) -> {
          if (name.startsWith(Figure.FALLBACK) && value instanceof Number number) {
            fallbacks.put(name.substring(Figure.FALLBACK.length()), number.longValue());
          }
        });
    return fallbacks;
  }

  /** Bytes by path. */
  public BytesByPath bytes() {
    return new BytesByPath(number(Figure.READ), number(Figure.COPIED), tcpBytes(), local);
  }

  /** A copy that does not change. */
  ExecutorFigures copy() {
    ExecutorFigures copy = new ExecutorFigures();
    copy.values.putAll(values);
    copy.addRead(remote, local);
    copy.host = host;
    copy.removed = removed;
    copy.compacted = compacted;
    return copy;
  }
}
