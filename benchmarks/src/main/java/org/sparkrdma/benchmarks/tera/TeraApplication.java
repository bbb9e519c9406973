// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.benchmarks.tera;

import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Map;
import java.util.TreeMap;
import org.apache.spark.SparkConf;
import org.apache.spark.api.java.JavaSparkContext;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;

/** The application to submit: {@code generate} once, then {@code sort} once per shuffle. */
@Command(name = "tera", description = "TeraGen, TeraSort and TeraValidate on Spark.")
public final class TeraApplication {
  private static final long LISTENER_TIMEOUT_MS = 60_000;

  private TeraApplication() {}

  public static void main(String[] args) {
    int exitCode = new CommandLine(new TeraApplication()).execute(args);
    if (exitCode != 0) {
      System.exit(exitCode);
    }
  }

  @Command(description = "Writes random records and sums them up.")
  int generate(
      @Parameters(paramLabel = "DIRECTORY") String directory,
      @Parameters(paramLabel = "RECORDS") long records,
      @Parameters(paramLabel = "FILES") int files,
      @Parameters(paramLabel = "RESULT") Path result)
      throws IOException {
    try (JavaSparkContext spark = open("TeraGen")) {
      spark.sc().addSparkListener(new TaskProgress(System.out));
      spark.sc().setJobDescription("generate");
      TeraGen.write(spark, directory, records, files);
      spark.sc().setJobDescription("sum up");
      TeraValidate.Summary summary = TeraValidate.summarize(spark, directory);
      write(result, new GeneratedInput(summary.records(), summary.checksum()));
    }
    return 0;
  }

  @Command(description = "Sorts, measures, then validates the output.")
  int sort(
      @Parameters(paramLabel = "INPUT") String input,
      @Parameters(paramLabel = "OUTPUT") String output,
      @Parameters(paramLabel = "PARTITIONS") int partitions,
      @Parameters(paramLabel = "TOTAL_CORES") int totalCores,
      @Parameters(paramLabel = "RESULT") Path result)
      throws Exception {
    try (JavaSparkContext spark = open("TeraSort")) {
      ShuffleReadTotals totals = new ShuffleReadTotals();
      spark.sc().addSparkListener(new TaskProgress(System.out));
      spark.sc().addSparkListener(totals);
      spark.sc().setJobDescription("sort");
      long startNs = System.nanoTime();
      TeraSort.sort(spark, input, output, partitions);
      double seconds = (System.nanoTime() - startNs) / 1e9;

      spark.sc().listenerBus().waitUntilEmpty(LISTENER_TIMEOUT_MS);
      long remoteBytes = totals.remoteBytes();
      long localBytes = totals.localBytes();
      spark.sc().setJobDescription("read counters");
      Map<String, ExecutorUsage> usage = ExecutorUsage.ofAll(spark, totalCores);

      spark.sc().setJobDescription("validate");
      TeraValidate.Summary summary = TeraValidate.summarize(spark, output);
      if (summary.disorder().isPresent()) {
        System.err.println("the output is not sorted: " + summary.disorder().get());
        return 1;
      }
      write(
          result,
          new SortResult(
              seconds,
              summary.records(),
              summary.checksum(),
              remoteBytes,
              localBytes,
              sumCounters(usage),
              cpuSeconds(usage)));
    }
    return 0;
  }

  private static JavaSparkContext open(String name) {
    JavaSparkContext spark = new JavaSparkContext(new SparkConf().setAppName(name));
    // The scheduler of the input format is for clusters with data on their disks.
    spark.hadoopConfiguration().setBoolean("mapreduce.terasort.use.terascheduler", false);
    return spark;
  }

  private static Map<String, Long> sumCounters(Map<String, ExecutorUsage> usage) {
    Map<String, Long> sums = new TreeMap<>();
    usage
        .values()
        .forEach(
            one -> one.counters().forEach((name, count) -> sums.merge(name, count, Long::sum)));
    return sums;
  }

  private static Map<String, Double> cpuSeconds(Map<String, ExecutorUsage> usage) {
    Map<String, Double> seconds = new TreeMap<>();
    usage.forEach((executorId, one) -> seconds.put(executorId, one.cpuSeconds()));
    return seconds;
  }

  private static void write(Path file, Object result) throws IOException {
    new ObjectMapper().writerWithDefaultPrettyPrinter().writeValue(file.toFile(), result);
  }
}
