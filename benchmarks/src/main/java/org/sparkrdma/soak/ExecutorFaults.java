// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.soak;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.function.Consumer;
import java.util.function.Supplier;

/**
 * Stops executors for some seconds or kills one, at random. Kills the last executor only, so that
 * the others live from the beginning to the end.
 *
 * <p>Confined to the thread that calls it, which passes the time.
 */
final class ExecutorFaults {
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
  private final Map<String, Integer> counts = new TreeMap<>();
  private final List<Stop> stops = new ArrayList<>();
  private double nextSeconds;

  /** Sends signals to processes. */
  interface Signals {
    /** Sends a signal; the name is one that the kill command accepts. */
    void send(String signal, long pid) throws IOException, InterruptedException;
  }

  /**
   * @param executors number of executors of the application, with dynamic allocation the fewest
   *     that it has during a fault
   * @param executorPids supplies the processes of the live executors, in an order in which those
   *     that live to the end come first
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

  /** Sends the signals that are due at this time, in seconds since the start. */
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
    if (all.size() < executors) {
      // Spark is replacing an executor, or dynamic allocation has ended some.
      return;
    }
    if (kill) {
      counts.merge("killed", 1, Integer::sum);
      log.accept("killed an executor");
      signals.send("KILL", all.get(all.size() - 1));
    } else {
      counts.merge("stopped", 1, Integer::sum);
      log.accept("stopped an executor for %.1f s".formatted(stopSeconds));
      signals.send("STOP", all.get(stopIndex));
      stops.add(new Stop(all.get(stopIndex), seconds + stopSeconds));
    }
  }

  /** Continues all stopped executors. */
  void end() throws IOException, InterruptedException {
    for (Stop stop : stops) {
      signals.send("CONT", stop.pid);
    }
    stops.clear();
  }

  /** Number of executors stopped and killed, for the report. */
  Map<String, Integer> counts() {
    return counts;
  }

  private record Stop(long pid, double endSeconds) {}
}
