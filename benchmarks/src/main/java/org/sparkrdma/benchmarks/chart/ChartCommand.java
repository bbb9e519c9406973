// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.benchmarks.chart;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Callable;
import javax.xml.stream.XMLStreamException;
import org.sparkrdma.benchmarks.jobs.BenchmarkReport;
import org.sparkrdma.benchmarks.jobs.Environment;
import org.sparkrdma.benchmarks.jobs.MeasuredRatio;
import org.sparkrdma.launch.LaunchOptions;
import org.sparkrdma.launch.MisuseException;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** The command behind {@code ./bench chart}: draws one picture for each metric of the reports. */
@Command(name = "bench", customSynopsis = "./bench chart --help")
public final class ChartCommand extends LaunchOptions implements Callable<Integer> {
  private static final String TIME = "time";

  @Parameters(arity = "1..*", paramLabel = "REPORT")
  private List<Path> files;

  @Option(names = "--metrics", split = ",")
  private List<String> metrics = new ArrayList<>();

  @Option(names = "--out", defaultValue = ".")
  private Path directory;

  @Override
  public Integer call() throws IOException, XMLStreamException {
    Map<String, List<RatioChart.Bar>> bars = new LinkedHashMap<>();
    Map<String, Set<String>> reports = new LinkedHashMap<>();
    boolean oneMachine = true;
    boolean time = metrics.remove(TIME);
    if (time) {
      drawTime();
      if (metrics.isEmpty()) {
        return 0;
      }
    }
    for (Path file : files) {
      MeasuredRatio.read(file)
          .forEach(
              (ratio, values) -> {
                String metric = ratio.metric();
                bars.computeIfAbsent(metric, any -> new ArrayList<>())
                    .add(new RatioChart.Bar(ratio, values.spread()));
                reports
                    .computeIfAbsent(metric, any -> new LinkedHashSet<>())
                    .add(file.getFileName().toString());
              });
      oneMachine &= !Files.readString(file).contains(Environment.CLUSTER);
    }
    if (metrics.isEmpty()) {
      metrics.addAll(bars.keySet());
    }
    for (String metric : metrics) {
      if (!bars.containsKey(metric)) {
        throw new MisuseException(
            "--metrics has '%s': give some of %s"
                .formatted(metric, String.join(",", bars.keySet())));
      }
      RatioChart chart =
          new RatioChart(List.copyOf(reports.get(metric)), oneMachine, bars.get(metric));
      write(metric, chart.svg(), chart.description());
    }
    return 0;
  }

  private void write(String metric, String svg, String description) throws IOException {
    Path picture = directory.resolve(metric.toLowerCase(Locale.ROOT).replace(' ', '-') + ".svg");
    Files.createDirectories(directory);
    Files.writeString(picture, svg);
    System.out.printf("![%s](%s)%n", description, picture);
  }

  /** The last report has what a transfer costs, the others are of jobs. */
  private void drawTime() throws IOException, XMLStreamException {
    JsonNode transfers = read(files.get(files.size() - 1));
    List<TimeChart.Bar> bars = new ArrayList<>();
    for (Path file : files.subList(0, files.size() - 1)) {
      bars.addAll(TimeChart.of(BenchmarkReport.read(file), transfers));
    }
    if (bars.isEmpty() || transfers.at("/cases/0/figures/rdmaServerSecondsPerGb").isMissingNode()) {
      throw new MisuseException(
          "--metrics time needs reports of jobs, and after them one of ./bench transfer");
    }
    List<String> names = files.stream().map(file -> file.getFileName().toString()).toList();
    TimeChart chart = new TimeChart(names, bars);
    write(TIME, chart.svg(), chart.description());
  }

  private static JsonNode read(Path report) {
    try {
      return new ObjectMapper().readTree(report.toFile());
    } catch (IOException e) {
      throw new MisuseException("not a readable report of ./bench transfer: " + report);
    }
  }
}
