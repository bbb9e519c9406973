// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.transport;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Arrays;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.sparkrdma.verbs.VerbsException;

/**
 * Time of the agent while one connection fetches block after block and others are idle: of its
 * turns, and of its iterations, which also poll the completion queues of all connections. The peer
 * is scripted, and an iteration of the agent takes {@link #ITERATION_NS} of virtual time. A sample
 * is thus 100 ms, in which all connections are visited once.
 */
@Tag("measurement")
@Timeout(120)
class TurnTimeTest {
  private static final int POOL = 64 * ScriptedReader.CHUNK_BYTES;
  private static final long ITERATION_NS = 2_500;
  private static final int FEW = 10;
  private static final int MANY = 1_000;
  private static final int WARM_UPS = 5;
  private static final int PAIRS = 21;
  private static final int BLOCKS = 20_000;
  private static final double POLL_NS = 8;

  /** Applies without leak records ({@code -Dsparkrdma.leaks=false}), most of a turn's time. */
  private static final double MAX_RATIO = 1.2;

  private ScriptedReader few;
  private ScriptedReader many;

  @AfterEach
  void close() {
    few.close();
    many.close();
  }

  /** A step of the agent. */
  private interface Step {
    int run(ScriptedReader reader, long laterNs);
  }

  /** Time of a poll that finds nothing. */
  private static final class PollCost implements Runnable {
    private static final int TRIAL_STEPS = 1_000;
    private static final int TRIALS = 20_000;

    private long state = 1;
    private int steps = TRIAL_STEPS;

    PollCost() {
      double stepNs = Double.MAX_VALUE;
      for (int i = 0; i < TRIALS; i++) {
        long beginNs = System.nanoTime();
        run();
        stepNs = Math.min(stepNs, (System.nanoTime() - beginNs) / (double) TRIAL_STEPS);
      }
      steps = (int) Math.max(1, Math.round(POLL_NS / stepNs));
    }

    @Override
    public void run() {
      long random = state;
      for (int i = 0; i < steps; i++) {
        random ^= random << 13;
        random ^= random >>> 7;
        random ^= random << 17;
      }
      state = random;
    }

    @Override
    public String toString() {
      long beginNs = System.nanoTime();
      for (int i = 0; i < TRIALS; i++) {
        run();
      }
      return "poll of %.1f ns".formatted((System.nanoTime() - beginNs) / (double) TRIALS);
    }
  }

  /** Nanoseconds per step while some blocks are fetched. */
  private static double stepNs(ScriptedReader reader, Step step) throws VerbsException {
    ScriptedTask task = reader.task();
    long steps = 0;
    long spentNs = 0;
    for (int block = 0; block < BLOCKS; block++) {
      task.fetch(0);
      while (task.blocksHeld() == 0) {
        long beginNs = System.nanoTime();
        step.run(reader, ITERATION_NS);
        spentNs += System.nanoTime() - beginNs;
        steps++;
        reader.answerAll();
      }
      task.releaseAll();
    }
    return (double) spentNs / steps;
  }

  @Test
  void shouldTakeHardlyLongerForATurnWithThousandIdleConnectionsThanWithTen()
      throws VerbsException {
    connect();
    compare("turn", ScriptedReader::turn);
  }

  @Test
  void shouldTakeHardlyLongerForAnIterationWithThousandIdleConnectionsThanWithTen()
      throws VerbsException {
    connect();
    PollCost cost = new PollCost();
    few.usePolls(cost);
    many.usePolls(cost);
    assertThat(few.queues()).hasSize(1);
    assertThat(many.queues()).hasSize(16);
    compare("iteration (" + cost + ")", ScriptedReader::iterate);
  }

  private void connect() throws VerbsException {
    few = ScriptedReader.ofManyConnections(POOL, 1_000);
    few.connectIdle(FEW);
    many = ScriptedReader.ofManyConnections(POOL, 1_000);
    many.connectIdle(MANY);
  }

  private void compare(String name, Step step) throws VerbsException {
    for (int i = 0; i < WARM_UPS; i++) {
      stepNs(few, step);
      stepNs(many, step);
    }
    double[] ratios = new double[PAIRS];
    double[] ofFew = new double[PAIRS];
    double[] ofMany = new double[PAIRS];
    for (int i = 0; i < PAIRS; i++) {
      boolean fewFirst = i % 2 == 0;
      ofFew[i] = fewFirst ? stepNs(few, step) : 0;
      ofMany[i] = stepNs(many, step);
      ofFew[i] = fewFirst ? ofFew[i] : stepNs(few, step);
      ratios[i] = ofMany[i] / ofFew[i];
    }
    for (double[] values : new double[][] {ratios, ofFew, ofMany}) {
      Arrays.sort(values);
    }
    String result =
        "%s with %d idle connections / with %d: fastest %.2f, median %.2f (%.2f..%.2f) of %d pairs; %.0f / %.0f ns"
            .formatted(
                name,
                MANY,
                FEW,
                ofMany[0] / ofFew[0],
                ratios[PAIRS / 2],
                ratios[0],
                ratios[PAIRS - 1],
                PAIRS,
                ofMany[0],
                ofFew[0]);
    System.out.println(result);
    // The fastest of each, since other load of the machine only makes a sample slower.
    assertThat(ofMany[0] / ofFew[0]).as(result).isLessThanOrEqualTo(MAX_RATIO);
  }
}
