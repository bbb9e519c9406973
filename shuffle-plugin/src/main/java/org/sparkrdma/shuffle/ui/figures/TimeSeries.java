// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.ui.figures;

import java.util.ArrayList;
import java.util.List;

/**
 * Bytes by path over time, with a bounded number of points: when it is full, every second point is
 * dropped and the interval doubles. Not safe for several threads.
 */
public final class TimeSeries {
  static final int MAX_POINTS = 240;
  private static final long FIRST_INTERVAL_MS = 1_000;

  private final List<Point> points = new ArrayList<>();
  private long intervalMs = FIRST_INTERVAL_MS;

  /** Totals at a time, in milliseconds since 1970. */
  public record Point(long timeMs, BytesByPath bytes) {}

  /** Whether the next point is due. */
  boolean isDue(long timeMs) {
    return points.isEmpty() || timeMs - points.get(points.size() - 1).timeMs() >= intervalMs;
  }

  void add(long timeMs, BytesByPath bytes) {
    points.add(new Point(timeMs, bytes));
    if (points.size() > MAX_POINTS) {
      List<Point> kept = new ArrayList<>();
      for (int i = 0; i < points.size(); i += 2) {
        kept.add(points.get(i));
      }
      points.clear();
      points.addAll(kept);
      intervalMs *= 2;
    }
  }

  List<Point> points() {
    return List.copyOf(points);
  }

  /** All of it, for {@link #ofList}. */
  List<List<Long>> toList() {
    List<List<Long>> list = new ArrayList<>();
    for (Point point : points) {
      BytesByPath bytes = point.bytes();
      list.add(List.of(point.timeMs(), bytes.read(), bytes.copied(), bytes.tcp(), bytes.local()));
    }
    return list;
  }

  static TimeSeries ofList(Object stored) {
    TimeSeries series = new TimeSeries();
    if (stored instanceof List<?> list) {
      for (Object element : list) {
        if (element instanceof List<?> point && point.size() >= 5) {
          series.points.add(
              new Point(
                  Stored.number(point.get(0)),
                  new BytesByPath(
                      Stored.number(point.get(1)),
                      Stored.number(point.get(2)),
                      Stored.number(point.get(3)),
                      Stored.number(point.get(4)))));
        }
      }
    }
    return series;
  }
}
