// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.metrics;

import java.util.ArrayList;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

/**
 * Bytes that tasks of this executor received from other executors, by stage and path. Bounded: a
 * stage is dropped when no byte was added for a minute, or when it is the one longest unused of too
 * many. By then the driver has received its bytes. Safe for any thread; called when a request has
 * ended, not for each block.
 */
public final class StageReads {
  /** Stands for requests that belong to no task. */
  public static final int NO_STAGE = -1;

  /** Numbers of one stage in {@link #list}. */
  public static final int FIELDS = 5;

  /** Maximum number of stages in {@link #list}. */
  public static final int MAX_STAGES = 128;

  private static final long IDLE_NS = TimeUnit.SECONDS.toNanos(60);

  private final LongSupplier nowNs;
  private final Map<Integer, Bytes> stages = new LinkedHashMap<>();
  private long created;

  StageReads(LongSupplier nowNs) {
    this.nowNs = nowNs;
  }

  /** Sums of one stage since {@code number} was given to it. */
  private static final class Bytes {
    final long number;
    long read;
    long copied;
    long tcp;
    long addedNs;

    Bytes(long number) {
      this.number = number;
    }
  }

  /**
   * Adds bytes of a request that has ended. Never throws, because blocks must be answered whatever
   * happens to their statistics: without memory the bytes are not counted.
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
    try {
      addToStage(stageId, read, copied, tcp);
    } catch (Throwable e) {
      forget(stageId);
    }
  }

  private void forget(int stageId) {
    try {
      stages.remove(stageId);
    } catch (Throwable e) {
      // It stays, with sums that are too low.
    }
  }

  private void addToStage(int stageId, long read, long copied, long tcp) {
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
    bytes.addedNs = nowNs.getAsLong();
    stages.put(stageId, bytes);
  }

  /**
   * Sums of the stages that are not dropped: of each a number, the stage's id, bytes by READ, of
   * these from copy pools, bytes by TCP. A stage that is added again after it was dropped has
   * another number, and its sums begin at 0.
   */
  public synchronized List<Long> list() {
    List<Long> list = new ArrayList<>();
    long now = nowNs.getAsLong();
    for (Iterator<Map.Entry<Integer, Bytes>> all = stages.entrySet().iterator(); all.hasNext(); ) {
      Map.Entry<Integer, Bytes> stage = all.next();
      Bytes bytes = stage.getValue();
      if (now - bytes.addedNs >= IDLE_NS) {
        all.remove();
      } else {
        list.addAll(
            List.of(bytes.number, (long) stage.getKey(), bytes.read, bytes.copied, bytes.tcp));
      }
    }
    return list;
  }
}
