// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.transport;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.function.ToDoubleFunction;

/**
 * Simulated shuffles of several sizes: how each quantity of one executor grows with their number.
 *
 * @param growth the same shuffle on more and more executors
 * @param incast many servers and one reader with many tasks
 * @param waves a shuffle with all its tasks
 */
record SimulatedGrowth(
    List<GrowthRun.Result> growth, List<GrowthRun.Result> incast, List<GrowthRun.Result> waves) {
  private static final ObjectMapper JSON = new ObjectMapper();

  /** Quantities of one executor. */
  enum Quantity {
    CONNECTIONS("connections", GrowthRun.Result::connections),
    QUEUE_PAIRS("queue pairs created", GrowthRun.Result::queuePairs),
    CONTROL_BYTES("bytes of message buffers", GrowthRun.Result::controlBytes),
    PINNED_BYTES("highest pinned bytes", GrowthRun.Result::highestPinnedBytes),
    MESSAGES("messages to peers", GrowthRun.Result::messages),
    WORK("steps of agent and server", GrowthRun.Result::work),
    DRIVER_MESSAGES("messages to the driver", GrowthRun.Result::driverMessages),
    DRIVER_RECORDS("endpoints from the driver", GrowthRun.Result::driverRecords),
    FIRST_BLOCK("ms to the first block", GrowthRun.Result::firstBlockMs),
    LAST_PEER("ms to a block of every peer", GrowthRun.Result::lastPeerMs),
    READ_BYTES("highest READ bytes in flight", GrowthRun.Result::maxReadBytesInFlight);

    private final String label;

    @SuppressWarnings("ImmutableEnumChecker")
    private final ToDoubleFunction<GrowthRun.Result> value;

    Quantity(String label, ToDoubleFunction<GrowthRun.Result> value) {
      this.label = label;
      this.value = value;
    }

    double of(GrowthRun.Result result) {
      return value.applyAsDouble(result);
    }

    @Override
    public String toString() {
      return label;
    }
  }

  /**
   * Least-squares exponent e of a quantity that grows as the number of executors to the e. The fit
   * covers all sizes, so it shows little of a change at the largest ones.
   */
  static double fittedExponent(List<GrowthRun.Result> results, Quantity quantity) {
    double meanX =
        results.stream().mapToDouble(SimulatedGrowth::logExecutors).average().orElseThrow();
    double meanY = results.stream().mapToDouble(one -> log(one, quantity)).average().orElseThrow();
    double products = 0;
    double squares = 0;
    for (GrowthRun.Result one : results) {
      double x = logExecutors(one) - meanX;
      products += x * (log(one, quantity) - meanY);
      squares += x * x;
    }
    return products / squares;
  }

  /** The same of the two largest sizes only. */
  static double lastExponent(List<GrowthRun.Result> results, Quantity quantity) {
    return fittedExponent(results.subList(results.size() - 2, results.size()), quantity);
  }

  private static double logExecutors(GrowthRun.Result result) {
    return Math.log(result.shape().executors());
  }

  private static double log(GrowthRun.Result result, Quantity quantity) {
    return Math.log(Math.max(1e-3, quantity.of(result)));
  }

  /** Writes results, quantities and exponents as JSON. */
  void write(Path file) throws IOException {
    ObjectNode json = JSON.createObjectNode();
    ObjectNode exponents = json.putObject("exponents");
    for (Quantity quantity : Quantity.values()) {
      exponents
          .putObject(quantity.toString())
          .put("fitted", fittedExponent(growth, quantity))
          .put("last", lastExponent(growth, quantity));
    }
    add(growth, json.putArray("growth"));
    add(incast, json.putArray("incast"));
    add(waves, json.putArray("waves"));
    Files.createDirectories(file.toAbsolutePath().getParent());
    JSON.writerWithDefaultPrettyPrinter().writeValue(file.toFile(), json);
  }

  private static void add(List<GrowthRun.Result> results, ArrayNode array) {
    for (GrowthRun.Result one : results) {
      ObjectNode result = JSON.valueToTree(one);
      ObjectNode quantities = result.putObject("quantities");
      for (Quantity quantity : Quantity.values()) {
        quantities.put(quantity.toString(), quantity.of(one));
      }
      array.add(result);
    }
  }
}
