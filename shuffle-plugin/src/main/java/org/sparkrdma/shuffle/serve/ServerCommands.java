// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.serve;

import java.util.OptionalLong;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.sparkrdma.shuffle.metrics.LogLimit;

/**
 * The commands of a {@link BlockServer}: any thread adds them, the server's thread executes each
 * with the server's lock. One that fails is logged, and does not prevent the next one, which is
 * another peer's; a {@link RepeatedCommands.Command} is executed again later.
 */
final class ServerCommands {
  private static final Logger LOG = LoggerFactory.getLogger(ServerCommands.class);

  private final StateLock state;
  private final Queue<Runnable> queue = new ConcurrentLinkedQueue<>();
  private final RepeatedCommands repeated = new RepeatedCommands();
  private final LogLimit lines = new LogLimit();

  ServerCommands(StateLock state) {
    this.state = state;
  }

  /** Adds a command. Any thread. */
  void add(Runnable command) {
    queue.add(command);
  }

  /** Whether no command waits. Takes no lock. */
  boolean isEmpty() {
    return queue.isEmpty();
  }

  /** Executes the commands that wait; returns their number. */
  int executeAll(long nowNs) {
    int done = 0;
    for (Runnable command = queue.poll(); command != null; command = queue.poll()) {
      execute(command, nowNs);
      done++;
    }
    return done;
  }

  /** Executes the commands again that are due. */
  void repeat(long nowNs) {
    RepeatedCommands.Command command = takeRepeated(nowNs);
    while (command != null) {
      RepeatedCommands.Command next = command.pollNext();
      execute(command, nowNs);
      command = next;
    }
  }

  private RepeatedCommands.Command takeRepeated(long nowNs) {
    state.lock();
    try {
      return repeated.takeDue(nowNs);
    } finally {
      state.unlock();
    }
  }

  /** Executes a command with the server's lock. */
  void execute(Runnable command, long nowNs) {
    state.lock();
    try {
      command.run();
    } catch (Throwable e) {
      // Everything, also an Error and undeclared exceptions of Scala code.
      onFailure(command, e, nowNs);
    } finally {
      state.unlock();
    }
  }

  /** A command has failed, which was executed with the lock; with the lock. */
  void onFailure(Runnable command, Throwable e, long nowNs) {
    log(e);
    if (command instanceof RepeatedCommands.Command again) {
      repeated.add(again, nowNs);
    }
  }

  /** Time at which the next command is repeated; with the lock. */
  OptionalLong nextDeadlineNs() {
    return repeated.nextDeadlineNs();
  }

  /** Logs an unexpected failure; never throws. */
  void log(Throwable e) {
    try {
      lines
          .next(e.getClass())
          .ifPresent(
              omitted ->
                  LOG.warn(
                      "Unexpected failure of a command in the block server; continuing with the next{}",
                      omitted,
                      e));
    } catch (Throwable noMemory) {
      // The server continues all the same.
    }
  }
}
