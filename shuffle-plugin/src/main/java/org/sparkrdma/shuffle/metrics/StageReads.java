// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.metrics;

import java.util.ArrayList;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Bytes that tasks of this executor received from other executors and that the driver does not have
 * yet, by stage and path. The sum of all reports that the driver has taken is the sum of what was
 * added. Safe for any thread; called when a request has ended, not for each block.
 */
public final class StageReads {
  /** Stands for requests that belong to no task. */
  public static final int NO_STAGE = -1;

  /** Numbers of one stage in {@link #report}. */
  public static final int FIELDS = 4;

  /** Maximum number of stages in one report. */
  public static final int MAX_STAGES = 128;

  /** A driver that takes no reports starts few stages; the earliest are dropped. */
  static final int MAX_WAITING = 10_000;

  /** In no report yet. */
  private final Map<Integer, long[]> added = new LinkedHashMap<>();

  /** The last report, until the driver has it; else empty. */
  private List<Long> report = List.of();

  private long number;

  /** No bytes yet. */
  StageReads() {}

  /**
   * Adds bytes of a request that has ended.
   *
   * @param stageId Spark's id of the stage, or {@link #NO_STAGE}
   * @param read by READ
   * @param copied of these, from copy pools of peers
   * @param tcp by TCP
   */
  public synchronized void add(int stageId, long read, long copied, long tcp) {
    if (stageId == NO_STAGE || (read == 0 && tcp == 0)) {
      return;
    }
    long[] bytes = added.computeIfAbsent(stageId, id -> new long[FIELDS - 1]);
    bytes[0] += read;
    bytes[1] += copied;
    bytes[2] += tcp;
    if (added.size() > MAX_WAITING) {
      added.remove(added.keySet().iterator().next());
    }
  }

  /**
   * The next bytes for the driver: the number of this report, then of each stage its id, bytes by
   * READ, of these from copy pools, bytes by TCP. The same report until {@link #taken}: the driver
   * may have one whose answer was lost, and adds the bytes of a number once. Empty without new
   * bytes.
   */
  public synchronized List<Long> report() {
    if (report.isEmpty() && !added.isEmpty()) {
      List<Long> next = new ArrayList<>(List.of(++number));
      Iterator<Map.Entry<Integer, long[]>> stages = added.entrySet().iterator();
      for (int i = 0; i < MAX_STAGES && stages.hasNext(); i++) {
        Map.Entry<Integer, long[]> stage = stages.next();
        long[] bytes = stage.getValue();
        next.addAll(List.of((long) stage.getKey(), bytes[0], bytes[1], bytes[2]));
        stages.remove();
      }
      report = List.copyOf(next);
    }
    return report;
  }

  /** The driver has the last report. Returns whether more stages wait than one report may have. */
  public synchronized boolean taken() {
    report = List.of();
    return added.size() > MAX_STAGES;
  }
}
