// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.soak;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.function.IntSupplier;
import org.sparkrdma.soak.MemorySnapshot.Moment;

/**
 * Takes the snapshots of native memory when they are due. Confined to the thread that calls it,
 * which passes the time.
 */
final class MemorySnapshots {
  /**
   * The signal by which a JVM is asked to listen for commands. A JVM that has just started has no
   * handler for it yet, and the signal would end it.
   */
  private static final int SIGQUIT = 3;

  private final Path processes;
  private final double lengthSeconds;
  private final int heapMib;
  private final IntSupplier jobs;
  private final JvmAccount account;
  private final Consumer<String> log;
  private final List<MemorySnapshot> snapshots = new ArrayList<>();
  private int taken;

  /** A JVM's own account of its native memory. */
  interface JvmAccount {
    /**
     * Returns the committed memory by category, without the heap.
     *
     * @throws IOException when the JVM gives no account; its message is one line
     */
    Map<String, Double> committedMib(long pid) throws IOException, InterruptedException;
  }

  /**
   * @param processes the kernel's directory of processes
   * @param lengthSeconds length of the soak
   * @param heapMib heap of each executor, resident from the start
   * @param jobs number of jobs that are complete
   */
  MemorySnapshots(
      Path processes,
      double lengthSeconds,
      int heapMib,
      IntSupplier jobs,
      JvmAccount account,
      Consumer<String> log) {
    this.processes = processes;
    this.lengthSeconds = lengthSeconds;
    this.heapMib = heapMib;
    this.jobs = jobs;
    this.account = account;
    this.log = log;
  }

  /** Whether a snapshot is due at this time, in seconds since the soak began. */
  boolean isDue(double seconds) {
    return taken < Moment.values().length
        && seconds >= Moment.values()[taken].dueSeconds(lengthSeconds);
  }

  /**
   * Takes the snapshot that is due of each executor.
   *
   * @param pids processes of the executors, none of them stopped
   */
  void take(double seconds, List<Long> pids) throws InterruptedException {
    Moment moment = Moment.values()[taken++];
    int complete = jobs.getAsInt();
    for (long pid : pids) {
      take(moment, seconds, complete, pid).ifPresent(snapshots::add);
    }
  }

  private Optional<MemorySnapshot> take(Moment moment, double seconds, int complete, long pid)
      throws InterruptedException {
    Path process = processes.resolve(Long.toString(pid));
    try {
      Optional<String> executor = Sample.executorId(process);
      if (executor.isEmpty() || !ProcessStatus.of(process).catches(SIGQUIT)) {
        return Optional.empty();
      }
      Map<String, Double> committed = committedMib(executor.get(), pid);
      ResidentPages pages = ResidentPages.of(ProcessStatus.of(process), heapMib);
      return Optional.of(
          new MemorySnapshot(moment, seconds, complete, executor.get(), pages, committed));
    } catch (IOException e) {
      // The process has ended.
      return Optional.empty();
    }
  }

  private Map<String, Double> committedMib(String executor, long pid) throws InterruptedException {
    try {
      return account.committedMib(pid);
    } catch (IOException e) {
      log.accept(
          "no account of native memory from the JVM of executor %s: %s"
              .formatted(executor, e.getMessage()));
      return Map.of();
    }
  }

  /** The snapshots, in the order of time. */
  List<MemorySnapshot> all() {
    return snapshots;
  }
}
