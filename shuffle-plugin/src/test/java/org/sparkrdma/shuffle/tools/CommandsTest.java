// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.tools;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.Writer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.zip.ZipEntry;
import java.util.zip.ZipFile;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Commands with their output and exit codes, on the loopback engine and without a device. */
class CommandsTest extends CommandsFixture {
  private static final String ESCAPE = "\u001b[";

  @Test
  void shouldReportThatTheLoopbackDeviceWillBeUsed() {
    assertThat(run("doctor", "-v", "--conf", soft)).isZero();
    assertThat(output.toString())
        .startsWith("RDMA will be used: device soft0 port 1 of engine soft at ")
        .contains(directory + " is on ", "A file there was registered.")
        .doesNotContain(ESCAPE);
  }

  @Test
  void shouldReportThatRdmaWillNotBeUsedWithoutADevice() throws IOException {
    String none = settings("spark.shuffle.rdma.engine soft\nspark.shuffle.rdma.device none\n");
    assertThat(run("doctor", "--conf", none)).isEqualTo(Commands.NOT_USABLE);
    assertThat(output.toString().lines().findFirst().orElseThrow())
        .startsWith("RDMA will not be used: ")
        .contains("none does not exist", "spark.shuffle.manager is not");
  }

  @Test
  void shouldWarnOfAHostWithAnAddressThatThisHostDoesNotHave() {
    assertThat(run("doctor", "--conf", soft, "--host", "203.0.113.77")).isZero();
    assertThat(output.toString())
        .contains("1. 203.0.113.77, assumed to be Spark's own address, is not an address")
        .contains("   To do: run this on the host that has it");
    output.getBuffer().setLength(0);
    run("doctor", "-v", "--conf", soft, "--host", "127.0.0.1");
    assertThat(output.toString()).doesNotContain("assumed to be Spark's own address");
  }

  @Test
  void shouldPrintTheAnswerAtMostThreeStepsAndTheChecksThatPassed() throws IOException {
    assertThat(run("doctor", "--conf", soft, "--host", "127.0.0.1")).isZero();
    assertThat(output.toString().lines().toList())
        .last()
        .asString()
        .matches("Checks passed: [0-9]+ of [0-9]+\\. All findings: -v\\.");
    output.getBuffer().setLength(0);
    String wrong =
        settings(
            """
            spark.shuffle.rdma.engine soft
            spark.shuffle.rdma.mode sometimes
            spark.shuffle.rdma.pined.max 1g
            spark.rdma.mode off
            spark.local.dir /proc/none
            """);
    assertThat(run("doctor", "--conf", wrong)).isEqualTo(Commands.NOT_USABLE);
    assertThat(output.toString().lines().filter(line -> line.matches("[0-9]\\. .*"))).hasSize(3);
    assertThat(output.toString().lines().filter(line -> line.startsWith("   To do: ")))
        .doesNotHaveDuplicates();
  }

  @Test
  void shouldPackAnArchiveWithoutAddressesAndSettingsOfOthers() throws IOException {
    String conf =
        settings(Files.readString(Path.of(soft)) + "spark.authenticate.secret of-this-test\n");
    Path zip = directory.resolve("card.zip");
    assertThat(run("doctor", "--conf", conf, "--host", "127.0.0.1", "--collect", zip.toString()))
        .isZero();
    assertThat(output.toString()).startsWith("RDMA will be used: ");
    Map<String, String> texts = new TreeMap<>();
    try (ZipFile file = new ZipFile(zip.toFile())) {
      for (ZipEntry entry : Collections.list(file.entries())) {
        texts.put(
            entry.getName(),
            new String(file.getInputStream(entry).readAllBytes(), StandardCharsets.UTF_8));
      }
    }
    assertThat(texts).containsKeys("doctor.json", "devices.json", "settings.txt", "system.txt");
    assertThat(new ObjectMapper().readTree(texts.get("doctor.json")).path("usable").asBoolean())
        .isTrue();
    assertThat(new ObjectMapper().readTree(texts.get("devices.json")).path("engines")).isNotEmpty();
    assertThat(texts.get("settings.txt")).isEqualTo("spark.shuffle.rdma.engine=soft\n");
    assertThat(texts.values()).noneMatch(text -> text.contains("of-this-test"));
    assertThat(zip)
        .isNotEmptyFile()
        .satisfies(file -> assertThat(Files.size(file)).isLessThan(1 << 20));
  }

