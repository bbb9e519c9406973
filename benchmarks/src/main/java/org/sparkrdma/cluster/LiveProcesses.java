// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.cluster;

import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.locks.LockSupport;

/**
 * The processes that were started and have not been ended. Starts none after it is closed.
 *
 * <p>Safe for any thread: the shutdown hook may run while another thread starts a process.
 */
public final class LiveProcesses implements AutoCloseable {
  private static final Duration END_GRACE = Duration.ofSeconds(10);
  private static final long POLL_INTERVAL_NS = 50_000_000;

  private final List<Process> running = new ArrayList<>();
  private boolean closed;

  /** Starts a process. */
  public synchronized Process start(ProcessBuilder builder) throws IOException {
    if (closed) {
      throw new IllegalStateException("closed: no process is started any more");
    }
    Process started = builder.start();
    running.add(started);
    return started;
  }

  /** Ends this process and its descendants; a no-op when it was ended before. */
  public synchronized void end(Process process) {
    if (running.remove(process)) {
      end(List.of(process.toHandle()), END_GRACE);
    }
  }

  /** Ends all of them, and waits for a close under way on another thread. */
  @Override
  public synchronized void close() {
    closed = true;
    end(running.stream().map(Process::toHandle).toList(), END_GRACE);
    running.clear();
  }

  /**
   * Removes a hook that is not needed any more. Waits for the end of the JVM when that runs its
   * hooks already: what fails from then on fails because of the signal.
   */
  public static void remove(Thread shutdownHook) throws InterruptedException {
    try {
      Runtime.getRuntime().removeShutdownHook(shutdownHook);
    } catch (IllegalStateException e) {
      Thread.currentThread().join();
    }
  }

  /**
   * Ends processes and all their descendants: sends SIGTERM to the roots, collects their
   * descendants meanwhile, and kills the remaining processes after the grace time. Returns when all
   * have ended. Not interruptible, because a process that stays would keep its ports and files.
   */
  static void end(Collection<ProcessHandle> roots, Duration grace) {
    Set<ProcessHandle> all = new HashSet<>(roots);
    roots.forEach(root -> root.descendants().forEach(all::add));
    roots.forEach(ProcessHandle::destroy);
    long deadlineNs = System.nanoTime() + grace.toNanos();
    while (anyAlive(all) && System.nanoTime() < deadlineNs) {
      roots.forEach(root -> root.descendants().forEach(all::add));
      LockSupport.parkNanos(POLL_INTERVAL_NS);
      if (!anyAlive(roots)) {
        all.forEach(ProcessHandle::destroy);
      }
    }
    all.forEach(ProcessHandle::destroyForcibly);
    while (anyAlive(all)) {
      LockSupport.parkNanos(POLL_INTERVAL_NS);
    }
  }

  private static boolean anyAlive(Collection<ProcessHandle> handles) {
    return handles.stream().anyMatch(ProcessHandle::isAlive);
  }
}
