// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.ui.figures;

import java.util.HashMap;
import java.util.Map;
import java.util.TreeMap;
import org.sparkrdma.shuffle.metrics.Figure;

/**
 * All figures of one executor. Not safe for several threads; owned by {@link ApplicationFigures}.
 */
public final class ExecutorFigures {
  private final Map<String, Object> values = new HashMap<>();
  private String host = "";
  private String removedReason;
  private long remoteBytes;
  private long localBytes;

  /**
   * Takes over reported values; the others stay. The highest number of pinned bytes does not fall
   * when RDMA starts again and counts from 0.
   */
  void update(Map<String, Object> reported) {
    long highest = number(Figure.PINNED_HIGHEST);
    values.putAll(reported);
    if (number(Figure.PINNED_HIGHEST) < highest) {
      values.put(Figure.PINNED_HIGHEST.label(), highest);
    }
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
  void addRead(long remote, long local) {
    remoteBytes += remote;
    localBytes += local;
  }

  /** Spark has removed the executor. */
  void remove(String reason) {
    removedReason = reason == null ? "" : reason;
  }

  /** Whether Spark has removed it. */
  public boolean isRemoved() {
    return removedReason != null;
  }

  /** Spark's reason for the removal. */
  public String removedReason() {
    return removedReason;
  }

  /** Value of a figure; 0 when it is not reported. */
  public long number(Figure figure) {
    return values.get(figure.label()) instanceof Number number ? number.longValue() : 0;
  }

  /** Value of a figure; empty when it is not reported. */
  public String text(Figure figure) {
    return values.get(figure.label()) instanceof String text ? text : "";
  }

  /** Whether it has reported at all. */
  public boolean hasReported() {
    return !values.isEmpty();
  }

  /** Whether it used RDMA at some time. */
  boolean hasDevice() {
    return !text(Figure.DEVICE).isEmpty();
  }

  /** Bytes received by TCP; in an executor without RDMA, those of Spark's own reader. */
  long tcpBytes() {
    long counted = number(Figure.TCP);
    boolean off = text(Figure.STATE).equals("off") || !text(Figure.REASONS).isEmpty();
    boolean neverUp = off && !hasDevice();
    return neverUp ? Math.max(counted, remoteBytes) : counted;
  }

  /** Whether its tasks have read bytes of other executors that it has not reported yet. */
  boolean hasUnreported() {
    return !isRemoved() && remoteBytes > number(Figure.READ) + tcpBytes();
  }

  /** Bytes that it read from its own disks. */
  long localBytes() {
    return localBytes;
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
    return new BytesByPath(number(Figure.READ), number(Figure.COPIED), tcpBytes(), localBytes());
  }

  /** A copy that does not change. */
  ExecutorFigures copy() {
    ExecutorFigures copy = new ExecutorFigures();
    copy.values.putAll(values);
    copy.addRead(remoteBytes, localBytes);
    copy.host = host;
    copy.removedReason = removedReason;
    return copy;
  }

  /** All of it, for {@link #ofMap}. */
  Map<String, Object> toMap() {
    Map<String, Object> map = new HashMap<>();
    map.put("values", values);
    map.put("host", host);
    map.put("remote", remoteBytes);
    map.put("local", localBytes);
    if (removedReason != null) {
      map.put("removed", removedReason);
    }
    return map;
  }

  static ExecutorFigures ofMap(Map<?, ?> map) {
    ExecutorFigures executor = new ExecutorFigures();
    if (map.get("values") instanceof Map<?, ?> values) {
      values.forEach((name, value) -> executor.values.put(String.valueOf(name), value));
    }
    executor.addRead(Stored.number(map.get("remote")), Stored.number(map.get("local")));
    executor.host = map.get("host") instanceof String host ? host : "";
    executor.removedReason = map.get("removed") instanceof String reason ? reason : null;
    return executor;
  }
}