  @Test
  void shouldAnswerInJson() throws IOException {
    assertThat(run("doctor", "--json", "--conf", soft)).isZero();
    JsonNode answer = new ObjectMapper().readTree(output.toString());
    assertThat(answer.path("schema").asInt()).isEqualTo(1);
    assertThat(answer.path("usable").asBoolean()).isTrue();
    assertThat(answer.path("chosen").path("engine").asText()).isEqualTo("soft");
    assertThat(answer.path("findings"))
        .isNotEmpty()
        .allSatisfy(
            finding -> {
              assertThat(finding.path("message").asText()).isNotBlank();
              assertThat(finding.path("toDo").asText()).isNotBlank();
              assertThat(finding.path("level").asText()).isIn("ok", "note", "warning", "problem");
            });
  }

  @Test
  void shouldReportOutputThatCannotBeWritten() {
    Writer full =
        new Writer() {
          @Override
          public void write(char[] text, int offset, int length) throws IOException {
            throw new IOException("No space left on device");
          }

          @Override
          public void flush() {
            // Nothing is buffered.
          }

          @Override
          public void close() {
            // Nothing is open.
          }
        };
    PrintWriter errorWriter = new PrintWriter(errors, true);
    assertThat(Commands.run(new PrintWriter(full, true), errorWriter, "devices", "--conf", soft))
        .isEqualTo(Commands.WRONG_USAGE);
    assertThat(errors.toString())
        .hasLineCount(1)
        .startsWith("The output is not complete, because it could not be written: ");
  }

  @Test
  void shouldSayWhatToDoWhereNoDeviceIsListed() throws IOException {
    String none = settings("spark.shuffle.rdma.engine soft\nspark.shuffle.rdma.device none\n");
    assertThat(run("devices", "--conf", none)).isEqualTo(Commands.NOT_USABLE);
    assertThat(output.toString().lines().findFirst().orElseThrow())
        .startsWith("No device would be used: ")
        .endsWith("; run here: java -jar shuffle-plugin.jar doctor");
  }

  @ParameterizedTest
  @ValueSource(strings = {"ar-EG", "de-DE"})
  void shouldPrintTheSameFiguresUnderEveryLocale(String locale) {
    Locale before = Locale.getDefault();
    try {
      Locale.setDefault(Locale.forLanguageTag(locale));
      assertThat(run("doctor", "-v", "--conf", soft, "--host=127.0.0.1")).isZero();
      assertThat(
              run(
                  "doctor",
                  "--conf",
                  soft,
                  "--host=127.0.0.1",
                  "--listen",
                  "0",
                  "--listen-for",
                  "1"))
          .isZero();
    } finally {
      Locale.setDefault(before);
    }
    assertThat(output.toString())
        .containsPattern("An executor may pin [0-9]+ MiB: ")
        .containsPattern("Problems: 0, warnings: [0-9]+, ")
        .containsPattern("Listening at TCP port [0-9]+, by RDMA at \\[127.0.0.1/8:[0-9]+[],]")
        .matches("[\\p{ASCII}]*");
  }

  @Test
  void shouldUseColorsOnRequest() {
    run("doctor", "--color=always", "--conf", soft);
    assertThat(output.toString()).startsWith(ESCAPE);
  }

  @Test
  void shouldListTheLimitsOfDevices() {
    assertThat(run("devices", "--conf", soft)).isZero();
    assertThat(output.toString())
        .startsWith("Would be used: device soft0")
        .contains("engine ibverbs", "engine disni", "maxReadSge:", "loopback 127.0.0.1");
  }

  @Test
  void shouldNameTheConditionInTheListOfDevices() throws IOException {
    String condition =
        ", if spark.shuffle.manager is set to org.sparkrdma.shuffle.RdmaShuffleManager";
    run("devices", "--conf", settings("spark.shuffle.rdma.engine soft\n"));
    assertThat(output.toString().lines().findFirst().orElseThrow())
        .startsWith("Would be used: device soft0")
        .endsWith(condition);
    output.getBuffer().setLength(0);
    run("devices", "--conf", soft);
    assertThat(output.toString()).startsWith("Would be used: ").doesNotContain(condition);
  }

  @Test
  void shouldNotColorWhereTheTerminalIsDumb() {
    String ansi = "picocli.ansi";
    System.setProperty(ansi, "true");
    try {
      assertThat(OutputOptions.colorsByDefault(Map.of("TERM", "xterm"))).isTrue();
      assertThat(OutputOptions.colorsByDefault(Map.of())).isTrue();
      assertThat(OutputOptions.colorsByDefault(Map.of("TERM", "dumb"))).isFalse();
    } finally {
      System.clearProperty(ansi);
    }
  }

  @Test
  void shouldWriteJsonThatOthersRead() throws IOException {
    String hard = "quote \" backslash \\ line\n tab\t \u00e9 \u2028";
    JsonNode read =
        new ObjectMapper()
            .readTree(Json.of(Map.of("text", hard, "list", List.of(1, true, List.of()))));
    assertThat(read.path("text").asText()).isEqualTo(hard);
    assertThat(read.path("list").toString()).isEqualTo("[1,true,[]]");
  }
}
