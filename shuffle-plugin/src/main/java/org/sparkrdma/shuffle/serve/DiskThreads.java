// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.serve;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ThreadFactory;
import java.util.function.Function;
import java.util.function.LongSupplier;
import org.sparkrdma.shuffle.thread.TaskThreads;

/**
 * Threads for work that may wait for a disk: reads, checksums and registration. Each disk has a few
 * threads of its own, so a slow disk does not delay requests for another. Threads start with the
 * first jobs; from then on one of each disk lives, so that jobs wait for it while the system
 * refuses others, and those end when idle. The server creates and closes it. Safe for any thread.
 */
final class DiskThreads implements AutoCloseable {
  /** Number of threads while no job takes long, see {@link DiskTurns}. */
  private static final int THREADS_PER_DISK = 4;

  private static final Duration MAX_IDLE = Duration.ofSeconds(10);

  private final Function<String, ThreadFactory> factories;
  private final List<TaskThreads> disks = new ArrayList<>();

  DiskThreads() {
    this(TaskThreads::named);
  }

  /**
   * @param factories creates threads with a name
   */
  DiskThreads(Function<String, ThreadFactory> factories) {
    this.factories = factories;
  }

  /** Opens a queue for each disk, each with threads of its own. */
  List<DiskQueue> open(int count, LongSupplier nanoClock) {
    List<DiskQueue> queues = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      TaskThreads threads =
          new TaskThreads(
              factories.apply("rdma-disk-" + i), 1, DiskTurns.GROWTH * THREADS_PER_DISK, MAX_IDLE);
      disks.add(threads);
      queues.add(new DiskQueue(threads, THREADS_PER_DISK, nanoClock));
    }
    return List.copyOf(queues);
  }

  /** Waits until all submitted jobs have ended. A disk that hangs may delay that for ever. */
  @Override
  public void close() {
    disks.forEach(TaskThreads::close);
    boolean interrupted = false;
    for (TaskThreads threads : disks) {
      boolean ended = false;
      while (!ended) {
        try {
          ended = threads.await(Duration.ofMinutes(1));
        } catch (InterruptedException e) {
          interrupted = true;
        }
      }
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }
}
