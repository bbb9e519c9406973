// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.fetch;

import java.util.ArrayDeque;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.Executor;
import org.sparkrdma.shuffle.thread.TaskThreads;

/**
 * Queues of work that may wait for a disk: one for each local directory, which gets a few threads
 * at a time, so that a directory that hangs leaves the others to the rest. The directory of a file
 * is known when it has been created; until then its work is in a queue of its own, which gets more.
 *
 * <p>Holds nothing of a directory without work. Safe for any thread.
 */
public final class DirectoryQueues {
  /** Maximum number of threads that are used. */
  public static final int MAX_THREADS = 64;

  private static final int MAX_OF_DIRECTORY = 4;
  private static final int MAX_WITHOUT_DIRECTORY = 32;

  /** Key of the queue of work whose directory is not known. */
  private static final String NO_DIRECTORY = "";

  private final Executor threads;
  private final Map<String, Lane> lanes = new HashMap<>();

  private static final class Lane {
    private final String directory;
    private final int max;
    private final ArrayDeque<Job> waiting = new ArrayDeque<>();
    private int inWork;

    Lane(String directory) {
      this.directory = directory;
      this.max = directory.equals(NO_DIRECTORY) ? MAX_WITHOUT_DIRECTORY : MAX_OF_DIRECTORY;
    }
  }

  private final class Job extends TaskThreads.Task {
    private final String directory;
    private final Runnable work;

    Job(String directory, Runnable work) {
      this.directory = directory;
      this.work = work;
    }

    @Override
    public void run() {
      for (Job job = this; job != null; job = end(job)) {
        TaskThreads.runSafely(job.work);
      }
    }
  }

  /**
   * @param threads refuse nothing until the executor stops, as {@link TaskThreads}
   */
  public DirectoryQueues(Executor threads) {
    this.threads = threads;
  }

  /**
   * Runs work on one of the threads.
   *
   * @param file path of the file that it uses; null when that is not known
   * @throws java.util.concurrent.RejectedExecutionException when the threads are stopped
   */
  synchronized void execute(String file, Runnable work) {
    Job job = new Job(directory(file), work);
    Lane lane = lanes.computeIfAbsent(job.directory, Lane::new);
    if (lane.inWork == lane.max) {
      lane.waiting.add(job);
      return;
    }
    lane.inWork++;
    try {
      threads.execute(job);
    } catch (Throwable e) {
      endWork(lane);
      throw e;
    }
  }

  /**
   * Hands over the next work of a directory after the end of one.
   *
   * @return the work that this thread must run; null for none
   */
  private synchronized Job end(Job ended) {
    Lane lane = lanes.get(ended.directory);
    Job next = lane.waiting.poll();
    if (next == null) {
      endWork(lane);
      return null;
    }
    try {
      threads.execute(next);
      return null;
    } catch (Throwable e) {
      // They are stopped, or there is no memory.
      return next;
    }
  }

  private void endWork(Lane lane) {
    lane.inWork--;
    if (lane.inWork == 0) {
      lanes.remove(lane.directory);
    }
  }

  /** Spark's temporary files are in folders of the folder that it has in each local directory. */
  private static String directory(String file) {
    String folder = file == null ? NO_DIRECTORY : parent(file);
    String directory = parent(folder);
    return directory.equals(NO_DIRECTORY) ? folder : directory;
  }

  private static String parent(String path) {
    int end = path.lastIndexOf('/');
    return end <= 0 ? NO_DIRECTORY : path.substring(0, end);
  }
}
