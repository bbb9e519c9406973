// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.benchmarks.jobs;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import org.sparkrdma.launch.LaunchOptions;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Parameters;

/** The command behind {@code ./bench compare}: compares two reports. */
@Command(name = "bench", customSynopsis = "./bench compare --help")
public final class CompareCommand implements Callable<Integer> {
  @Mixin private LaunchOptions options;

  @Parameters(index = "0", paramLabel = "BASE")
  private Path base;

  @Parameters(index = "1", paramLabel = "HEAD")
  private Path head;

  @Override
  public Integer call() {
    List<RatioChange> changes =
        RatioChange.of(List.of(ratios("base", base)), List.of(ratios("head", head)));
    if (changes.isEmpty()) {
      throw options.misuse("the reports have no job, shape and ratio in common");
    }
    System.out.println();
    System.out.println(RatioChange.table(changes));
    System.out.println(RatioChange.RULE);
    return 0;
  }

  private Map<MeasuredRatio, MeasuredRatio.Values> ratios(String name, Path file) {
    if (!Files.isReadable(file)) {
      throw options.misuse("no such report, or not readable: " + file);
    }
    try {
      JsonNode report = new ObjectMapper().readTree(file.toFile());
      Map<MeasuredRatio, MeasuredRatio.Values> ratios = MeasuredRatio.of(report);
      JsonNode facts = report.path("environment");
      System.out.printf(
          "%s: %s, plug-in %s, Spark %s%n",
          name,
          facts.path("date").asText("unknown"),
          facts.path("version").asText("unknown"),
          facts.path("spark").asText("unknown"));
      return ratios;
    } catch (IOException e) {
      throw options.misuse("not a report of ./bench JOB: " + file);
    }
  }
}
