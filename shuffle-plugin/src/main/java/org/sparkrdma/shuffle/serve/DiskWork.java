// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.serve;

import java.io.IOException;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Queue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.sparkrdma.shuffle.thread.HeapShortage;
import org.sparkrdma.verbs.VerbsException;

/**
 * Gives work to the threads of disks and of deregistration, and their results back to the agent as
 * commands. Knows which disk hangs. Confined to the agent, but for the work.
 */
final class DiskWork {
  private static final Logger LOG = LoggerFactory.getLogger(DiskWork.class);

  /** A disk of which nothing was read for so long, while there are loads, hangs. */
  private static final long SICK_NS = Duration.ofSeconds(1).toNanos();

  /** Threads of each disk, and for deregistration; {@link DiskThreads}, or a test. */
  interface Workers {
    /** Starts the threads. */
    void start();

    /** Runs a job on a thread of a disk. */
    void execute(int disk, Runnable job);

    /** Runs a registration of a file of a disk, so that no read waits for it. */
    void register(int disk, Runnable job);

    /** Runs a job that waits for no disk, so that no disk delays it. */
    void execute(Runnable job);

    /**
     * Runs the jobs that wait, then ends the threads.
     *
     * @return false when they have not ended after the limit
     */
    boolean close(Duration limit);
  }

  /** What a thread does. */
  interface Job {
    void run() throws IOException, VerbsException;
  }

  /** What a disk is doing. Safe for any thread. */
  private static final class Disk {
    /** Loads that wait for it or run. */
    private final AtomicInteger loads = new AtomicInteger();

    private volatile long progressNs;

    /** Times at which what is not registered yet was to be, in their order. On the agent. */
    private final Queue<Long> registeringNs = new ArrayDeque<>();
  }

  private final Workers workers;
  private final Consumer<Runnable> agent;
  private final LongSupplier nanoClock;
  private final Runnable onFreed;
  private final Disk[] disks;

  /** Those that may hang; others wait for something else. */
  private final int realDisks;

  private long closingBytes;
  private boolean closesAtOnce;

  /**
   * @param count number of disks
   * @param realDisks number of those that are disks
   * @param onFreed runs on the agent when memory was closed
   */
  DiskWork(
      Workers workers,
      Consumer<Runnable> agent,
      LongSupplier nanoClock,
      int count,
      int realDisks,
      Runnable onFreed) {
    this.workers = workers;
    this.agent = agent;
    this.nanoClock = nanoClock;
    this.realDisks = realDisks;
    this.onFreed = onFreed;
    this.disks = new Disk[count];
    for (int i = 0; i < count; i++) {
      disks[i] = new Disk();
    }
  }

  /** Any thread. */
  long nowNs() {
    return nanoClock.getAsLong();
  }

  /** Whether a disk hangs: what needs it is not to wait. */
  boolean isSick(int disk, long nowNs) {
    Disk one = disks[disk];
    return disk < realDisks && one.loads.get() > 0 && nowNs - one.progressNs > SICK_NS;
  }

  /** Something was read from a disk, or it begins to be used. Returns the time. Any thread. */
  long onProgress(int disk) {
    long nowNs = nowNs();
    disks[disk].progressNs = nowNs;
    return nowNs;
  }

  /** Runs a load on its disk, then something on the agent. */
  void load(BlockLoad load, Runnable then) {
    Disk disk = disks[load.disk()];
    if (disk.loads.get() == 0) {
      onProgress(load.disk());
    }
    disk.loads.getAndIncrement();
    workers.execute(
        load.disk(),
        () -> {
          try {
            load.run();
          } finally {
            onProgress(load.disk());
            disk.loads.getAndDecrement();
          }
          agent.accept(then);
        });
  }

  /**
   * Runs a registration of a disk's file beside its loads.
   *
   * @param then gets its failure on the agent, null when it is registered
   */
  void register(int disk, Job job, Consumer<Exception> then) {
    Queue<Long> registeringNs = disks[disk].registeringNs;
    registeringNs.add(nowNs());
    workers.register(
        disk,
        () -> {
          Exception failure = failureOf(job);
          agent.accept(
              () -> {
                registeringNs.remove();
                then.accept(failure);
              });
        });
  }

  /** Whether a file of a disk was to be registered before a time, and still is not. */
  boolean registersSinceBefore(int disk, long timeNs) {
    Long oldestNs = disks[disk].registeringNs.peek();
    return oldestNs != null && oldestNs - timeNs < 0;
  }

  /** Number of registrations of a disk that have not ended. */
  int registrations(int disk) {
    return disks[disk].registeringNs.size();
  }

  /** The threads have ended: from now on memory is closed on the caller's thread. */
  void closeAtOnce() {
    closesAtOnce = true;
  }

  /** Runs a job that deregisters memory which nothing uses. */
  void deregister(Job job) {
    close(0, job, () -> {});
  }

  /**
   * Closes memory that nobody may READ any more.
   *
   * @param pinnedBytes that it holds of the budget
   * @param then runs on the agent when it is closed
   */
  void close(long pinnedBytes, Job job, Runnable then) {
    if (closesAtOnce) {
      closeNow(job);
      then.run();
      return;
    }
    closingBytes += pinnedBytes;
    workers.execute(
        () -> {
          closeNow(job);
          agent.accept(
              () -> {
                closingBytes -= pinnedBytes;
                then.run();
                onFreed.run();
              });
        });
  }

  /** Closes memory on this thread. */
  private static void closeNow(Job close) {
    Exception failure = failureOf(close);
    if (failure != null) {
      LOG.warn("Unexpected failure of a deregistration", failure);
    }
  }

  /**
   * Runs a job, whose failure ends it alone: also a method or field that this Spark lacks, a mapped
   * file whose disk fails, and memory beside the heap, which channels take for a read.
   *
   * @return null when it did not fail
   */
  static Exception failureOf(Job job) {
    try {
      job.run();
      return null;
    } catch (IOException | VerbsException | RuntimeException e) {
      return e;
    } catch (LinkageError | InternalError e) {
      return new IOException(e);
    } catch (OutOfMemoryError e) {
      if (HeapShortage.isFatal(e)) {
        throw e;
      }
      return new IOException(e);
    }
  }

  /** Bytes that threads will return to the budget. */
  long closingBytes() {
    return closingBytes;
  }
}
