// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.launch;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ReportFileTest {
  @TempDir private Path directory;

  @Test
  void shouldWriteAReportIntoANewDirectory() {
    Path path = directory.resolve("new/report.json");
    ReportFile file = new ReportFile(path);
    assertThat(file.objection()).isEmpty();
    assertThat(file.write(Map.of("answer", 42))).isEmpty();
    assertThat(path).content().contains("42");
  }

  @Test
  void shouldLeaveAnEarlierReportAsItIsWhenItChecks() throws Exception {
    Path path = Files.writeString(directory.resolve("report.json"), "earlier");
    assertThat(new ReportFile(path).objection()).isEmpty();
    assertThat(path).hasContent("earlier");
  }

  @Test
  void shouldLeaveNoFileWhenItChecks() {
    assertThat(new ReportFile(directory.resolve("report.json")).objection()).isEmpty();
    assertThat(directory).isEmptyDirectory();
  }

  @Test
  void shouldObjectToADirectory() {
    assertThat(new ReportFile(directory).objection())
        .hasValue("--report names a directory: " + directory);
  }

  @Test
  void shouldObjectWhenTheParentIsAFileAndReportWhyItWasNotWritten() throws Exception {
    Path parent = Files.writeString(directory.resolve("file"), "");
    ReportFile file = new ReportFile(parent.resolve("report.json"));
    assertThat(file.objection())
        .hasValue("--report is '%s': give a file that can be written".formatted(file.path()));
    assertThat(file.write(Map.of()))
        .hasValueSatisfying(
            sentence -> assertThat(sentence).startsWith("the report was not written: "));
  }
}
