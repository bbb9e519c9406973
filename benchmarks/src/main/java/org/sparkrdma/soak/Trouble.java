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
final class Trouble {
  /** Kinds, as the report counts them. */
  enum Kind {
    STOPPED,
    KILLED;

    /** As it stands in the report. */
    String word() {
      return name().toLowerCase(Locale.ROOT);
    }
  }

  private static final double LEAST_PAUSE = 15;
  private static final double MOST_PAUSE = 40;
  private static final double LEAST_STOP = 1;
  private static final double MOST_STOP = 8;
  private static final double KILL_CHANCE = 0.2;

  private final SplittableRandom random;
  private final int executors;
  private final Supplier<List<Long>> running;
  private final Signals signals;
  private final Consumer<String> say;
  private final Map<Kind, Integer> counts = new EnumMap<>(Kind.class);
  private final List<Stop> stops = new ArrayList<>();
  private double next;

  /** How a process is stopped, made to go on, and killed. */
  interface Signals {
    /** Sends a signal, named as the kill command does. */
    void send(String signal, long pid) throws IOException, InterruptedException;
  }

  /**
   * @param executors of the application when all live
   * @param running the processes of those that live now, in the order of their Workers
   */
  Trouble(
      long seed,
      int executors,
      Supplier<List<Long>> running,
      Signals signals,
      Consumer<String> say) {
    random = new SplittableRandom(seed);
    this.executors = executors;
    this.running = running;
    this.signals = signals;
    this.say = say;
    next = MOST_PAUSE;
  }

  /** Does what is due. */
  void at(double seconds) throws IOException, InterruptedException {
    for (Stop stop : List.copyOf(stops)) {
      if (seconds >= stop.end) {
        stops.remove(stop);
        signals.send("CONT", stop.pid);
      }
    }
    if (seconds < next) {
      return;
    }
    next = seconds + random.nextDouble(LEAST_PAUSE, MOST_PAUSE);
    boolean kill = random.nextDouble() < KILL_CHANCE;
    int which = random.nextInt(executors);
    double length = random.nextDouble(LEAST_STOP, MOST_STOP);
    List<Long> all = running.get();
    if (all.size() != executors) {
      // One is being replaced: enough trouble for now.
      return;
    }
    if (kill) {
      count(Kind.KILLED);
      say.accept("killed an executor");
      signals.send("KILL", all.get(executors - 1));
    } else {
      count(Kind.STOPPED);
      say.accept("stopped an executor for %.1f s".formatted(length));
      signals.send("STOP", all.get(which));
      stops.add(new Stop(all.get(which), seconds + length));
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

  private record Stop(long pid, double end) {}
}
