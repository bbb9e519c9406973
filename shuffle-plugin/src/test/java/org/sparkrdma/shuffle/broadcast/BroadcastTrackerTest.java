// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.broadcast;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.PriorityQueue;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** The real tracker with simulated executors, a network of 25 Gbit/s and one busy driver. */
final class BroadcastTrackerTest {
  private static final long ID = 7;
  private static final int CHUNKS = Pieces.MAX_CHUNKS;

  /** Driver's work for a message, in seconds; measured were 20 to 40 us. */
  private static final double MESSAGE_S = 40e-6;

  /** Time until an executor leaves a killed source, which may say nothing. */
  private static final double SILENCE_S = BroadcastFetch.SOURCE_MS / 1e3;

  /** Time after which an executor that gets no chunk leaves the variable to Torrent. */
  private static final double PATIENCE_S = BroadcastFetch.PROGRESS_MS / 1e3;

  private static final double BYTES_PER_S = 25e9 / 8;
  private static final double ONE_GB = 1e9;

  private record Event(double atS, long number, Runnable action) {}

  /** Executors that fetch a variable, in virtual time. */
  private static final class Simulation {
    private final BroadcastTracker tracker = new BroadcastTracker();
    private final PriorityQueue<Event> events =
        new PriorityQueue<>(
            (a, b) ->
                a.atS() == b.atS()
                    ? Long.compare(a.number(), b.number())
                    : Double.compare(a.atS(), b.atS()));
    private final Set<String> ended = new HashSet<>();
    private final Set<String> killed = new HashSet<>();
    private final double chunkS;
    private double nowS;
    private double driverFreeS;
    private long number;
    private double longestWaitS;
    private int seeds;

    Simulation(double bytes) {
      // Each source sends to two readers, so each gets half of its bandwidth.
      chunkS = bytes / CHUNKS / (BYTES_PER_S / 2);
      tracker.add(ID, CHUNKS);
    }

    private void at(double timeS, Runnable action) {
      events.add(new Event(timeS, number++, action));
    }

    /** Sends a message that the driver handles in its turn. */
    private void ask(String executor, int done, String failed) {
      double askedS = nowS;
      driverFreeS = Math.max(driverFreeS, nowS) + MESSAGE_S;
      at(
          driverFreeS,
          () ->
              tracker.next(
                  executor,
                  ID,
                  done,
                  failed,
                  next -> {
                    longestWaitS = Math.max(longestWaitS, nowS - askedS);
                    start(executor, next);
                  }));
    }

    private void start(String executor, BroadcastTracker.Assignment next) {
      if (killed.contains(executor)) {
        return;
      }
      if (next == null) {
        ended.add(executor);
        return;
      }
      seeds += next.source().equals(BroadcastTracker.DRIVER) ? 1 : 0;
      at(
          nowS + chunkS,
          () -> {
            if (killed.contains(next.source())) {
              at(nowS + SILENCE_S, () -> report(executor, BroadcastTracker.NONE, next.source()));
            } else {
              report(executor, next.chunk(), "");
            }
          });
    }

    private void report(String executor, int done, String failed) {
      if (!killed.contains(executor)) {
        ask(executor, done, failed);
      }
    }

    void kill(String executor) {
      killed.add(executor);
      tracker.removeExecutor(executor);
    }

    /** Runs until nothing happens any more; returns the time in seconds. */
    double run(int executors) {
      for (int i = 0; i < executors; i++) {
        ask("e" + i, BroadcastTracker.NONE, "");
      }
      while (!events.isEmpty()) {
        Event next = events.poll();
        nowS = next.atS();
        next.action().run();
      }
      return nowS;
    }
  }

  private static double seconds(int executors) {
    Simulation simulation = new Simulation(ONE_GB);
    double seconds = simulation.run(executors);
    assertThat(simulation.ended).hasSize(executors);
    assertThat(simulation.seeds).isEqualTo(CHUNKS);
    assertThat(simulation.longestWaitS).isLessThan(PATIENCE_S);
    return seconds;
  }

  @Test
  void shouldReachManyExecutorsHardlyLaterThanFew() {
    double hundred = seconds(100);
    double thousand = seconds(1_000);
    assertThat(thousand).isLessThan(1.5);
    assertThat(thousand / hundred).isLessThan(1.5);
  }

  @Test
  void shouldEndWhenATenthOfTheExecutorsIsKilledMidway() {
    Simulation simulation = new Simulation(ONE_GB);
    List<String> victims = new ArrayList<>();
    Random random = new Random(1);
    while (victims.size() < 100) {
      String victim = "e" + random.nextInt(1_000);
      if (!victims.contains(victim)) {
        victims.add(victim);
      }
    }
    simulation.at(0.5, () -> victims.forEach(simulation::kill));
    double seconds = simulation.run(1_000);
    Set<String> expected = new HashSet<>(simulation.ended);
    expected.removeAll(victims);
    assertThat(expected).hasSize(900);
    assertThat(simulation.longestWaitS).isLessThan(PATIENCE_S);
    assertThat(seconds).isLessThan(2 * seconds(1_000));
  }

  @Test
  void shouldSendChunksAgainWhenAllTheirHoldersAreLost() {
    Simulation simulation = new Simulation(ONE_GB);
    simulation.at(0.2, () -> List.of("e0", "e1").forEach(simulation::kill));
    simulation.run(3);
    assertThat(simulation.ended).contains("e2");
  }

  @Test
  void shouldAnswerTheEndToThoseThatWaitWhenTheVariableIsDestroyed() {
    Simulation simulation = new Simulation(ONE_GB);
    simulation.at(0.2, () -> simulation.tracker.remove(ID));
    simulation.run(10);
    assertThat(simulation.ended).hasSize(10);
    assertThat(simulation.tracker.size()).isZero();
  }

  @Test
  void shouldUseNoSourceAgainThatDidNotDeliver() {
    BroadcastTracker tracker = new BroadcastTracker();
    tracker.add(ID, 1);
    List<BroadcastTracker.Assignment> got = new ArrayList<>();
    tracker.next("a", ID, BroadcastTracker.NONE, "", got::add);
    tracker.next("a", ID, 0, "", got::add);
    tracker.next("b", ID, BroadcastTracker.NONE, "", got::add);
    assertThat(got.get(2).source()).isEqualTo("a");
    tracker.next("b", ID, BroadcastTracker.NONE, "a", got::add);
    assertThat(got.get(3).source()).isEqualTo(BroadcastTracker.DRIVER);
  }

  @Test
  void shouldGiveTheChunkOfAnExecutorThatLeavesToAnother() {
    BroadcastTracker tracker = new BroadcastTracker();
    tracker.add(ID, 1);
    List<BroadcastTracker.Assignment> got = new ArrayList<>();
    tracker.next("a", ID, BroadcastTracker.NONE, "", got::add);
    tracker.next("b", ID, BroadcastTracker.NONE, "", got::add);
    assertThat(got).hasSize(1);
    tracker.leave("a", ID);
    assertThat(got.get(1).source()).isEqualTo(BroadcastTracker.DRIVER);
    tracker.next("b", ID, 0, "", got::add);
    assertThat(got.get(2)).isNull();
    tracker.next("c", ID + 1, BroadcastTracker.NONE, "", got::add);
    assertThat(got.get(3)).isNull();
  }
}
