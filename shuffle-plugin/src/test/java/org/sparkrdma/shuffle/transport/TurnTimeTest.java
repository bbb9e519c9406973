// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.transport;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Arrays;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.sparkrdma.shuffle.transport.ScriptedReader.Task;
import org.sparkrdma.verbs.VerbsException;

/**
 * Time of the agent's turns while one connection fetches block after block and others are idle. The
 * peer is scripted, and an iteration of the agent takes {@link #ITERATION_NS} of virtual time. A
 * sample is thus 100 ms, in which all connections are visited once. Only the turns are measured.
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

  /** Applies without leak records ({@code -Dsparkrdma.leaks=false}), most of a turn's time. */
  private static final double MAX_RATIO = 1.2;

  private ScriptedReader few;
  private ScriptedReader many;

  @AfterEach
  void close() {
    few.close();
    many.close();
  }

  /** Nanoseconds per turn while some blocks are fetched. */
  private static double turnNs(ScriptedReader reader) throws VerbsException {
    Task task = reader.task(1);
    long turns = 0;
    long spentNs = 0;
    for (int block = 0; block < BLOCKS; block++) {
      task.fetch(0);
      while (task.blocksHeld() == 0) {
        long beginNs = System.nanoTime();
        reader.turn(ITERATION_NS);
        spentNs += System.nanoTime() - beginNs;
        turns++;
        reader.answerAll();
      }
      task.releaseAll();
    }
    return (double) spentNs / turns;
  }

  @Test
  void shouldTakeHardlyLongerForATurnWithThousandIdleConnectionsThanWithTen()
      throws VerbsException {
    few = new ScriptedReader(POOL, 0, 1_000);
    few.connectIdle(FEW);
    many = new ScriptedReader(POOL, 0, 1_000);
    many.connectIdle(MANY);
    for (int i = 0; i < WARM_UPS; i++) {
      turnNs(few);
      turnNs(many);
    }
    double[] ratios = new double[PAIRS];
    double[] ofFew = new double[PAIRS];
    double[] ofMany = new double[PAIRS];
    for (int i = 0; i < PAIRS; i++) {
      boolean fewFirst = i % 2 == 0;
      ofFew[i] = fewFirst ? turnNs(few) : 0;
      ofMany[i] = turnNs(many);
      ofFew[i] = fewFirst ? ofFew[i] : turnNs(few);
      ratios[i] = ofMany[i] / ofFew[i];
    }
    for (double[] values : new double[][] {ratios, ofFew, ofMany}) {
      Arrays.sort(values);
    }
    String result =
        "turn with %d idle connections / with %d: fastest %.2f, median %.2f (%.2f..%.2f) of %d pairs; %.0f / %.0f ns"
            .formatted(
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
