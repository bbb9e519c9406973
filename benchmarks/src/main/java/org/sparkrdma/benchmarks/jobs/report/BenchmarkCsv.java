// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.benchmarks.jobs.report;

import java.util.List;
import java.util.Locale;
import java.util.TreeMap;
import java.util.function.ToLongFunction;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** A report as CSV, one line for each run. Stateless. */
final class BenchmarkCsv {
  private static final List<String> COLUMNS =
      List.of(
          "job",
          "shape",
          "shuffle",
          "round",
          "executors",
          "wall_s",
          "fetch_wait_s",
          "executor_cpu_s",
          "gc_s",
          "gc_pauses",
          "gc_longest_pause_ms",
          "peak_memory_bytes",
          "bytes_read",
          "bytes_tcp",
          "bytes_local",
          "blocks_read",
          "blocks_tcp",
          "blocks_local",
          "fallbacks",
          "memory_waits",
          "copied_blocks",
          "rows",
          "digest",
          "plug_in",
          "jvm",
          "query_s");

  private BenchmarkCsv() {}

  static String of(BenchmarkReport report) {
    return Stream.concat(
            Stream.of(String.join(",", COLUMNS)),
            report.cases().stream()
                .flatMap(each -> each.runs().stream().map(run -> line(report, each.shape(), run))))
        .collect(Collectors.joining("\n", "", "\n"));
  }

  private static String line(BenchmarkReport report, String shape, RunResult run) {
    return Stream.of(
            report.plan().job(),
            shape,
            run.mode(),
            run.round(),
            run.executors(),
            seconds(run.seconds()),
            seconds(run.fetchWaitSeconds()),
            seconds(run.executorCpuSeconds()),
            seconds(run.gcSeconds()),
            byExecutor(run, RunResult.GcPauses::count),
            byExecutor(run, RunResult.GcPauses::longestMs),
            run.peakMemoryBytes(),
            run.bytes().read(),
            run.bytes().tcp(),
            run.bytes().local(),
            run.blocks().read(),
            run.blocks().tcp(),
            run.blocks().local(),
            BenchmarkTable.counts(run.fallbacks()),
            BenchmarkTable.counts(run.memoryWaits()),
            run.copiedBlocks() == null ? "" : run.copiedBlocks(),
            run.answer().rows(),
            run.answer().digest(),
            orEmpty(report.environment().version()),
            orEmpty(report.environment().jvm()),
            querySeconds(run))
        .map(value -> quote(value.toString()))
        .collect(Collectors.joining(","));
  }

  /** Such as {@code 0=12 1=14}; empty in reports of older versions. */
  private static String byExecutor(RunResult run, ToLongFunction<RunResult.GcPauses> value) {
    return new TreeMap<>(run.gcPauses())
        .entrySet().stream()
            .map(entry -> entry.getKey() + "=" + value.applyAsLong(entry.getValue()))
            .collect(Collectors.joining(" "));
  }

  /** Such as {@code 1=0.512 2=1.250}. */
  private static String querySeconds(RunResult run) {
    return run.querySeconds().entrySet().stream()
        .map(entry -> entry.getKey() + "=" + seconds(entry.getValue()))
        .collect(Collectors.joining(" "));
  }

  private static String orEmpty(String value) {
    return value == null ? "" : value;
  }

  /** A value with a comma or a quotation mark is in quotation marks, as RFC 4180 has it. */
  static String quote(String value) {
    return value.contains(",") || value.contains("\"")
        ? "\"" + value.replace("\"", "\"\"") + "\""
        : value;
  }

  private static String seconds(double seconds) {
    return String.format(Locale.ROOT, "%.3f", seconds);
  }
}
