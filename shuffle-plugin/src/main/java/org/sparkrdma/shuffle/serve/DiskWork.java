// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.serve;

import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.sparkrdma.verbs.VerbsException;

/**
 * Gives work to the threads of disks and of deregistration, and their results back to the agent as
 * commands: loaded entries and closed memory. Confined to the agent, but for the work.
 */
final class DiskWork {
  private static final Logger LOG = LoggerFactory.getLogger(DiskWork.class);

  /** Threads of each disk, and for deregistration; {@link DiskThreads}, or a test. */
  interface Workers {
    /** Starts the threads. */
    void start();

    /** Runs a job on a thread of a disk. */
    void execute(int disk, Runnable job);

    /** Runs a job that waits for no disk, so that no disk delays it. */
    void execute(Runnable job);

    /**
     * Runs the jobs that wait, then ends the threads.
     *
     * @return false when they have not ended after the limit
     */
    boolean close(Duration limit);
  }

  /** Registered memory that a thread closes. */
  interface Memory {
    /** Length that it holds of the budget. */
    long pinnedBytes();

    /** Deregisters and frees it, which may wait for the device. */
    void close();

    /** It is closed; on the agent. */
    void onClosed();
  }

  private final Workers workers;
  private final Consumer<Runnable> agent;
  private final LoadListener listener;
  private long closingBytes;
  private boolean closesAtOnce;

  /** Learns of loaded entries on the agent. */
  interface LoadListener {
    /**
     * @param failure null when it has loaded
     */
    void onLoaded(CacheEntry entry, Exception failure);
  }

  DiskWork(Workers workers, Consumer<Runnable> agent, LoadListener listener) {
    this.workers = workers;
    this.agent = agent;
    this.listener = listener;
  }

  /** Loads an entry, unless it is cancelled before a thread begins. */
  void load(int disk, CacheEntry entry) {
    workers.execute(disk, () -> loadNow(entry));
  }

  /**
   * Loads an entry on a disk that is not known yet.
   *
   * @param disk index of the disk; the load fails with it
   */
  void load(CompletableFuture<Integer> disk, CacheEntry entry) {
    var unused =
        disk.whenComplete(
            (index, failure) -> {
              if (failure == null) {
                load(index, entry);
              } else if (entry.tryBegin()) {
                agent.accept(() -> listener.onLoaded(entry, new IOException(failure)));
              }
            });
  }

  private void loadNow(CacheEntry entry) {
    if (!entry.tryBegin()) {
      return;
    }
    Exception failure = null;
    try {
      entry.load();
    } catch (IOException | VerbsException | RuntimeException e) {
      failure = e;
    }
    Exception result = failure;
    agent.accept(() -> listener.onLoaded(entry, result));
  }

  /** The threads have ended: from now on memory is closed on the caller's thread. */
  void closeAtOnce() {
    closesAtOnce = true;
  }

  /** Closes memory that nobody may READ any more. */
  void close(Memory memory) {
    if (closesAtOnce) {
      closeNow(memory);
      memory.onClosed();
      return;
    }
    closingBytes += memory.pinnedBytes();
    long bytes = memory.pinnedBytes();
    workers.execute(
        () -> {
          closeNow(memory);
          agent.accept(
              () -> {
                closingBytes -= bytes;
                memory.onClosed();
              });
        });
  }

  /** Closes memory on this thread. */
  static void closeNow(Memory memory) {
    try {
      memory.close();
    } catch (RuntimeException e) {
      LOG.warn("Unexpected failure of a deregistration", e);
    }
  }

  /** Bytes that threads will return to the budget. */
  long closingBytes() {
    return closingBytes;
  }
}
