// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.guest.reads;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import org.sparkrdma.guest.reads.ReadCase.Mode;
import org.sparkrdma.verbs.VerbsException;

/**
 * Times each case with the C loop and the Java loop in rounds, and prints a line for each pair:
 * round, case, nanoseconds of C, nanoseconds of Java. The first loop alternates between rounds. The
 * first rounds run only the Java loop, so that the JIT compiler compiles it.
 */
public final class ReadPairs {
  /** The case of the reported bandwidth ratio. */
  public static final String BANDWIDTH = "READ 64 KiB";

  /** The case of the reported latency ratio. */
  public static final String LATENCY = "READ 2 B, polling";

  /** The cases, a twentieth of a second each, so that load of the host affects both loops. */
  public static final List<ReadCase> CASES =
      List.of(
          new ReadCase("READ 4 KiB", Mode.STREAM, 4 << 10, 64, 16, 4_800),
          new ReadCase(BANDWIDTH, Mode.STREAM, 64 << 10, 32, 8, 640),
          new ReadCase("READ 1 MiB", Mode.STREAM, 1 << 20, 4, 1, 48),
          new ReadCase(LATENCY, Mode.POLL, 2, 1, 1, 1_000),
          new ReadCase("READ 2 B, channel", Mode.EVENTS, 2, 1, 1, 600));

  /** Prefix of a line with a pair. */
  public static final String PAIR = "pair";

  private static final int WARM_UPS = 24;

  private ReadPairs() {}

  /**
   * Runs it in the guest.
   *
   * @param arguments the C program, the address of its server, number of rounds
   */
  public static void main(String[] arguments) throws Exception {
    run(Path.of(arguments[0]), arguments[1], Integer.parseInt(arguments[2]));
  }

  private static void run(Path program, String address, int rounds)
      throws IOException, VerbsException {
    try (CReader c = CReader.connect(program, address);
        JavaReader ours = JavaReader.connect(address)) {
      for (int round = 0; round < WARM_UPS; round++) {
        for (ReadCase one : CASES) {
          ours.read(one);
        }
      }
      for (int round = 0; round < rounds; round++) {
        for (ReadCase one : CASES) {
          boolean first = round % 2 == 0;
          long before = first ? ours.read(one) : 0;
          long byC = c.read(one);
          long byJava = first ? before : ours.read(one);
          System.out.println(
              PAIR + " " + round + " " + CASES.indexOf(one) + " " + byC + " " + byJava);
        }
      }
    }
  }
}
