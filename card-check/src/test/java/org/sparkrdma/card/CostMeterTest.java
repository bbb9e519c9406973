// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.card;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.sparkrdma.verbs.Device;
import org.sparkrdma.verbs.Verbs;
import org.sparkrdma.verbs.VerbsEngine;
import org.sparkrdma.verbs.device.OpenResources;
import org.sparkrdma.verbs.spi.EngineSettings;

/** The measurement of costs, on the loopback engine. */
@Timeout(60)
class CostMeterTest {
  @TempDir private Path folder;

  @Test
  void shouldMeasureEachLengthAndLeaveNothingBehind() throws Exception {
    JsonNode figures;
    try (VerbsEngine engine = Verbs.choose("soft", EngineSettings.none()).engine();
        Device device = engine.open(engine.devices().get(0).name())) {
      figures = CostMain.figures(device, folder, 3);
      assertThat(device.openResources()).isEqualTo(OpenResources.NONE);
    }

    assertThat(folder).isEmptyDirectory();
    assertThat(figures.path("fileSystem").asText()).isNotEmpty();
    assertThat(figures.path("rows").findValues("bytes").stream().map(JsonNode::asInt))
        .containsExactlyElementsOf(CostMain.SIZES);
    for (JsonNode row : figures.path("rows")) {
      for (String pages : List.of("cold", "warm")) {
        for (String way : List.of("registerUs", "copyUs")) {
          JsonNode us = row.path(pages).path(way);
          assertThat(us.path("lower").asDouble()).as("%s %s %s", row, pages, way).isPositive();
          assertThat(us.path("median").asDouble())
              .isBetween(us.path("lower").asDouble(), us.path("upper").asDouble());
        }
      }
    }
    assertThat(CostResult.of(figures.toString()).lines())
        .hasSize(2 * CostMain.SIZES.size())
        .allMatch(
            line -> line.matches("\\| \\d+ KiB \\| (cold|warm) \\| .* \\| \\d+\\.\\d\\d \\|"));
  }
}
