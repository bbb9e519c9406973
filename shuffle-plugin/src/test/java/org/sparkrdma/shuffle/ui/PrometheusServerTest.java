// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.ui;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.net.ConnectException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Predicate;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.spark.api.java.JavaSparkContext;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** A real Prometheus, with the configuration of docs/metrics.md, reads a driver's metrics. */
@Timeout(120)
@Tag("slow")
class PrometheusServerTest {
  private static final Path PAGE = Path.of("..", "docs", "metrics.md");
  private static final Path RULES = Path.of("..", "conf", "prometheus-alerts.yaml");
  private static final String CONFIGURATION = "rule_files:";
  private static final Pattern LISTENING = Pattern.compile("msg=\"Listening on\" address=(\\S+)");
  private static final Pattern METRIC = Pattern.compile("`(rdma\\.application\\.[a-z.]+)` \\|");

  private final HttpClient client = HttpClient.newHttpClient();
  @TempDir private Path directory;

  @Test
  void shouldReadEveryMetricOfTheDriverAndEvaluateTheAlerts() throws Exception {
    Optional<Path> program = SearchPath.find("prometheus");
    assumeTrue(program.isPresent(), "no prometheus in the search path");
    try (JavaSparkContext spark = PrometheusTest.shuffled()) {
      String driver = URI.create(spark.sc().uiWebUrl().get()).getAuthority();
      Files.copy(RULES, directory.resolve(RULES.getFileName()));
      Files.writeString(
          directory.resolve("prometheus.yml"),
          "global: {scrape_interval: 1s, evaluation_interval: 1s}\n"
              + configuration().replace("DRIVER:4040", driver));
      Process server =
          new ProcessBuilder(
                  program.get().toString(),
                  "--config.file=prometheus.yml",
                  "--storage.tsdb.path=data",
                  "--web.listen-address=127.0.0.1:0")
              .directory(directory.toFile())
              .redirectErrorStream(true)
              .redirectOutput(directory.resolve("output").toFile())
              .start();
      try {
        for (String metric : metrics()) {
          String name = "metrics_spark_driver_" + metric.replace('.', '_') + "_Value";
          await(
              server,
              "/api/v1/query?query=" + name,
              answer -> answer.at("/data/result").size() == 1);
        }
        JsonNode rules =
            await(
                server,
                "/api/v1/rules",
                answer -> answer.findValuesAsText("health").stream().noneMatch("unknown"::equals));
        assertThat(rules.findValuesAsText("health"))
            .hasSize(Files.readString(RULES).split("alert:", -1).length - 1)
            .containsOnly("ok");
        assertThat(rules.findValuesAsText("state")).containsOnly("inactive");
      } finally {
        server.destroyForcibly().waitFor();
      }
    }
  }

  /** Asks until the answer is as wanted. */
  private JsonNode await(Process server, String path, Predicate<JsonNode> wanted) throws Exception {
    while (true) {
      String output = Files.readString(directory.resolve("output"));
      assertThat(server.isAlive()).as(output).isTrue();
      Matcher listening = LISTENING.matcher(output);
      Optional<JsonNode> answer =
          listening.find()
              ? get("http://" + listening.group(1) + path).filter(wanted)
              : Optional.empty();
      if (answer.isPresent()) {
        return answer.get();
      }
    }
  }

  /** Empty while the server starts. */
  private Optional<JsonNode> get(String url) throws Exception {
    try {
      HttpResponse<String> answer =
          client.send(
              HttpRequest.newBuilder(URI.create(url)).build(),
              HttpResponse.BodyHandlers.ofString());
      return answer.statusCode() == 200
          ? Optional.of(new ObjectMapper().readTree(answer.body()))
          : Optional.empty();
    } catch (ConnectException e) {
      return Optional.empty();
    }
  }

  /** The block of the page that a user adds to the configuration of Prometheus. */
  private static String configuration() throws IOException {
    String page = Files.readString(PAGE);
    int begin = page.indexOf(CONFIGURATION);
    return page.substring(begin, page.indexOf("```", begin));
  }

  private static List<String> metrics() throws IOException {
    List<String> metrics = new ArrayList<>();
    METRIC.matcher(Files.readString(PAGE)).results().forEach(row -> metrics.add(row.group(1)));
    assertThat(metrics).as("metrics of %s", PAGE).isNotEmpty();
    return metrics;
  }
}
