// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.benchmarks.tera;

import com.sun.management.GarbageCollectionNotificationInfo;
import java.lang.management.GarbageCollectorMXBean;
import java.lang.management.ManagementFactory;
import java.util.List;
import java.util.concurrent.TimeUnit;
import javax.management.Notification;
import javax.management.NotificationEmitter;
import javax.management.NotificationListener;
import javax.management.openmbean.CompositeData;

/**
 * Records the pauses of this JVM's garbage collectors, which the JVM reports on a thread of its own
 * some time after each pause. Safe for use by several threads; never closed, because it lasts as
 * long as the executor.
 */
final class PauseRecorder implements NotificationListener {
  /** Number of pauses whose length is kept. */
  private static final int MAX_RECORDED = 10_000;

  private static final long MAX_WAIT_NS = TimeUnit.SECONDS.toNanos(1);

  /** The beans of ZGC and Shenandoah for whole cycles, in most of which the threads run. */
  private static final String CYCLES = " Cycles";

  private final List<GarbageCollectorMXBean> collectors;
  private final int[] ringMs;
  private long collectionsBefore;
  private long count;

  /**
   * @param maxRecorded number of pauses whose length is kept
   */
  PauseRecorder(List<GarbageCollectorMXBean> collectors, int maxRecorded) {
    this.collectors = collectors;
    this.ringMs = new int[maxRecorded];
  }

  /** The recorder of this JVM, which starts with the first call. */
  static PauseRecorder ofThisJvm() {
    return OfThisJvm.STARTED;
  }

  /** Begins to record; called once. */
  synchronized void start() {
    collectors.forEach(
        collector -> ((NotificationEmitter) collector).addNotificationListener(this, null, null));
    // After that, so that no pause is awaited that was not reported.
    collectionsBefore = collections();
  }

  @Override
  public void handleNotification(Notification notification, Object handback) {
    if (notification
        .getType()
        .equals(GarbageCollectionNotificationInfo.GARBAGE_COLLECTION_NOTIFICATION)) {
      var info = GarbageCollectionNotificationInfo.from((CompositeData) notification.getUserData());
      record(info.getGcInfo().getDuration());
    }
  }

  synchronized void record(long ms) {
    ringMs[(int) (count % ringMs.length)] = (int) Math.min(ms, Integer.MAX_VALUE);
    count++;
    notifyAll();
  }

  /** All pauses until now. Waits up to a second for those that the JVM has not reported yet. */
  synchronized PauseHistory history() {
    long reported = collections() - collectionsBefore;
    long endNs = System.nanoTime() + MAX_WAIT_NS;
    try {
      for (long leftNs = MAX_WAIT_NS;
          count < reported && leftNs > 0;
          leftNs = endNs - System.nanoTime()) {
        TimeUnit.NANOSECONDS.timedWait(this, leftNs);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    int known = (int) Math.min(count, ringMs.length);
    int[] lastMs = new int[known];
    for (int i = 0; i < known; i++) {
      lastMs[i] = ringMs[(int) ((count - known + i) % ringMs.length)];
    }
    return new PauseHistory(count, lastMs);
  }

  private long collections() {
    return collectors.stream().mapToLong(GarbageCollectorMXBean::getCollectionCount).sum();
  }

  /** The recorder of this JVM, created on first use. */
  private static final class OfThisJvm {
    private static final PauseRecorder STARTED =
        new PauseRecorder(
            ManagementFactory.getGarbageCollectorMXBeans().stream()
                .filter(collector -> !collector.getName().endsWith(CYCLES))
                .toList(),
            MAX_RECORDED);

    static {
      STARTED.start();
    }
  }
}
