// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.executors;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import org.sparkrdma.executors.HeldResources.Leak;
import org.sparkrdma.executors.HeldResources.Owner;

/**
 * Results of the leak checks of a run. Its executors write them ({@link ExecutorLeaks}); its
 * drivers write the number of executors.
 *
 * @param added number of executors that Spark added, as the drivers' listeners counted them
 * @param executors results of the executors that have written a file
 */
public record LeakLog(int added, List<Executor> executors) {
  /** Environment variable of all processes of a run that names the directory. */
  public static final String VARIABLE = "IT_LEAKS";

  private static final long PAUSE_MS = 50;

  /** The state of an executor according to its log. */
  public enum State {
    /** It is running, or was killed before it wrote a result. */
    RUNNING,
    /** It ended during a task, which may hold resources, so its leaks were not checked. */
    IN_TASK,
    /** Its JVM keeps no leak records. */
    WITHOUT_RECORDS,
    /** It does not have the plug-in, so it can leak nothing of it. */
    WITHOUT_PLUGIN,
    /** It ended without a running task, and its leaks were checked. */
    JUDGED
  }

  /**
   * The result of one executor.
   *
   * @param leaks always empty unless the state is {@link State#JUDGED}
   */
  public record Executor(ProcessName name, State state, List<Leak> leaks) {
    /**
     * The state, then a line for each leak with its owner, count and place. Lines of the place
     * after its first begin with a tab.
     */
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

  /** Content of a driver's file: the number of its executors. */
  static String driverText(int executors) {
    return Integer.toString(executors);
  }

  /**
   * Waits until all executors of the run have ended, at most for a time, and reads the directory.
   * Executors may end later than their driver.
   */
  public static LeakLog read(Path directory, Duration limit)
      throws IOException, InterruptedException {
    long beginNs = System.nanoTime();
    LeakLog log = read(directory);
    while (log.executors.stream().anyMatch(LeakLog::mayWrite)
        && System.nanoTime() - beginNs < limit.toNanos()) {
      Thread.sleep(PAUSE_MS);
      log = read(directory);
    }
    return log;
  }

  private static boolean mayWrite(Executor executor) {
    return executor.state() == State.RUNNING
        && ProcessHandle.of(executor.name().pid()).map(ProcessHandle::isAlive).orElse(false);
  }

  /** Reads the directory of a run whose executors have ended. */
  public static LeakLog read(Path directory) throws IOException {
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
  public int ran() {
    return Math.max(added, executors.size());
  }

  /** Number of executors in this state. */
  public int count(State state) {
    return (int) executors.stream().filter(executor -> executor.state() == state).count();
  }

  /**
   * A sentence for each leak, and one when no executor was checked or an executor kept no records.
   * Empty when the run passes.
   */
  public List<String> objections() {
    List<String> objections = new ArrayList<>();
    Set<String> inTask =
        executors.stream()
            .filter(executor -> executor.state() == State.IN_TASK)
            .map(executor -> executor.name().application())
            .collect(Collectors.toSet());
    for (Executor executor : executors) {
      boolean peersInTask = inTask.contains(executor.name().application());
      for (Leak leak : executor.leaks()) {
        // A peer that ended during a task did not release its leases.
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
    if (ran() > 0 && count(State.JUDGED) + count(State.WITHOUT_PLUGIN) == 0) {
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
