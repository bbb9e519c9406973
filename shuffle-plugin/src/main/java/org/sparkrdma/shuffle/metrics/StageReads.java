// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.metrics;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Bytes that tasks of this executor received from other executors, by stage and path. Bounded: of
 * too many stages the one longest unused is dropped, whose bytes the driver has received by then.
 * Safe for any thread; called when a request has ended, not for each block.
 */
public final class StageReads {
  /** Stands for requests that belong to no task. */
  public static final int NO_STAGE = -1;

  /** Numbers of one stage in {@link #list}. */
  public static final int FIELDS = 5;

  /** Maximum number of stages in {@link #list}. */
  public static final int MAX_STAGES = 128;

  private final Map<Integer, Bytes> stages = new LinkedHashMap<>();
  private long created;

  /** No bytes yet. */
  StageReads() {}

  /** Sums of one stage since {@code number} was given to it. */
  private static final class Bytes {
    final long number;
    long read;
    long copied;
    long tcp;

    Bytes(long number) {
      this.number = number;
    }
  }

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
    Bytes bytes = stages.remove(stageId);
    if (bytes == null) {
      bytes = new Bytes(created++);
      if (stages.size() >= MAX_STAGES) {
        stages.remove(stages.keySet().iterator().next());
      }
    }
    bytes.read += read;
    bytes.copied += copied;
    bytes.tcp += tcp;
    stages.put(stageId, bytes);
  }

  /**
   * Sums of the stages that are not dropped: of each a number, the stage's id, bytes by READ, of
   * these from copy pools, bytes by TCP. A stage that is added again after it was dropped has
   * another number, and its sums begin at 0.
   */
  public synchronized List<Long> list() {
    List<Long> list = new ArrayList<>();
    for (var stage : stages.entrySet()) {
      Bytes of = stage.getValue();
      list.addAll(List.of(of.number, (long) stage.getKey(), of.read, of.copied, of.tcp));
    }
    return list;
  }
}
