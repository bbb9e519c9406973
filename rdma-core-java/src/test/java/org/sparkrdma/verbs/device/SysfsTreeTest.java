// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.device;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * The commands of docs/doctor.md that capture the files of a card, on files like those of a card:
 * they give the text that {@link SysfsTree} reads.
 */
@Timeout(60)
class SysfsTreeTest {
  private static final Path PAGE = Path.of("..", "docs", "doctor.md");
  private static final List<String> FIRST_WORDS = List.of("(cd / && grep -rsI ", "ethtool -S ");

  @TempDir private Path directory;

  @Test
  void shouldReadWhatTheDocumentedCommandsCapture() throws Exception {
    String card = SysfsTree.text("mlx5-roce");
    Path root = directory.resolve("root");
    SysfsTree known = SysfsTree.write(card, root);
    fakeEthtool("NIC statistics:\\n     rx_prio0_pause: 0\\n     rx_prio3_pause: 8\\n");

    for (String command : documented()) {
      run(
          command
              .replace("cd / ", "cd " + root + " ")
              .replace("DEVICE", "mlx5_0")
              .replace("INTERFACE", "eth2"));
    }

    String captured = Files.readString(directory.resolve("mlx5_0.txt"));
    assertThat(lines(captured)).containsAll(linesOf(card, "sys/class/infiniband/mlx5_0/"));
    assertThat(lines(captured)).containsAll(linesOf(card, "sys/class/net/eth2/"));
    assertThat(linesOf(card, "sys/class/infiniband/mlx5_0/")).hasSizeGreaterThan(10);
    assertThat(SysfsTree.write(captured, directory.resolve("again")).statistics().get("eth2"))
        .containsEntry("rx_prio3_pause", 8L)
        .hasSize(2);
    assertThat(known.statistics().get("eth2")).containsEntry("rx_prio3_pause", 8L);
  }

  private static List<String> documented() throws IOException {
    try (Stream<String> lines = Files.lines(PAGE)) {
      List<String> commands =
          lines.filter(line -> FIRST_WORDS.stream().anyMatch(line::startsWith)).toList();
      assertThat(commands).hasSize(FIRST_WORDS.size());
      return commands;
    }
  }

  private static Set<String> lines(String text) {
    return text.lines().collect(Collectors.toSet());
  }

  private static List<String> linesOf(String text, String path) {
    return text.lines().filter(line -> line.startsWith(path)).toList();
  }

  private void fakeEthtool(String output) throws IOException {
    Path program = directory.resolve("ethtool");
    Files.writeString(program, "#!/bin/sh\nprintf '" + output + "'\n");
    assertThat(program.toFile().setExecutable(true)).isTrue();
  }

  private void run(String command) throws IOException, InterruptedException {
    ProcessBuilder builder =
        new ProcessBuilder("bash", "-c", command)
            .directory(directory.toFile())
            .redirectErrorStream(true);
    String path = directory + File.pathSeparator + System.getenv("PATH");
    builder.environment().put("PATH", path);
    Process process = builder.start();
    assertThat(process.waitFor(30, TimeUnit.SECONDS)).as(command).isTrue();
    assertThat(new String(process.getInputStream().readAllBytes(), UTF_8)).as(command).isEmpty();
  }
}
