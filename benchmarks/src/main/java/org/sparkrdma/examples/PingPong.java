// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.examples;

import java.io.PrintStream;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.Set;
import org.sparkrdma.verbs.VerbsException;

/**
 * SEND and receive: the client sends a number, and the server answers with the next one.
 *
 * <p>Both ends take part in each message. The receive for the answer is posted before the message
 * is sent, or the answer could find none.
 */
public final class PingPong {
  private static final int DEFAULT_PINGS = 1_000;
  private static final int END = -1;
  private static final double NS_PER_US = 1e3;

  private PingPong() {}

  /** Arguments: {@code server ENGINE HOST:PORT} or {@code client ENGINE HOST:PORT}. */
  public static void main(String[] arguments) throws VerbsException {
    run(arguments, System.out);
  }

  static void run(String[] arguments, PrintStream out) throws VerbsException {
    ExampleArguments parsed = ExampleArguments.parse(arguments, "", "");
    try (ExampleNode node = ExampleNode.open(parsed.engine())) {
      if (parsed.server()) {
        node.accept(parsed.address(), Set.of(), out);
        out.println("answered " + answerAll(node) + " pings");
      } else {
        node.connect(parsed.address());
        out.println("round trip of " + DEFAULT_PINGS + " pings, median us: " + pingAll(node));
      }
    }
  }

  private static int answerAll(ExampleNode node) {
    int pings = 0;
    int number = node.receive().getInt();
    while (number != END) {
      pings++;
      node.send(message(number + 1));
      number = node.receive().getInt();
    }
    node.awaitDisconnect();
    return pings;
  }

  /** Returns the median of the round trips, in microseconds. */
  private static double pingAll(ExampleNode node) {
    long[] roundTripNs = new long[DEFAULT_PINGS];
    for (int i = 0; i < DEFAULT_PINGS; i++) {
      long startNs = System.nanoTime();
      node.send(message(i));
      int answer = node.receive().getInt();
      roundTripNs[i] = System.nanoTime() - startNs;
      if (answer != i + 1) {
        throw new IllegalStateException("wrong answer: number=" + i + " answer=" + answer);
      }
    }
    node.send(message(END));
    Arrays.sort(roundTripNs);
    return roundTripNs[DEFAULT_PINGS / 2] / NS_PER_US;
  }

  private static ByteBuffer message(int number) {
    return ByteBuffer.allocate(Integer.BYTES).putInt(number).flip();
  }
}
