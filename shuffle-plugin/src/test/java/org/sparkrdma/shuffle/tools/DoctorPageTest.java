// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.tools;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.sparkrdma.shuffle.tools.doctor.FakeMachine;

/**
 * The outputs of docs/doctor.md on a bare machine, compared with those of the doctor on files like
 * those of such a machine. The outputs in a guest are compared by {@code DoctorIT}.
 */
@Timeout(60)
class DoctorPageTest {
  private static final Path PAGE = Path.of("..", "docs", "doctor.md");
  private static final String FENCE = "```";
  private static final String LIBRARIES = "usr/lib/x86_64-linux-gnu/";

  @TempDir private Path root;
  private FakeMachine machine;

  /** A container on Debian with the libraries of rdma-core, and without a device. */
  @BeforeEach
  void bareMachine() throws IOException {
    List<String> summary = blockBelow("### A bare machine").subList(0, 1);
    machine =
        new FakeMachine(root)
            .file(".dockerenv", "")
            .file(LIBRARIES + "libibverbs.so.1", "")
            .file(LIBRARIES + "librdmacm.so.1", "")
            .file(LIBRARIES + "libibverbs/libmlx5-rdmav34.so", "")
            .memlock("unlimited", "unlimited")
            .variable("SPARK_LOCAL_DIRS", "/tmp")
            // MachineTest compares this reason with the engine's.
            .reason(summary.get(0).replace("RDMA will not be used: ", ""));
  }

  @Test
  void shouldShowAllProblemsOfABareMachine() throws IOException {
    List<String> shown = blockBelow("### A bare machine");
    List<String> output = output();

    assertThat(missing(shown, output)).isEmpty();
    assertThat(sectionsOfUnshownFindings(shown, output))
        .as("left out, as the page says, besides findings that are ok")
        .containsExactly("settings", "encryption", "encryption");
  }

  @Test
  void shouldShowAllMistakesInAFile() throws IOException {
    Path file = root.resolve("spark-defaults.conf");
    Files.writeString(
        file,
        """
        spark.shuffle.manager org.sparkrdma.shuffle.RdmaShuffleManager
        spark.shuffle.rdma.mode sometimes
        spark.shuffle.rdma.pined.max 1g
        spark.shuffle.rdma.lease.timeout 5s
        """);
    machine.conf(file);
    List<String> shown = blockBelow("### Three mistakes in a file");
    List<String> output = output();

    assertThat(missing(shown, output)).isEmpty();
    assertThat(shown).filteredOn(line -> line.startsWith("problem")).hasSize(3);
    assertThat(sectionsOfUnshownFindings(shown, output))
        .as("the page has all findings about the file")
        .doesNotContain("settings");
  }

  private List<String> output() {
    return new ReportText(new Style(false), LineWrap.NONE).of(machine.report()).lines().toList();
  }

  /** The first block below a heading of the page. */
  private static List<String> blockBelow(String heading) throws IOException {
    List<String> lines = Files.readAllLines(PAGE);
    List<String> below = lines.subList(lines.indexOf(heading) + 1, lines.size());
    List<String> block = below.subList(below.indexOf(FENCE) + 1, below.size());
    return block.subList(0, block.indexOf(FENCE));
  }

  /** The lines that the page shows and the output does not have in this order. */
  private static List<String> missing(List<String> shown, List<String> output) {
    List<String> missing = new ArrayList<>();
    int next = 0;
    for (String line : shown) {
      int found = output.subList(next, output.size()).indexOf(line);
      if (found < 0) {
        missing.add(line);
      } else {
        next += found + 1;
      }
    }
    return missing;
  }

  /** The check of each finding that is not ok and that the page does not show. */
  private static List<String> sectionsOfUnshownFindings(List<String> shown, List<String> output) {
    List<String> sections = new ArrayList<>();
    String section = "";
    for (int i = 1; i < output.size(); i++) {
      String line = output.get(i);
      if (output.get(i - 1).isEmpty()) {
        section = line;
      } else if (line.matches("(problem|warning|note) .*") && !shown.contains(line)) {
        sections.add(section);
      }
    }
    return sections;
  }
}
