// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.estimate;

import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.PriorityQueue;

/**
 * The tasks of one attempt of a stage, and the rules of the estimate. Confined to one thread.
 *
 * <p>What could be saved has two parts. <b>Waiting</b>: the stage is replayed without the time that
 * its tasks waited for remote blocks, as blocked-time analysis does (Ousterhout, NSDI 2015), but no
 * task and no host gets its bytes faster than the link carries them. That is the most; likely is
 * half of what the faster transfer explains, because tasks also wait for busy servers; at least it
 * is nothing. <b>CPU time</b>: remote bytes times the difference of both transfers, shared by the
 * cores. It saves time as far as cores are busy: at least by the part that tasks keep them busy, at
 * most by all of it, and likely by the mean of both.
 */
final class Stage {
  /** Tasks that are replayed; the others of a larger stage are like these. */
  static final int MAX_HELD = 1 << 18;

  private static final long NOTED_AFTER_MS = 100;
  private static final double LIKELY_WAITING = 0.5;
  private static final double NS_PER_MS = 1e6;
  private static final double MS_PER_SECOND = 1e3;

  /**
   * A task that has ended.
   *
   * @param allBytes from other executors
   * @param bytes those of them that the plug-in would fetch, in their number of blocks
   */
  record Task(
      long launchMs,
      long durationMs,
      String host,
      long cpuNs,
      long waitMs,
      long allBytes,
      long bytes,
      long blocks) {
    double meanBytes() {
      return (double) bytes / Math.max(1, blocks);
    }

    /** Core-seconds of both ends; may be negative. */
    double savedCpuSeconds(CostTable costs, boolean fromCopies) {
      return bytes / 1e9 * costs.savedCpuSeconds(fromCopies, meanBytes());
    }
  }

  /** An interval of time. */
  record Interval(long startMs, long endMs) {}

  /**
   * What a stage saves, in milliseconds of its time.
   *
   * @param interval from the first launch to the last end
   * @param waitingMost without any waiting that a transfer could avoid
   * @param waitingLikely the part of it that is likely saved
   * @param floor what the busiest host's link needs, and no transfer saves
   * @param cpuLow by CPU time, at least; negative where copies cost more
   */
  record Saving(
      Interval interval,
      double waitingMost,
      double waitingLikely,
      double floor,
      double cpuLow,
      double cpuLikely,
      double cpuHigh) {}

  private final CostTable costs;
  private final double linkBytesPerMs;
  private final Map<String, Long> bytesByHost = new HashMap<>();
  private final List<Task> held = new ArrayList<>();
  private long startMs = Long.MAX_VALUE;
  private long endMs = Long.MIN_VALUE;
  private long tasks;
  private long cpuNs;
  private long durationsMs;
  private double avoidableSum;
  private double explainedSum;
  private double registered;
  private double copies;
  private int slots;
  private int cores;

  /**
   * @param linkBytesPerSecond what the network of a host carries; infinite if unknown
   */
  Stage(CostTable costs, double linkBytesPerSecond) {
    this.costs = costs;
    this.linkBytesPerMs = linkBytesPerSecond / MS_PER_SECOND;
  }

  /**
   * Notes what executors have now; the most counts.
   *
   * @param slotsNow tasks that they can run at the same time
   */
  void executors(int slotsNow, int coresNow) {
    // The replay uses no more, and memory may not have room for what was configured.
    slots = Math.max(slots, Math.min(slotsNow, MAX_HELD));
    cores = Math.max(cores, coresNow);
  }

  void add(Task task) {
    startMs = Math.min(startMs, task.launchMs());
    endMs = Math.max(endMs, task.launchMs() + task.durationMs());
    tasks++;
    cpuNs += task.cpuNs();
    durationsMs += task.durationMs();
    bytesByHost.merge(task.host(), task.allBytes(), Long::sum);
    double length = task.meanBytes();
    registered += task.savedCpuSeconds(costs, false);
    copies += task.savedCpuSeconds(costs, true);
    double both = costs.savedTime(false, length) + costs.savedTime(true, length);
    avoidableSum += avoidableMs(task);
    explainedSum += avoidableMs(task) * Math.max(0, both / 2);
    if (held.size() < MAX_HELD) {
      held.add(task);
    }
  }

  /** Waiting for blocks that are not merged, as far as the link is not what a task waits for. */
  private long avoidableMs(Task task) {
    double own = task.waitMs() * ((double) task.bytes() / Math.max(1, task.allBytes()));
    double most = task.durationMs() - task.allBytes() / linkBytesPerMs;
    return Math.round(Math.max(0, Math.min(own, most)));
  }

  /** What the stage saves, which has a task. */
  Saving saving() {
    held.sort(Comparator.comparingLong(Task::launchMs));
    double span = Math.max(1, endMs - startMs);
    // Other resources than cores, and other stages, may leave fewer than executors have. Without
    // events of executors, as many as tasks ran at the same time on average.
    int used =
        slots > 0
            ? Math.min(slots, mostAtOnce())
            : (int) Math.max(1, Math.round(durationsMs / span));
    double shared = cores > 0 ? cores : used;
    double replayed = replay(used, false);
    double part = replayed == 0 ? 0 : 1 - replay(used, true) / replayed;
    // The span may hold time in which the stage had no slot.
    double worked = Math.min(span, replayed * tasks / held.size());
    double floor = Math.min(span, Collections.max(bytesByHost.values()) / linkBytesPerMs);
    double most = Math.max(0, Math.min(worked * part, span - floor));
    double explained = avoidableSum == 0 ? 0 : explainedSum / avoidableSum;
    double busy = Math.min(1, cpuNs / NS_PER_MS / (shared * span));
    double perCore = MS_PER_SECOND / shared;
    return new Saving(
        new Interval(startMs, endMs),
        most,
        most * explained * LIKELY_WAITING,
        floor,
        busy * Math.min(registered, copies) * perCore,
        (1 + busy) / 2 * (registered + copies) / 2 * perCore,
        Math.min(Math.max(registered, copies) * perCore, span - floor - most));
  }

  /**
   * The most tasks that ran at the same time. The driver launches a task with the cores of one
   * before it notes that one's end.
   */
  private int mostAtOnce() {
    PriorityQueue<Long> ends = new PriorityQueue<>();
    int most = 0;
    for (Task task : held) {
      while (!ends.isEmpty() && ends.peek() <= task.launchMs()) {
        ends.remove();
      }
      long late = Math.min(task.durationMs() / 10, NOTED_AFTER_MS);
      ends.add(task.launchMs() + task.durationMs() - late);
      most = Math.max(most, ends.size());
    }
    return most;
  }

  /** When the last task ends, each of which takes the slot that is free first, in milliseconds. */
  private double replay(int used, boolean withoutWaiting) {
    PriorityQueue<Long> free = new PriorityQueue<>(Collections.nCopies(used, 0L));
    long end = 0;
    for (Task task : held) {
      long ms = task.durationMs() - (withoutWaiting ? avoidableMs(task) : 0);
      long ends = free.remove() + ms;
      free.add(ends);
      end = Math.max(end, ends);
    }
    return end;
  }
}
