// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.metrics;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

class MetricsPageTest {
  private static final Pattern ROW = Pattern.compile("(?m)^\\| `([a-z0-9.-]+)` \\| [A-Z].* \\|$");

  @Test
  void shouldDescribeEveryMetricByItsName() throws Exception {
    RdmaMetricsSource source = new RdmaMetricsSource(new ShuffleCounters());
    List<String> names =
        source.metricRegistry().getGauges().keySet().stream()
            .map(name -> source.sourceName() + "." + name)
            .toList();
    String page = Files.readString(Path.of("..", "docs", "metrics.md"));
    assertThat(ROW.matcher(page).results().map(row -> row.group(1)))
        .filteredOn(name -> !name.startsWith("rdma.application."))
        .containsExactlyInAnyOrderElementsOf(names);
  }
}
