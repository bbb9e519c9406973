// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.suites;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class FaultTableFileTest {
  @TempDir Path modules;

  private List<String> problems(String where, String fields) throws IOException {
    return problems(where, "\"seconds\":1,\"boundSeconds\":2," + fields, "test.json");
  }

  private List<String> problems(String where, String fields, String file) throws IOException {
    Path target = Files.createDirectories(modules.resolve("integration-tests/target"));
    Path folder = Files.createDirectories(FaultTableFile.rowFolder(target));
    Files.writeString(
        folder.resolve(file),
        "  {\"name\":\"fault\",\"recovery\":\"none\",\"where\":\""
            + where
            + "\","
            + fields
            + "}\n");
    FaultTableFile table = new FaultTableFile(target);
    table.merge();
    return table.problems(false, false);
  }

  @Test
  void shouldAcceptARowWithRightComparisons() throws IOException {
    assertThat(
            problems(
                "server",
                "\"hits\":1,\"answerRight\":true,\"compared\":1,"
                    + "\"rightAfterwards\":null,\"comparedAfterwards\":0"))
        .isEmpty();
    assertThat(
            problems(
                "stub",
                "\"hits\":1,\"answerRight\":null,\"compared\":0,"
                    + "\"rightAfterwards\":true,\"comparedAfterwards\":1"))
        .isEmpty();
    assertThat(problems("cluster", "\"hits\":0,\"answerRight\":true")).isEmpty();
  }

  @Test
  void shouldObjectToABoundAboveTenTimesTheTime() throws IOException {
    String right = ",\"answerRight\":true";
    for (String times :
        List.of(
            "\"seconds\":0.01,\"boundSeconds\":1,\"pauseMs\":0",
            "\"seconds\":0.01,\"boundSeconds\":10,\"pauseMs\":200",
            "\"seconds\":0.01,\"boundSeconds\":15,\"pauseMs\":5999",
            "\"seconds\":0.01,\"boundSeconds\":30,\"pauseMs\":90000",
            "\"seconds\":4.0,\"boundSeconds\":40,\"pauseMs\":0",
            "\"seconds\":0.4,\"boundSeconds\":30",
            "\"seconds\":6.0,\"boundSeconds\":60")) {
      assertThat(problems("cluster", times + right, "test.json")).as(times).isEmpty();
    }
    for (String times :
        List.of(
            "\"seconds\":0.01,\"boundSeconds\":3,\"pauseMs\":0",
            "\"seconds\":0.01,\"boundSeconds\":10,\"pauseMs\":199",
            "\"seconds\":0.01,\"boundSeconds\":16,\"pauseMs\":5999",
            "\"seconds\":0.01,\"boundSeconds\":31,\"pauseMs\":90000",
            "\"seconds\":4.0,\"boundSeconds\":41,\"pauseMs\":0",
            "\"seconds\":0.4,\"boundSeconds\":31",
            "\"seconds\":6.0,\"boundSeconds\":61")) {
      assertThat(problems("cluster", times + right, "test.json"))
          .as(times)
          .singleElement()
          .asString()
          .startsWith("bound above ten times the time");
    }
  }

  @Test
  void shouldObjectToAnotherNumberOfRows() throws IOException {
    String row = "\"seconds\":1,\"boundSeconds\":2,\"hits\":1,\"answerRight\":true";
    assertThat(problems("guest", row, "guest-limited.json"))
        .containsExactly("rows of guest-limited.json: 1 of 2");
    assertThat(problems("guest", row, "guest-other.json"))
        .contains("no expected number of rows of guest-other.json");
  }

  @Test
  void shouldObjectToARightAnswerWithoutAComparison() throws IOException {
    assertThat(
            problems(
                "server",
                "\"hits\":1,\"answerRight\":true,\"compared\":0,"
                    + "\"rightAfterwards\":true,\"comparedAfterwards\":1"))
        .singleElement()
        .asString()
        .startsWith("right without a comparison");
    assertThat(problems("stub", "\"hits\":1,\"answerRight\":true,\"rightAfterwards\":null"))
        .as("without the number")
        .singleElement()
        .asString()
        .startsWith("right without a comparison");
  }

  @Test
  void shouldObjectToARowForWhichNothingWasCompared() throws IOException {
    assertThat(
            problems(
                "stub",
                "\"hits\":1,\"answerRight\":null,\"compared\":0,"
                    + "\"rightAfterwards\":null,\"comparedAfterwards\":0"))
        .singleElement()
        .asString()
        .startsWith("nothing compared");
    assertThat(problems("guest", "\"hits\":1,\"answerRight\":null"))
        .singleElement()
        .asString()
        .startsWith("nothing compared");
  }

  @Test
  void shouldObjectToWrongBytesAndToAFaultThatDidNotHappen() throws IOException {
    assertThat(
            problems(
                "server",
                "\"hits\":0,\"answerRight\":true,\"compared\":1,"
                    + "\"rightAfterwards\":false,\"comparedAfterwards\":1"))
        .hasSize(2)
        .anyMatch(problem -> problem.startsWith("wrong or late"))
        .anyMatch(problem -> problem.startsWith("a fault that did not happen"));
  }
}
