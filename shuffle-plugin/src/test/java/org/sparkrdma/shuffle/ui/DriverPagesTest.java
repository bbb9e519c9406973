// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.ui;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Set;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.sparkrdma.shuffle.figures.ApplicationFigures;

/**
 * Names that Prometheus gets from the driver, in the templates that use them and on the page of the
 * metrics. TabSuite reads them from a real application.
 */
class DriverPagesTest {
  private static final Path CONF = Path.of("..", "conf");
  private static final String PREFIX = "metrics_spark_driver_rdma_application_";
  private static final Pattern NAME = Pattern.compile("metrics_spark_driver_rdma_\\w+_Value");
  private static final Pattern ROW =
      Pattern.compile("(?m)^\\| `rdma\\.application\\.([a-z0-9.]+)` \\|");

  private static String shown(String metric) {
    return PREFIX + metric.replace('.', '_') + "_Value";
  }

  private static Set<String> namesIn(Path file) throws IOException {
    return NAME.matcher(Files.readString(file))
        .results()
        .map(MatchResult::group)
        .collect(Collectors.toSet());
  }

  @Test
  void shouldShowTheNamesThatTheTemplatesAndThePageUse() throws Exception {
    ApplicationFigures figures = new ApplicationFigures(true);
    Set<String> shown =
        new ApplicationMetricsSource(figures::totals, System::nanoTime)
            .metricRegistry().getGauges().keySet().stream()
                .map(DriverPagesTest::shown)
                .collect(Collectors.toSet());
    assertThat(shown).containsAll(namesIn(CONF.resolve("prometheus-alerts.yaml")));
    assertThat(namesIn(CONF.resolve("grafana-dashboard.json"))).isNotEmpty().isSubsetOf(shown);
    assertThat(
            ROW.matcher(Files.readString(Path.of("..", "docs", "metrics.md")))
                .results()
                .map(found -> shown(found.group(1))))
        .containsExactlyInAnyOrderElementsOf(shown);
  }
}
