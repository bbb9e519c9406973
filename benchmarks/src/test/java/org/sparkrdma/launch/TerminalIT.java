// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.launch;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.File;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Colours, the live line and line breaks of the packaged commands: on a terminal and not in a pipe.
 * The terminal is that of {@code script}.
 */
@Timeout(120)
class TerminalIT {
  private static final String ESCAPE = "\u001b";
  private static final int COLUMNS = 72;
  private static final String LIVE = "\rREAD of 64 bytes";
  private static final String INDENT = " ".repeat(9);
  private static final Pattern LISTENING = Pattern.compile("Listening at TCP port (\\d+)");

  @TempDir private Path directory;
  private String conf;

  @BeforeEach
  void writeSettings() throws Exception {
    assumeTrue(
        Stream.of(System.getenv("PATH").split(File.pathSeparator, -1))
            .anyMatch(folder -> Files.isExecutable(Path.of(folder, "script"))),
        "no program script: install bsdutils");
    conf = directory.resolve("spark-defaults.conf").toString();
    Files.writeString(Path.of(conf), "spark.shuffle.rdma.engine soft\n");
  }

  @Test
  void shouldUseColorsOnATerminalOnly() throws Exception {
    List<String> doctor = PlugInJar.command("doctor", "--conf", conf);
    assertThat(onTerminal(doctor, Map.of())).startsWith(ESCAPE).contains(": ");
    assertThat(inPipe(doctor, Map.of())).doesNotContain(ESCAPE);
  }

  @ParameterizedTest
  @ValueSource(strings = {"NO_COLOR=1", "TERM=dumb"})
  void shouldUseNoColorsWhereTheEnvironmentForbidsThem(String variable) throws Exception {
    String[] pair = variable.split("=", 2);
    List<String> doctor = PlugInJar.command("doctor", "--conf", conf);
    assertThat(onTerminal(doctor, Map.of(pair[0], pair[1])))
        .startsWith("RDMA will ")
        .doesNotContain(ESCAPE);
  }

  @Test
  void shouldBreakLinesOnATerminalOnly() throws Exception {
    List<String> doctor = PlugInJar.command("doctor", "-v", "--conf", conf);
    String piped = inPipe(doctor, Map.of("COLUMNS", "" + COLUMNS));
    assertThat(piped.lines()).anyMatch(line -> line.length() > COLUMNS);
    String width = "stty cols " + COLUMNS + "; ";
    assertBroken(onTerminal(width, doctor, Map.of("NO_COLOR", "1")), piped);
    Map<String, String> columns = Map.of("NO_COLOR", "1", "COLUMNS", "" + COLUMNS);
    assertBroken(onTerminal("stty cols 200; ", doctor, columns), piped);
  }

  private static void assertBroken(String terminal, String piped) {
    assertThat(words(terminal)).isEqualTo(words(piped));
    // A word that is longer than a line stays whole, such as the name of a directory.
    assertThat(terminal.lines())
        .filteredOn(line -> !line.matches("\\w* *\\S+"))
        .allMatch(line -> line.length() <= COLUMNS)
        .anyMatch(line -> line.length() > COLUMNS - 20);
    assertThat(terminal.lines().filter(line -> line.startsWith(INDENT + "To do: "))).isNotEmpty();
  }

  private static String words(String text) {
    // Sizes and speeds differ from one run to the next.
    return text.replaceAll("\\s+", " ").replaceAll("[0-9.,]+", "N");
  }

  @Test
  void shouldShowTheLiveLineOnATerminalOnly() throws Exception {
    Process server =
        new ProcessBuilder(
                PlugInJar.command(
                    "perf", "server", "--port", "0", "--conf", conf, "--host", "127.0.0.1"))
            .redirectError(directory.resolve("errors-of-the-server").toFile())
            .start();
    try {
      Matcher line = LISTENING.matcher(server.inputReader().readLine());
      assertThat(line.lookingAt()).as(line.toString()).isTrue();
      String peer = "127.0.0.1:" + line.group(1);
      List<String> client =
          PlugInJar.command(
              "perf",
              "client",
              peer,
              "--conf",
              conf,
              "--host",
              "127.0.0.1",
              "--sizes",
              "64",
              "--ms",
              "20");
      assertThat(onTerminal(client, Map.of("NO_COLOR", "1")))
          .contains(LIVE, "\rTCP of 64 bytes", "\rEngine soft")
          .doesNotContain(ESCAPE);
      assertThat(errors()).isEmptyFile();
      assertThat(inPipe(client, Map.of("CLICOLOR_FORCE", "1")))
          .contains("Engine soft", ESCAPE)
          .doesNotContain("\r");
      assertThat(errors()).isEmptyFile();
    } finally {
      server.destroy();
      server.waitFor();
    }
  }

  private Path errors() {
    return directory.resolve("errors");
  }

  /** The output on a terminal; the errors go to a file. */
  private String onTerminal(List<String> command, Map<String, String> environment)
      throws Exception {
    return onTerminal("", command, environment);
  }

  /**
   * The same.
   *
   * @param before commands of the shell
   */
  private String onTerminal(String before, List<String> command, Map<String, String> environment)
      throws Exception {
    String line =
        before
            + command.stream().map(word -> "'" + word + "'").collect(Collectors.joining(" "))
            + " 2>'"
            + errors()
            + "'";
    return output(
        new ProcessBuilder("script", "-qec", line, "/dev/null")
            .redirectError(ProcessBuilder.Redirect.INHERIT),
        environment);
  }

  private String inPipe(List<String> command, Map<String, String> environment) throws Exception {
    return output(new ProcessBuilder(command).redirectError(errors().toFile()), environment);
  }

  private static String output(ProcessBuilder builder, Map<String, String> environment)
      throws Exception {
    builder
        .environment()
        .keySet()
        .removeAll(List.of("NO_COLOR", "CLICOLOR", "CLICOLOR_FORCE", "COLUMNS"));
    builder.environment().put("TERM", "xterm");
    builder.environment().putAll(environment);
    Process process = builder.start();
    process.getOutputStream().close();
    String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    process.waitFor();
    return output;
  }
}
