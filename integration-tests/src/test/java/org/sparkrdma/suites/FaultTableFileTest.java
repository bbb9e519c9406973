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
    Path target = Files.createDirectories(modules.resolve("integration-tests/target"));
    Path folder = Files.createDirectories(FaultTableFile.rowFolder(target));
    Files.writeString(
        folder.resolve("test.json"),
        "  {\"name\":\"fault\",\"recovery\":\"none\",\"seconds\":1,\"boundSeconds\":2,\"where\":\""
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
