// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.suites;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import org.sparkrdma.suites.HeldResources.Leak;
import org.sparkrdma.suites.HeldResources.Owner;

/**
 * Leak checks of a run, written by its executors ({@link ExecutorLeaks}), and the number of
 * executors by its drivers.
 *
 * @param added executors that the drivers' listeners have counted
 * @param executors those that have written a file
 */
record LeakLog(int added, List<Executor> executors) {
  /** Environment variable of all processes of a run that names the directory. */
  static final String VARIABLE = "IT_LEAKS";

  private static final long PAUSE_MS = 50;

  /** The state of an executor according to its log. */
  enum State {
    /** It is running, or was killed. */
    RUNNING,
    /** It ended in the middle of a task, which held resources. */
    IN_TASK,
    /** Its JVM keeps no records. */
    WITHOUT_RECORDS,
    /** It was judged. */
    JUDGED
  }

  /**
   * The check of one executor.
   *
   * @param leaks empty unless it was judged
   */
  record Executor(ProcessName name, State state, List<Leak> leaks) {
    /** The state, then a line for each leak, followed by its place in lines with a tab. */
    String text() {
      return state.name()
          + leaks.stream()
              .map(leak -> "\n%s %d %s".formatted(leak.owner(), leak.count(), leak.place()))
              .collect(Collectors.joining());
    }

    static Executor parse(ProcessName name, String text) {
      String[] parts = text.split("\n(?!\t)", -1);
      List<Leak> leaks = new ArrayList<>();
      for (int i = 1; i < parts.length; i++) {
        String[] leak = parts[i].split(" ", 3);
        leaks.add(new Leak(Owner.valueOf(leak[0]), Integer.parseInt(leak[1]), leak[2]));
      }
      return new Executor(name, State.valueOf(parts[0]), leaks);
    }
  }

  /** The text by which a driver reports its executors. */
  static String driverText(int executors) {
    return Integer.toString(executors);
  }

  /**
   * Waits until the executors of a run have ended, which may take longer than its driver, and reads
   * the directory.
   */
  static LeakLog read(Path directory, Duration patience) throws IOException, InterruptedException {
    long beginNs = System.nanoTime();
    LeakLog log = read(directory);
    while (log.executors.stream().anyMatch(LeakLog::mayWrite)
        && System.nanoTime() - beginNs < patience.toNanos()) {
      Thread.sleep(PAUSE_MS);
      log = read(directory);
    }
    return log;
  }

  private static boolean mayWrite(Executor executor) {
    return executor.state() == State.RUNNING
        && ProcessHandle.of(executor.name().pid()).map(ProcessHandle::isAlive).orElse(false);
  }

  static LeakLog read(Path directory) throws IOException {
    int added = 0;
    List<Executor> executors = new ArrayList<>();
    for (Map.Entry<ProcessName, String> file : new ProcessFiles(directory).read().entrySet()) {
      if (file.getKey().isDriver()) {
        added += Integer.parseInt(file.getValue());
      } else {
        executors.add(Executor.parse(file.getKey(), file.getValue()));
      }
    }
    return new LeakLog(added, executors);
  }

  /** Number of executors that ran. */
  int ran() {
    return Math.max(added, executors.size());
  }

  /** Number of executors in this state. */
  int count(State state) {
    return (int) executors.stream().filter(executor -> executor.state() == state).count();
  }

  /** Leaks, and the reason if the check could find none; one sentence each. */
  List<String> objections() {
    List<String> objections = new ArrayList<>();
    Set<String> inTask =
        executors.stream()
            .filter(executor -> executor.state() == State.IN_TASK)
            .map(executor -> executor.name().application())
            .collect(Collectors.toSet());
    for (Executor executor : executors) {
      boolean peersInTask = inTask.contains(executor.name().application());
      for (Leak leak : executor.leaks()) {
        // The peer ended with a task that held them.
        if (leak.owner() != Owner.PEER || !peersInTask) {
          objections.add(
              "leaked %d: application=%s executor=%s %s"
                  .formatted(
                      leak.count(),
                      executor.name().application(),
                      executor.name().executorId(),
                      leak.place()));
        }
      }
    }
    if (ran() > 0 && count(State.JUDGED) == 0) {
      objections.add("no executor was judged: " + summary());
    } else if (count(State.WITHOUT_RECORDS) > 0) {
      objections.add("executors without records of leaks: " + summary());
    }
    return objections;
  }

  private String summary() {
    StringBuilder text = new StringBuilder("ran=").append(ran());
    for (State state : State.values()) {
      text.append(' ').append(state.name().toLowerCase(Locale.ROOT)).append('=');
      text.append(count(state));
    }
    return text.toString();
  }
}
