// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.benchmarks.chart;

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
    Files.createDirectories(directory);
    for (String metric : metrics) {
      if (!bars.containsKey(metric)) {
        throw new MisuseException(
            "--metrics has '%s': give some of %s"
                .formatted(metric, String.join(",", bars.keySet())));
      }
      RatioChart chart =
          new RatioChart(List.copyOf(reports.get(metric)), oneMachine, bars.get(metric));
      Path picture = directory.resolve(metric.toLowerCase(Locale.ROOT).replace(' ', '-') + ".svg");
      Files.writeString(picture, chart.svg());
      System.out.printf("![%s](%s)%n", chart.description(), picture);
    }
    return 0;
  }
}
