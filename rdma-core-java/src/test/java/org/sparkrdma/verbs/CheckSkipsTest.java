// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The program that looks for skipped tests at the end of a build, on reports like Surefire's. */
class CheckSkipsTest {
  private static final String SKIPPED =
      "<testcase classname='%s' name='b'><skipped message='%s'/></testcase>";

  @TempDir private Path target;

  @Test
  void shouldObjectToSkipsThatNeitherTheListNorAMissingPackageExplains() throws Exception {
    report("Passed", "<testcase classname='Passed' name='b'/>");
    report("Allowed", SKIPPED.formatted("Allowed", "Assumption failed: only root may mount"));
    report("Other", SKIPPED.formatted("Other", "only on Sundays"));
    report("Packages", SKIPPED.formatted("Packages", "failing disk: install gcc (A.scala:1)"));
    report("Whole", "");
    String other = "  Other#b | only on Sundays";
    String whole = "  Whole#* | skipped as a whole, for a reason that is not reported";

    assertThat(objections(false)).containsExactlyInAnyOrder(other, whole);
    assertThat(objections(true))
        .containsExactlyInAnyOrder(
            other, whole, "  Packages#b | failing disk: install gcc (A.scala:1)");
  }

  private void report(String suite, String cases) throws IOException {
    Path reports = Files.createDirectories(target.resolve("surefire-reports"));
    Files.writeString(
        reports.resolve("TEST-" + suite + ".xml"),
        "<testsuite name='%s'>%s</testsuite>".formatted(suite, cases));
  }

  private List<String> objections(boolean installed) throws Exception {
    Path list = Files.writeString(target.resolve("list"), "* | only root may mount\n");
    Path program = Path.of("..", "dev", "build", "CheckSkips.java");
    Process process =
        new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                program.toString(),
                list.toString(),
                target.toString(),
                Boolean.toString(installed))
            .redirectErrorStream(true)
            .start();
    List<String> lines = process.inputReader().lines().toList();
    assertThat(process.waitFor()).isEqualTo(1);
    return lines.stream().filter(line -> line.startsWith("  ")).toList();
  }
}
