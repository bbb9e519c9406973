// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.guest;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.function.ToDoubleFunction;
import org.sparkrdma.guest.reads.ReadCase;
import org.sparkrdma.guest.reads.ReadPairs;

/**
 * The output of {@link ReadPairs} for each case: medians and quartiles of both sides and of the
 * ratio Java to C.
 */
final class ReadFigures {
  private static final double NS_PER_S = 1e9;
  private static final double NS_PER_US = 1e3;
  private static final double MIB = 1 << 20;

  private final List<List<Pair>> pairs = new ArrayList<>();

  /** Nanoseconds of both sides. */
  private record Pair(long byC, long byJava) {}

  private record Spread(double median, double low, double high) {
    static Spread of(List<Pair> pairs, ToDoubleFunction<Pair> value) {
      double[] sorted = pairs.stream().mapToDouble(value).sorted().toArray();
      return new Spread(
          sorted[sorted.length / 2], sorted[sorted.length / 4], sorted[sorted.length * 3 / 4]);
    }

    String format(String number) {
      return String.format(
          Locale.ROOT, number + " (" + number + ".." + number + ")", median, low, high);
    }

    String json() {
      return String.format(
          Locale.ROOT, "{\"median\":%.4f,\"low\":%.4f,\"high\":%.4f}", median, low, high);
    }
  }

  ReadFigures(List<String> lines) {
    ReadPairs.CASES.forEach(any -> pairs.add(new ArrayList<>()));
    for (String line : lines) {
      String[] words = line.split(" ", -1);
      if (words[0].equals(ReadPairs.PAIR)) {
        pairs
            .get(Integer.parseInt(words[2]))
            .add(new Pair(Long.parseLong(words[3]), Long.parseLong(words[4])));
      }
    }
  }

  /** The number of pairs of the case with the fewest. */
  int rounds() {
    return pairs.stream().mapToInt(List::size).min().orElseThrow();
  }

  /** Median ratio of Java to C, of bandwidth or latency, for the case with that name. */
  double ratio(String name) {
    for (int i = 0; i < pairs.size(); i++) {
      if (ReadPairs.CASES.get(i).name().equals(name)) {
        return ratios(i).median();
      }
    }
    throw new IllegalArgumentException("no such case: name=" + name);
  }

  private Spread ratios(int i) {
    ReadCase one = ReadPairs.CASES.get(i);
    return Spread.of(pairs.get(i), pair -> figure(one, pair.byJava) / figure(one, pair.byC));
  }

  /** MiB per second, or microseconds. */
  private static double figure(ReadCase one, long ns) {
    return one.isBandwidth()
        ? (double) one.lengthBytes() * one.count() / MIB * NS_PER_S / ns
        : ns / NS_PER_US;
  }

  private static String unit(ReadCase one) {
    return one.isBandwidth() ? "MiB/s" : "us";
  }

  /** A table of medians with quartiles. */
  String table() {
    var table = new StringBuilder();
    for (int i = 0; i < pairs.size(); i++) {
      ReadCase one = ReadPairs.CASES.get(i);
      String number = one.isBandwidth() ? "%.0f" : "%.1f";
      table.append(
          String.format(
              Locale.ROOT,
              "| %s, %s | %s | %s | %s |%n",
              one.name(),
              unit(one),
              Spread.of(pairs.get(i), pair -> figure(one, pair.byC)).format(number),
              Spread.of(pairs.get(i), pair -> figure(one, pair.byJava)).format(number),
              ratios(i).format("%.3f")));
    }
    return table.toString();
  }

  /** JSON for the report: low and high are quartiles. */
  String json(String transport) {
    List<String> cases = new ArrayList<>();
    for (int i = 0; i < pairs.size(); i++) {
      ReadCase one = ReadPairs.CASES.get(i);
      cases.add(
          String.format(
              Locale.ROOT,
              "{\"name\":\"%s\",\"unit\":\"%s\",\"lengthBytes\":%d,\"depth\":%d,\"pairs\":%d,"
                  + "\"c\":%s,\"java\":%s,\"ratio\":%s}",
              one.name(),
              unit(one),
              one.lengthBytes(),
              one.depth(),
              pairs.get(i).size(),
              Spread.of(pairs.get(i), pair -> figure(one, pair.byC)).json(),
              Spread.of(pairs.get(i), pair -> figure(one, pair.byJava)).json(),
              ratios(i).json()));
    }
    return String.format(
        Locale.ROOT,
        "{\"transport\":\"%s\",\"bandwidthRatio\":%.4f,\"latencyRatio\":%.4f,\"cases\":[%s]}%n",
        transport,
        ratio(ReadPairs.BANDWIDTH),
        ratio(ReadPairs.LATENCY),
        String.join(",", cases));
  }
}
