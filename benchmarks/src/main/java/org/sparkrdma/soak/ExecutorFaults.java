// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.soak;

import java.io.IOException;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.function.Consumer;
import java.util.function.Supplier;

/**
 * What befalls executors from outside: stopped for some seconds, or killed. Only the last of them
 * is ever killed, so that the others show what a long life does.
 *
 * <p>Owned by the thread that calls it; time is what it is told.
 */
final class ExecutorFaults {
  /** Kinds, as the report counts them. */
  enum Kind {
    STOPPED,
    KILLED;

    /** As it stands in the report. */
    String label() {
      return name().toLowerCase(Locale.ROOT);
    }
  }

  private static final double MIN_PAUSE_SECONDS = 15;
  private static final double MAX_PAUSE_SECONDS = 40;
  private static final double MIN_STOP_SECONDS = 1;
  private static final double MAX_STOP_SECONDS = 8;
  private static final double KILL_PROBABILITY = 0.2;

  private final SplittableRandom random;
  private final int executors;
  private final Supplier<List<Long>> executorPids;
  private final Signals signals;
  private final Consumer<String> log;
  private final Map<Kind, Integer> counts = new EnumMap<>(Kind.class);
  private final List<Stop> stops = new ArrayList<>();
  private double nextSeconds;

  /** How a process is stopped, made to go on, and killed. */
  interface Signals {
    /** Sends a signal, named as the kill command does. */
    void send(String signal, long pid) throws IOException, InterruptedException;
  }

  /**
   * @param executors of the application when all live
   * @param executorPids the processes of those that live now, in the order of their Workers
   */
  ExecutorFaults(
      long seed,
      int executors,
      Supplier<List<Long>> executorPids,
      Signals signals,
      Consumer<String> log) {
    random = new SplittableRandom(seed);
    this.executors = executors;
    this.executorPids = executorPids;
    this.signals = signals;
    this.log = log;
    nextSeconds = MAX_PAUSE_SECONDS;
  }

  /** Does what is due. */
  void apply(double seconds) throws IOException, InterruptedException {
    for (Stop stop : List.copyOf(stops)) {
      if (seconds >= stop.endSeconds) {
        stops.remove(stop);
        signals.send("CONT", stop.pid);
      }
    }
    if (seconds < nextSeconds) {
      return;
    }
    nextSeconds = seconds + random.nextDouble(MIN_PAUSE_SECONDS, MAX_PAUSE_SECONDS);
    boolean kill = random.nextDouble() < KILL_PROBABILITY;
    int stopIndex = random.nextInt(executors);
    double stopSeconds = random.nextDouble(MIN_STOP_SECONDS, MAX_STOP_SECONDS);
    List<Long> all = executorPids.get();
    if (all.size() != executors) {
      // One is being replaced: enough faults for now.
      return;
    }
    if (kill) {
      count(Kind.KILLED);
      log.accept("killed an executor");
      signals.send("KILL", all.get(executors - 1));
    } else {
      count(Kind.STOPPED);
      log.accept("stopped an executor for %.1f s".formatted(stopSeconds));
      signals.send("STOP", all.get(stopIndex));
      stops.add(new Stop(all.get(stopIndex), seconds + stopSeconds));
    }
  }

  /** Lets all go on that are stopped. */
  void end() throws IOException, InterruptedException {
    for (Stop stop : stops) {
      signals.send("CONT", stop.pid);
    }
    stops.clear();
  }

  Map<Kind, Integer> counts() {
    return counts;
  }

  private void count(Kind kind) {
    counts.merge(kind, 1, Integer::sum);
  }

  private record Stop(long pid, double endSeconds) {}
}
