// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.ui;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.apache.spark.SparkConf;
import org.apache.spark.api.java.JavaSparkContext;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.sparkrdma.shuffle.RdmaShuffleManager;
import scala.Tuple2;

/**
 * Names that Prometheus gets from the driver of a real application, with the templates that use
 * them.
 */
@Timeout(120)
class DriverPagesTest {
  private static final Path CONF = Path.of("..", "conf");
  private static final Pattern NAME = Pattern.compile("metrics_spark_driver_rdma_\\w+_Value");

  private static Set<String> namesIn(String text) {
    return NAME.matcher(text).results().map(found -> found.group()).collect(Collectors.toSet());
  }

  @Test
  @Tag("slow")
  void shouldShowTheNamesThatTheTemplatesAndThePageUse() throws Exception {
    Set<String> shown = namesIn(scrape());
    assertThat(shown).hasSize(16);
    assertThat(shown)
        .containsAll(namesIn(Files.readString(CONF.resolve("prometheus-alerts.yaml"))));
    String dashboard = Files.readString(CONF.resolve("grafana-dashboard.json"));
    assertThat(namesIn(dashboard)).isNotEmpty().isSubsetOf(shown);
    Set<String> documented = new TreeSet<>();
    Pattern row = Pattern.compile("(?m)^\\| `rdma\\.application\\.([a-z0-9.]+)` \\|");
    row.matcher(Files.readString(Path.of("..", "docs", "metrics.md")))
        .results()
        .forEach(
            found ->
                documented.add(
                    "metrics_spark_driver_rdma_application_"
                        + found.group(1).replace('.', '_')
                        + "_Value"));
    assertThat(documented).isEqualTo(new TreeSet<>(shown));
  }

  /** The servlet's text in an application that has shuffled. */
  private static String scrape() throws Exception {
    try (JavaSparkContext spark = shuffled(conf())) {
      return get(spark, "/metrics/prometheus/");
    }
  }

  /** An application that has shuffled; the caller closes it. */
  private static JavaSparkContext shuffled(SparkConf conf) {
    JavaSparkContext spark = new JavaSparkContext(conf);
    spark
        .parallelize(List.of(1, 2, 3), 2)
        .mapToPair(number -> new Tuple2<>(number % 2, number))
        .reduceByKey(Integer::sum)
        .count();
    return spark;
  }

  /** The settings of the page. */
  private static SparkConf conf() {
    String sink = "spark.metrics.conf.driver.sink.prometheusServlet.";
    return new SparkConf(false)
        .setMaster("local[2]")
        .setAppName("prometheus")
        .set("spark.ui.port", "0")
        .set("spark.driver.host", "127.0.0.1")
        .set("spark.metrics.namespace", "spark")
        .set(sink + "class", "org.apache.spark.metrics.sink.PrometheusServlet")
        .set(sink + "path", "/metrics/prometheus")
        .set("spark.shuffle.manager", RdmaShuffleManager.class.getName());
  }

  private static String get(JavaSparkContext spark, String page) throws Exception {
    HttpClient client = HttpClient.newBuilder().followRedirects(HttpClient.Redirect.NORMAL).build();
    URI uri = URI.create(spark.sc().uiWebUrl().get() + page);
    HttpResponse<String> answer =
        client.send(HttpRequest.newBuilder(uri).build(), HttpResponse.BodyHandlers.ofString());
    assertThat(answer.statusCode()).as(answer.body()).isEqualTo(200);
    return answer.body();
  }
}
