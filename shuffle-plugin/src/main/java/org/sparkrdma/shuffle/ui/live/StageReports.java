// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.ui.live;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.sparkrdma.shuffle.metrics.StageReads;
import org.sparkrdma.shuffle.ui.figures.BytesByPath;

/**
 * Latest report of each executor about its stages, to find the bytes that a report adds. Bounded;
 * an executor that has ended is remembered for a while, because its last report may follow. Not
 * safe for several threads; owned by {@link ShuffleUi}.
 */
final class StageReports {
  static final int MAX_EXECUTORS = 10_000;
  private static final int MAX_REMOVED = 100;

  /** The last values by executor and then by the number of {@link StageReads#list}. */
  private final Map<String, Map<Long, BytesByPath>> last = new LinkedHashMap<>();

  private final Deque<String> removed = new ArrayDeque<>();

  /** Bytes that a report adds to each stage; empty when it has none. */
  Map<Integer, BytesByPath> increments(String executorId, Object reported) {
    List<?> numbers = reported instanceof List<?> list ? list : List.of();
    if (!last.containsKey(executorId)) {
      if (numbers.isEmpty()) {
        return Map.of();
      }
      if (last.size() >= MAX_EXECUTORS) {
        // Reports may come after the removal of their executor: such entries end here.
        last.remove(last.keySet().iterator().next());
      }
    }
    Map<Long, BytesByPath> now = new HashMap<>();
    Map<Long, BytesByPath> before = last.getOrDefault(executorId, Map.of());
    Map<Integer, BytesByPath> increments = new TreeMap<>();
    for (int i = 0; i + StageReads.FIELDS <= numbers.size(); i += StageReads.FIELDS) {
      long number = (Long) numbers.get(i);
      int stageId = (int) (long) (Long) numbers.get(i + 1);
      BytesByPath sum =
          new BytesByPath(
              (Long) numbers.get(i + 2), (Long) numbers.get(i + 3), (Long) numbers.get(i + 4), 0);
      now.put(number, sum);
      BytesByPath more = sum.minus(before.getOrDefault(number, BytesByPath.NONE));
      if (more.highest() > 0) {
        increments.merge(stageId, more, BytesByPath::plus);
      }
    }
    last.put(executorId, now);
    return increments;
  }

  /** The executor has ended. */
  void remove(String executorId) {
    if (last.containsKey(executorId) && !removed.contains(executorId)) {
      removed.add(executorId);
      if (removed.size() > MAX_REMOVED) {
        last.remove(removed.remove());
      }
    }
  }

  /** Number of executors that are remembered. */
  int size() {
    return last.size();
  }
}
