/*
 * Licensed under the Apache License, Version 2.0 (the "License");
 * you may not use this file except in compliance with the License.
 * You may obtain a copy of the License at
 *
 *     http://www.apache.org/licenses/LICENSE-2.0
 *
 * Unless required by applicable law or agreed to in writing, software
 * distributed under the License is distributed on an "AS IS" BASIS,
 * WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
 * See the License for the specific language governing permissions and
 * limitations under the License.
 */
package org.sparkrdma.shuffle.metrics;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

class MetricsPageTest {
  private static final Pattern ROW = Pattern.compile("(?m)^\\| `([a-z.-]+)` \\| [A-Z].* \\|$");

  @Test
  void shouldDescribeEveryMetricUnderItsNameInSparksMetricsSystem() throws Exception {
    RdmaMetricsSource source = new RdmaMetricsSource(new ShuffleCounters());
    List<String> names =
        source.metricRegistry().getGauges().keySet().stream()
            .map(name -> source.sourceName() + "." + name)
            .toList();
    String page = Files.readString(Path.of("..", "docs", "metrics.md"));
    assertThat(ROW.matcher(page).results().map(row -> row.group(1)))
        .containsExactlyInAnyOrderElementsOf(names);
  }
}
