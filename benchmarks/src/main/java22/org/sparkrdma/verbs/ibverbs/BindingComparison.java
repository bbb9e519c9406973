// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.ibverbs;

import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import org.openjdk.jmh.Main;
import org.openjdk.jmh.profile.GCProfiler;
import org.openjdk.jmh.results.RunResult;
import org.openjdk.jmh.results.format.ResultFormatFactory;
import org.openjdk.jmh.results.format.ResultFormatType;
import org.openjdk.jmh.runner.Runner;
import org.openjdk.jmh.runner.RunnerException;
import org.openjdk.jmh.runner.options.CommandLineOptionException;
import org.openjdk.jmh.runner.options.CommandLineOptions;
import org.openjdk.jmh.runner.options.OptionsBuilder;

/**
 * Runs the benchmarks with each binding in turn, one fork after the other, and compares the pairs,
 * because other load on the machine affects both. The value of a fork is its median iteration.
 */
public final class BindingComparison {
  private static final int DEFAULT_PAIRS = 5;
  private static final List<String> BINDINGS = List.of("java.lang.foreign", "jffi");

  /** Nanoseconds by benchmark and binding, one value for each pair. */
  private final Map<String, Map<String, List<Double>>> scores = new TreeMap<>();

  /** Results of all forks, for the result file. */
  private final List<RunResult> results = new ArrayList<>();

  private BindingComparison() {}

  /** Arguments: JMH's options; {@code -f} is the number of pairs. */
  public static void main(String[] arguments)
      throws CommandLineOptionException, RunnerException, java.io.IOException {
    var options = new CommandLineOptions(arguments);
    boolean asksOnly =
        options.shouldHelp()
            || options.shouldList()
            || options.shouldListWithParams()
            || options.shouldListProfilers()
            || options.shouldListResultFormats();
    if (asksOnly) {
      Main.main(arguments);
      return;
    }
    var comparison = new BindingComparison();
    int pairs = options.getForkCount().orElse(DEFAULT_PAIRS);
    for (int pair = 0; pair < pairs; pair++) {
      // The order alternates, so that neither binding always runs first.
      comparison.run(options, BINDINGS.get(pair % 2));
      comparison.run(options, BINDINGS.get((pair + 1) % 2));
    }
    comparison.writeFile(options);
    comparison.print();
  }

  /** Writes the results of all forks; JMH itself would overwrite the file after each fork. */
  private void writeFile(CommandLineOptions options) throws java.io.IOException {
    ResultFormatType format = options.getResultFormat().orElse(ResultFormatType.CSV);
    String name =
        options.getResult().orElse("jmh-result." + format.toString().toLowerCase(Locale.ROOT));
    if (isFileWanted(options)) {
      try (var out = new PrintStream(name, StandardCharsets.UTF_8)) {
        ResultFormatFactory.getInstance(format, out).writeOut(results);
      }
      System.out.println("\nThe results of all forks are in " + name + ".");
    }
  }

  private static boolean isFileWanted(CommandLineOptions options) {
    return options.getResult().hasValue() || options.getResultFormat().hasValue();
  }

  private void run(CommandLineOptions options, String binding) throws RunnerException {
    var one =
        new OptionsBuilder()
            .parent(options)
            .param("binding", binding)
            .forks(1)
            .shouldFailOnError(true)
            .addProfiler(GCProfiler.class);
    if (isFileWanted(options)) {
      one.result("/dev/null");
    }
    for (RunResult result : new Runner(one.build()).run()) {
      results.add(result);
      scores
          .computeIfAbsent(result.getPrimaryResult().getLabel(), name -> new TreeMap<>())
          .computeIfAbsent(binding, name -> new ArrayList<>())
          .add(result.getPrimaryResult().getStatistics().getPercentile(50));
    }
  }

  private void print() {
    System.out.printf(
        "%n%-18s %28s %28s %24s%n", "ns, quartiles", BINDINGS.get(0), BINDINGS.get(1), "ratio");
    scores.forEach(
        (benchmark, byBinding) -> {
          double[] foreign = values(byBinding.get(BINDINGS.get(0)));
          double[] jffi = values(byBinding.get(BINDINGS.get(1)));
          double[] ratios = new double[foreign.length];
          Arrays.setAll(ratios, i -> jffi[i] / foreign[i]);
          System.out.printf(
              "%-18s %28s %28s %24s%n", benchmark, text(foreign), text(jffi), text(ratios));
        });
  }

  private static double[] values(List<Double> scores) {
    return scores.stream().mapToDouble(Double::doubleValue).toArray();
  }

  /** The median, and quartiles in brackets. */
  private static String text(double[] values) {
    double[] sorted = values.clone();
    Arrays.sort(sorted);
    return String.format(
        Locale.ROOT, "%.2f (%.2f..%.2f)", at(sorted, 0.5), at(sorted, 0.25), at(sorted, 0.75));
  }

  private static double at(double[] sorted, double share) {
    return sorted[(int) Math.round(share * (sorted.length - 1))];
  }
}
