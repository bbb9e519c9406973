// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/** The tables of docs/status.md, docs/fabrics.md and README.md, generated from docs/data. */
class StatusPageTest {
  private static final Path DATA = Path.of("..", "docs", "data", "status.csv");
  private static final Path FABRICS = Path.of("..", "docs", "data", "fabrics.csv");
  private static final Path PAGE = Path.of("..", "docs", "status.md");
  private static final Path FABRICS_PAGE = Path.of("..", "docs", "fabrics.md");
  private static final Path README = Path.of("..", "README.md");

  /** Engine and fabric of each column of the README. */
  private static final List<String> RUNS =
      List.of(
          "soft loopback",
          "ibverbs soft RoCE.*",
          "ibverbs soft iWARP.*",
          "disni soft.*",
          "(ibverbs|disni) (?!soft).*");

  private static final int FIELDS = 10;
  private static final int SPARK = 0;
  private static final int ENGINE = 3;
  private static final int FABRIC = 4;
  private static final int RESULT = 8;
  private static final int LAST_RUN = 9;

  @Test
  void shouldHaveARowForEachEnvironment() throws IOException {
    String table =
        rows(DATA).stream()
            .map(row -> "| " + String.join(" | ", row) + " |\n")
            .collect(
                Collectors.joining(
                    "",
                    "\n| Spark | Scala | Java | engine | fabric | system | cluster manager | hosts"
                        + " | result | last run |\n|---|---|---|---|---|---|---|---|---|---|\n",
                    "\n"));
    GeneratedPage.partShouldBe(PAGE, "Environments", "StatusPageTest from data/status.csv", table);
  }

  @Test
  void shouldHaveTheEnginesOfEachSparkInTheReadme() throws IOException {
    List<List<String>> passed =
        rows(DATA).stream().filter(row -> row.get(RESULT).equals("passed")).toList();
    StringBuilder table =
        new StringBuilder(
            "\n| Spark | loopback (`soft`) | soft RoCE | soft iWARP | DiSNI on either | a card |\n"
                + "|---|---|---|---|---|---|\n");
    for (String line : List.of("3.5", "4.0", "4.1", "4.2")) {
      table.append("| ").append(line);
      for (String run : RUNS) {
        boolean ran =
            passed.stream()
                .filter(row -> row.get(SPARK).startsWith(line + "."))
                .anyMatch(row -> (row.get(ENGINE) + " " + row.get(FABRIC)).matches(run));
        table.append(ran ? " | jobs ran" : " | –");
      }
      table.append(" |\n");
    }
    GeneratedPage.partShouldBe(
        README, "Combinations", "StatusPageTest from docs/data/status.csv", table + "\n");
  }

  @Test
  void shouldHaveADateForEachEnvironmentThatRan() throws IOException {
    assertThat(rows(DATA))
        .isNotEmpty()
        .doesNotHaveDuplicates()
        .allSatisfy(
            row -> {
              assertThat(row).hasSize(FIELDS);
              assertThat(row.get(RESULT)).isIn("passed", "failed", "not run");
              assertThat(row.get(LAST_RUN))
                  .matches(row.get(RESULT).equals("not run") ? "" : "\\d{4}-\\d\\d-\\d\\d");
            });
  }

  @Test
  void shouldHaveTheResultOfEachFabric() throws IOException {
    Map<String, String> results =
        rows(DATA).stream()
            .collect(
                Collectors.toMap(
                    row -> row.get(FABRIC), row -> row.get(RESULT), (first, next) -> next));
    StringBuilder table =
        new StringBuilder(
            "\n| Fabric | Driver | Link | Needed | Source | Run |\n|---|---|---|---|---|---|\n");
    for (List<String> row : rows(FABRICS)) {
      assertThat(row).hasSize(6);
      String result = results.getOrDefault(row.get(5), "not run");
      table.append("| %s | %s |\n".formatted(String.join(" | ", row.subList(0, 5)), result));
    }
    String by = "StatusPageTest from data/fabrics.csv and data/status.csv";
    GeneratedPage.partShouldBe(FABRICS_PAGE, "Fabrics", by, table + "\n");
  }

  private static List<List<String>> rows(Path data) throws IOException {
    return Files.readAllLines(data).stream()
        .filter(line -> !line.startsWith("#"))
        .map(line -> List.of(line.split(",", -1)))
        .toList();
  }
}
