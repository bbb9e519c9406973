// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.estimate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.sparkrdma.shuffle.GeneratedPage;

class CostTableTest {
  private static final Path RESULTS = Path.of("../benchmarks/results");
  private static final Path TABLE =
      Path.of("src/main/resources/org/sparkrdma/shuffle/estimate/costs.json");
  private static final ObjectMapper JSON = new ObjectMapper();
  private static final List<String> FIGURES =
      List.of(
          "nettyServerSecondsPerGb",
          "nettyClientSecondsPerGb",
          "rdmaServerSecondsPerGb",
          "rdmaClientSecondsPerGb",
          "nettyGbPerSecond",
          "rdmaGbPerSecond");

  @TempDir private Path directory;

  /** A report with the costs of one length: Spark's are 4 + 2 and the plug-in's 1 + 0.5. */
  static Path report(Path file, int blockBytes, boolean copy) throws IOException {
    return Files.writeString(file, "{\"cases\":[" + ofCase(blockBytes, copy, 1) + "]}");
  }

  private static String ofCase(int blockBytes, boolean copy, double times) {
    return """
        {"kind":"throughput","blockBytes":%d,"copy":%b,"figures":{
         "nettyServerSecondsPerGb":{"median":%f},"nettyClientSecondsPerGb":{"median":%f},
         "rdmaServerSecondsPerGb":{"median":%f},"rdmaClientSecondsPerGb":{"median":%f},
         "nettyGbPerSecond":{"median":1.0},"rdmaGbPerSecond":{"median":4.0}}}"""
        .formatted(blockBytes, copy, 4 * times, 2 * times, times, times / 2);
  }

  /** The medians of the published reports of files and of copies. */
  @Test
  void shouldHaveTheFiguresOfThePublishedReports() throws IOException {
    List<Path> reports;
    try (Stream<Path> files = Files.list(RESULTS)) {
      reports =
          files
              .filter(file -> file.getFileName().toString().matches("transfer-.*[.]json"))
              .sorted()
              .toList();
    }
    assertThat(reports).as("a report of files and one of copies").hasSize(2);
    ObjectNode table = JSON.createObjectNode();
    ArrayNode environments = table.putArray("environments");
    ArrayNode cases = table.putArray("cases");
    for (Path file : reports) {
      JsonNode report = JSON.readTree(file.toFile());
      environments.add(report.path("environment"));
      for (JsonNode from : report.path("cases")) {
        ObjectNode one = cases.addObject();
        for (String name : List.of("kind", "blockBytes", "copy")) {
          one.set(name, from.path(name));
        }
        ObjectNode figures = one.putObject("figures");
        for (String name : FIGURES) {
          figures.putObject(name).set("median", from.path("figures").path(name).path("median"));
        }
      }
    }
    GeneratedPage.shouldBe(TABLE, table.toPrettyString() + "\n");

    CostTable published = CostTable.published();
    CostTable measured = CostTable.measured(reports);
    for (boolean copies : new boolean[] {false, true}) {
      for (double length : new double[] {1, 1_000, 4_096, 30_000, 1 << 20, 1 << 28}) {
        assertThat(published.savedCpuSeconds(copies, length))
            .isEqualTo(measured.savedCpuSeconds(copies, length));
      }
    }
    assertThat(published.savedCpuSeconds(false, 4_096)).isPositive();
  }

  @Test
  void shouldInterpolateOnALineOfLogarithms() throws IOException {
    Path file = directory.resolve("report.json");
    Files.writeString(
        file, "{\"cases\":[" + ofCase(1_024, false, 1) + "," + ofCase(4_096, false, 0.25) + "]}");
    CostTable table = CostTable.measured(List.of(file));
    // Spark 6 and the plug-in 1.5 at 1 KiB, a quarter of both at 4 KiB.
    assertThat(table.savedCpuSeconds(false, 1_024)).isCloseTo(4.5, within(1e-9));
    assertThat(table.savedCpuSeconds(false, 2_048)).isCloseTo(2.25, within(1e-9));
    assertThat(table.savedCpuSeconds(false, 4_096)).isCloseTo(1.125, within(1e-9));
    // As much for each block below, and for each byte above.
    assertThat(table.savedCpuSeconds(false, 512)).isCloseTo(9, within(1e-9));
    assertThat(table.savedCpuSeconds(false, 1e9)).isCloseTo(1.125, within(1e-9));
    // The only way that was measured.
    assertThat(table.savedCpuSeconds(true, 2_048)).isCloseTo(2.25, within(1e-9));
    assertThat(table.savedTime(false, 1_024)).isCloseTo(0.75, within(1e-9));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "{\"cases\":[]}",
        "[]",
        "no JSON",
        "",
        "{\"cases\":[{\"kind\":\"latency\",\"blockBytes\":4096}]}",
        "{\"cases\":[{\"kind\":\"throughput\",\"blockBytes\":4096,\"figures\":{}}]}"
      })
  void shouldRefuseWhatIsNoReportOfTransfers(String text) throws IOException {
    Path file = Files.writeString(directory.resolve("report.json"), text);
    assertThatThrownBy(() -> CostTable.measured(List.of(file)))
        .isInstanceOfAny(IllegalArgumentException.class, JsonProcessingException.class);
  }
}
