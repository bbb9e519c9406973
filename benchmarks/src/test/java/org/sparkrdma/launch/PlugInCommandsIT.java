// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.launch;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The commands of the plug-in's jar as a user runs them: {@code java -jar}, without Spark. */
@Timeout(120)
class PlugInCommandsIT {
  /** About 2 MB, of which the two command libraries and the native library take a fifth. */
  private static final long MAX_JAR_BYTES = 2_200_000;

  private static final int NOT_USED = 1;
  private static final int WRONG_USAGE = 2;
  private static final Pattern LISTENING = Pattern.compile("Listening at TCP port (\\d+)");

  @TempDir private Path directory;

  private record Outcome(int exitCode, String output, String errors) {}

  @Test
  void shouldKeepTheJarSmall() throws Exception {
    assertThat(Files.size(PlugInJar.path())).isLessThan(MAX_JAR_BYTES);
  }

  @ParameterizedTest
  @ValueSource(strings = {"a!b!/c!", "with space", "50%21 caf\u00e9#?"})
  void shouldRunFromAFolderOfAnyName(String folder) throws Exception {
    Path jar = Files.createDirectories(directory.resolve(folder)).resolve("plug-in.jar");
    Files.copy(PlugInJar.path(), jar);
    Outcome outcome = run(PlugInJar.command(jar, "devices"));
    assertThat(outcome.output()).contains("soft0");
    assertThat(outcome.errors()).isEmpty();
  }

  @Test
  void shouldListTheLoopbackDeviceAndChooseItByName() throws Exception {
    Path conf = directory.resolve("spark-defaults.conf");
    Files.writeString(conf, "spark.shuffle.rdma.engine soft\n");
    Outcome outcome = run("devices", "--json", "--conf", conf.toString());
    assertThat(outcome.errors()).isEmpty();
    JsonNode answer = new ObjectMapper().readTree(outcome.output());
    assertThat(answer.path("schema").asInt()).isEqualTo(1);
    assertThat(answer.path("chosen").path("device").asText()).isEqualTo("soft0");
    assertThat(answer.path("engines").findValuesAsText("maxSge")).contains("16");
    assertThat(outcome.exitCode()).isZero();
  }

  @Test
  void shouldSayHowToRunACommandThatNeedsSpark() throws Exception {
    Outcome outcome = run("estimate", directory.toString());
    assertThat(outcome.exitCode()).isEqualTo(WRONG_USAGE);
    assertThat(outcome.output()).isEmpty();
    assertThat(outcome.errors())
        .hasLineCount(1)
        .contains(
            "spark-submit --master local --deploy-mode client spark-rdma-shuffle.jar estimate");
    assertThat(run("estimate", "--help").output()).contains("[LOG...]", "--costs", "--link");
  }

  @Test
  void shouldPrintAllFindingsAndPackThem() throws Exception {
    Path conf = directory.resolve("spark-defaults.conf");
    Files.writeString(conf, "spark.shuffle.rdma.engine soft\n");
    Outcome all = run("doctor", "-v", "--conf", conf.toString());
    assertThat(all.errors()).isEmpty();
    assertThat(all.output()).contains("ok       Opened device soft0 port 1 ");

    Path archive = directory.resolve("findings.txt");
    Outcome collected = run("doctor", "--collect", archive.toString(), "--conf", conf.toString());
    assertThat(collected.errors()).isEmpty();
    assertThat(archive).content().startsWith("doctor\n").contains("\nfiles of the kernel\n");
  }

  @Test
  void shouldReachAListenerInAnotherProcess() throws Exception {
    Path conf = directory.resolve("spark-defaults.conf");
    Files.writeString(
        conf,
        """
        spark.shuffle.manager org.sparkrdma.shuffle.RdmaShuffleManager
        spark.shuffle.rdma.engine soft
        spark.local.dir %s
        """
            .formatted(directory));
    String[] common = {"--conf", conf.toString(), "--host", "127.0.0.1"};
    String peer;
    Process listener =
        new ProcessBuilder(
                PlugInJar.command(PlugInJar.path(), with(common, "doctor", "--listen", "0")))
            .redirectError(directory.resolve("errors-of-the-listener").toFile())
            .start();
    try {
      Matcher line = LISTENING.matcher(listener.inputReader().readLine());
      assertThat(line.lookingAt()).as(line.toString()).isTrue();
      peer = "127.0.0.1:" + line.group(1);

      Outcome outcome = run(with(common, "doctor", "-v", "--peer", peer));
      assertThat(outcome.errors()).isEmpty();
      assertThat(outcome.output())
          .startsWith("RDMA will be used: device soft0 ")
          .containsPattern("(?m)^ok +Peer 127\\.0\\.0\\.1 answers by TCP\\.$")
          .containsPattern("(?m)^ok +RDMA from=.* to=.*: a READ of 8 bytes takes ");
      assertThat(outcome.exitCode()).isZero();
    } finally {
      listener.destroy();
      listener.waitFor();
    }
    assertThat(directory.resolve("errors-of-the-listener")).isEmptyFile();

    Outcome alone = run(with(common, "doctor", "--peer", peer));
    assertThat(alone.output())
        .startsWith("RDMA will not be used: Peer 127.0.0.1 port ")
        .contains("is not reached by TCP: Connection refused");
    assertThat(alone.exitCode()).isEqualTo(NOT_USED);
  }

  private static String[] with(String[] common, String... first) {
    return Stream.concat(Stream.of(first), Stream.of(common)).toArray(String[]::new);
  }

  private Outcome run(String... arguments) throws Exception {
    return run(PlugInJar.command(PlugInJar.path(), arguments));
  }

  private Outcome run(List<String> command) throws Exception {
    Path output = directory.resolve("output");
    Path errors = directory.resolve("errors");
    int exitCode =
        new ProcessBuilder(command)
            .redirectOutput(output.toFile())
            .redirectError(errors.toFile())
            .start()
            .waitFor();
    return new Outcome(exitCode, Files.readString(output), Files.readString(errors));
  }
}
