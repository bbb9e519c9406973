// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.cluster;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/**
 * The processes that were started and have not been ended. Starts none after it is closed.
 *
 * <p>Safe for any thread: the shutdown hook may run while another thread starts a process.
 */
public final class LiveProcesses implements AutoCloseable {
  private static final Duration END_GRACE = Duration.ofSeconds(10);

  private final List<ClusterProcess> running = new ArrayList<>();
  private boolean closed;

  /** Starts a process whose standard error goes to {@code log}. */
  public synchronized ClusterProcess start(ProcessBuilder builder, Path log) throws IOException {
    if (closed) {
      throw new IllegalStateException("closed: no process is started any more");
    }
    ClusterProcess started = new ClusterProcess(builder.redirectError(log.toFile()).start(), log);
    running.add(started);
    return started;
  }

  /** Ends this process and its descendants; a no-op when it was ended before. */
  public synchronized void end(ClusterProcess process) {
    if (running.remove(process)) {
      ProcessTree.end(List.of(process.process().toHandle()), END_GRACE);
    }
  }

  /** Ends all of them, and waits for a close under way on another thread. */
  @Override
  public synchronized void close() {
    closed = true;
    ProcessTree.end(
        running.stream().map(ClusterProcess::process).map(Process::toHandle).toList(), END_GRACE);
    running.clear();
  }
}
