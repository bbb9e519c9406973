// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.cluster;

import java.time.Duration;
import java.util.Collection;
import java.util.HashSet;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/** Ends processes and all their descendants. */
final class ProcessTree {
  private static final long POLL_INTERVAL_MS = 50;

  private ProcessTree() {}

  /**
   * Sends SIGTERM to the roots, collects their descendants meanwhile, and kills the remaining
   * processes after the grace time. Returns when all have ended. Not interruptible, because a
   * process that stays would keep its ports and files.
   */
  static void end(Collection<ProcessHandle> roots, Duration grace) {
    Set<ProcessHandle> all = new HashSet<>(roots);
    roots.forEach(root -> root.descendants().forEach(all::add));
    roots.forEach(ProcessHandle::destroy);
    long deadlineNs = System.nanoTime() + grace.toNanos();
    while (anyAlive(all) && System.nanoTime() < deadlineNs) {
      roots.forEach(root -> root.descendants().forEach(all::add));
      awaitOne(all, POLL_INTERVAL_MS);
      if (!anyAlive(roots)) {
        all.forEach(ProcessHandle::destroy);
      }
    }
    all.forEach(ProcessHandle::destroyForcibly);
    while (anyAlive(all)) {
      awaitOne(all, POLL_INTERVAL_MS);
    }
  }

  private static boolean anyAlive(Collection<ProcessHandle> handles) {
    return handles.stream().anyMatch(ProcessHandle::isAlive);
  }

  private static void awaitOne(Collection<ProcessHandle> handles, long timeoutMs) {
    CompletableFuture<?>[] exits =
        handles.stream()
            .filter(ProcessHandle::isAlive)
            .map(ProcessHandle::onExit)
            .toArray(CompletableFuture<?>[]::new);
    boolean interrupted = Thread.interrupted();
    try {
      CompletableFuture.anyOf(exits).get(timeoutMs, TimeUnit.MILLISECONDS);
    } catch (TimeoutException | ExecutionException e) {
      return;
    } catch (InterruptedException e) {
      interrupted = true;
    } finally {
      if (interrupted) {
        Thread.currentThread().interrupt();
      }
    }
  }
}
