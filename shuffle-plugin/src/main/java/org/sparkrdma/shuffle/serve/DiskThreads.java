// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.serve;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import org.sparkrdma.shuffle.thread.ThreadJoin;
import org.sparkrdma.shuffle.thread.ThreadShortageException;

/**
 * Threads for work that may wait for a disk or for the device: reads, registration and
 * deregistration. Each local directory has a few of its own, so that a disk that hangs does not
 * block the others, and one more for registrations, for which no answer waits. Deregistration, by
 * which others get memory, has a few as well. The server starts and closes them. Safe for any
 * thread.
 */
final class DiskThreads implements DiskWork.Workers {
  private static final int THREADS_PER_DISK = 4;

  /** Ends the thread that takes it. */
  private static final Runnable END = DiskThreads::end;

  /** One for each disk, one for the registrations of each disk, and that of jobs for none. */
  private final List<BlockingQueue<Runnable>> queues = new ArrayList<>();

  private final List<Thread> threads = new ArrayList<>();
  private final int disks;
  private boolean started;
  private boolean closing;

  DiskThreads(int disks) {
    this.disks = disks;
    for (int disk = 0; disk < disks; disk++) {
      add(THREADS_PER_DISK, "rdma-disk-" + disk + "-");
    }
    for (int disk = 0; disk < disks; disk++) {
      add(1, "rdma-window-" + disk + "-");
    }
    add(THREADS_PER_DISK, "rdma-dereg-");
  }

  private void add(int count, String name) {
    BlockingQueue<Runnable> queue = new LinkedBlockingQueue<>();
    queues.add(queue);
    for (int i = 1; i <= count; i++) {
      Thread thread = new Thread(() -> work(queue), name + i);
      thread.setDaemon(true);
      threads.add(thread);
    }
  }

  @Override
  public void start() {
    started = true;
    for (Thread thread : threads) {
      ThreadShortageException.start(thread);
    }
  }

  private static void end() {}

  private static void work(BlockingQueue<Runnable> queue) {
    Runnable job = take(queue);
    while (job != END) {
      job.run();
      job = take(queue);
    }
  }

  private static Runnable take(BlockingQueue<Runnable> queue) {
    while (true) {
      try {
        return queue.take();
      } catch (InterruptedException e) {
        // Only the close ends a thread.
      }
    }
  }

  @Override
  public void execute(int disk, Runnable job) {
    queues.get(disk).add(job);
  }

  @Override
  public void register(int disk, Runnable job) {
    queues.get(disks + disk).add(job);
  }

  @Override
  public void execute(Runnable job) {
    queues.get(queues.size() - 1).add(job);
  }

  @Override
  public boolean close(Duration limit) {
    if (!closing) {
      closing = true;
      for (BlockingQueue<Runnable> queue : queues) {
        for (int i = 0; i < THREADS_PER_DISK; i++) {
          queue.add(END);
        }
      }
    }
    long endNs = System.nanoTime() + limit.toNanos();
    boolean ended = true;
    for (Thread thread : started ? threads : List.<Thread>of()) {
      ended &= ThreadJoin.await(thread, Duration.ofNanos(endNs - System.nanoTime()));
    }
    return ended;
  }
}
