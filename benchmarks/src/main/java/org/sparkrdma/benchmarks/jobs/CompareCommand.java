// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.benchmarks.jobs;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import org.sparkrdma.launch.LaunchOptions;
import org.sparkrdma.launch.MisuseException;
import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;

/** The command behind {@code ./bench compare}: compares two reports. */
@Command(name = "bench", customSynopsis = "./bench compare --help")
public final class CompareCommand extends LaunchOptions implements Callable<Integer> {
  @Parameters(index = "0", paramLabel = "BASE")
  private Path base;

  @Parameters(index = "1", paramLabel = "HEAD")
  private Path head;

  @Override
  public Integer call() throws IOException {
    List<RatioChange> changes =
        RatioChange.of(List.of(ratios("base", base)), List.of(ratios("head", head)));
    if (changes.isEmpty()) {
      throw new MisuseException("the reports have no job, shape and ratio in common");
    }
    System.out.println();
    System.out.println(RatioChange.table(changes));
    System.out.println(RatioChange.RULE);
    return 0;
  }

  private static Map<MeasuredRatio, MeasuredRatio.Values> ratios(String name, Path file)
      throws IOException {
    Map<MeasuredRatio, MeasuredRatio.Values> ratios = MeasuredRatio.read(file);
    JsonNode facts = new ObjectMapper().readTree(file.toFile()).path("environment");
    System.out.printf(
        "%s: %s, plug-in %s, Spark %s%n",
        name,
        facts.path("date").asText("unknown"),
        facts.path("version").asText("unknown"),
        facts.path("spark").asText("unknown"));
    return ratios;
  }
}
