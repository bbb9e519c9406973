// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.matrix;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.sparkrdma.launch.ScriptHelp;

@Timeout(120)
class MatrixCommandTest {
  @TempDir private Path directory;

  @Test
  void shouldExplainEveryOptionAndEveryDefaultInTheScriptsHelp() throws Exception {
    ScriptHelp.assertExplains("dev/matrix", MatrixCommand.commandLine(), UnaryOperator.identity());
  }

  @Test
  void shouldRefuseAnUnknownCellBeforeItStartsAnything() {
    Path project = Path.of("..").toAbsolutePath().normalize();
    int exitCode =
        MatrixCommand.commandLine()
            .execute(
                "--project", project.toString(),
                "--work-dir", directory.resolve("work").toString(),
                "--report", directory.resolve("report.json").toString(),
                "--cells", "1.0.0-2.10-8");
    assertThat(exitCode).isEqualTo(2);
    assertThat(Files.exists(directory.resolve("work"))).isFalse();
  }

  @Test
  void shouldFindTheJavaThatRunsIt() throws Exception {
    int version = Runtime.version().feature();
    if (Cell.all().stream().anyMatch(cell -> cell.java() == version)) {
      Path project = Path.of("..").toAbsolutePath().normalize();
      assertThat(JavaHomes.find(project)).containsKey(version);
    }
  }
}
