// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.tools;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Commands of the jar with their output and exit codes, on the loopback engine and without a
 * device, and with wrong options and settings.
 */
@Timeout(60)
class CommandsTest {
  @TempDir private Path directory;
  private final StringWriter output = new StringWriter();
  private final StringWriter errors = new StringWriter();
  private String soft;

  @BeforeEach
  void writeSettings() throws IOException {
    soft =
        settings(
            """
            spark.shuffle.manager org.sparkrdma.shuffle.RdmaShuffleManager
            spark.shuffle.rdma.engine soft
            spark.local.dir DIRECTORY
            """
                .replace("DIRECTORY", directory.toString()));
  }

  private int run(String... arguments) {
    return Commands.run(new PrintWriter(output, true), new PrintWriter(errors, true), arguments);
  }

  private String settings(String text) throws IOException {
    return Files.writeString(Files.createTempFile(directory, "spark", ".conf"), text).toString();
  }

  @Test
  void shouldPrintTheAnswerAndAtMostThreeSteps() throws IOException {
    assertThat(run("doctor", "--conf", soft, "--host", "127.0.0.1")).isZero();
    assertThat(output.toString().lines().toList()).last().isEqualTo("All findings: -v.");
    output.getBuffer().setLength(0);
    String wrong =
        settings(
            """
            spark.shuffle.rdma.engine soft
            spark.shuffle.rdma.mode sometimes
            spark.shuffle.rdma.pined.max 1g
            spark.shuffle.useOldFetchProtocol true
            spark.local.dir /proc/none
            """);
    assertThat(run("doctor", "--conf", wrong)).isEqualTo(Commands.NOT_USABLE);
    assertThat(output.toString().lines().filter(line -> line.matches("[0-9]\\. .*"))).hasSize(3);
    assertThat(output.toString().lines().filter(line -> line.startsWith("   To do: ")))
        .doesNotHaveDuplicates();
  }

  @Test
  void shouldNameAMistypedEngineAndRepeatNoValueOfAnUnknownKey() throws IOException {
    String wrong =
        settings("spark.shuffle.rdma.engine verbs\nspark.shuffle.rdma.secret of-this-test\n");
    String file = directory.resolve("collected").toString();
    assertThat(run("doctor", "--conf", wrong, "--collect", file)).isEqualTo(Commands.NOT_USABLE);
    assertThat(errors.toString()).isEmpty();
    assertThat(output.toString())
        .contains("bad setting: key=spark.shuffle.rdma.engine value=verbs allowed=auto");
    assertThat(Files.readString(Path.of(file)))
        .contains("unknown setting: key=spark.shuffle.rdma.secret")
        .doesNotContain("of-this-test");
  }

  @Test
  void shouldEstimateByEventLogs() throws IOException {
    Path log = directory.resolve("app-1");
    Files.writeString(
        log,
        """
        {"Event":"SparkListenerLogStart","Spark Version":"4.2.0"}
        {"Event":"SparkListenerApplicationStart","App Name":"job","App ID":"app-1","Timestamp":1}
        """);
    assertThat(run("estimate", "--json", "--link", "25g", log.toString())).isZero();
    JsonNode answer = new ObjectMapper().readTree(output.toString());
    assertThat(answer.path("schema").asInt()).isEqualTo(1);
    assertThat(answer.path("link").asText()).isEqualTo("25g");
    assertThat(answer.path("applications").path(0).path("verdict").asText()).isEqualTo("none");
    assertThat(run("estimate", log.toString())).isZero();
    assertThat(output.toString()).contains("no verdict: no task has ended");
    assertThat(errors.toString()).isEmpty();
  }

  @Test
  void shouldRefuseAWrongArgumentOfAnEstimateWithOneLine() {
    assertThat(run("estimate", "--link", "fast")).isEqualTo(Commands.WRONG_USAGE);
    assertThat(errors.toString())
        .hasLineCount(1)
        .startsWith("Wrong value: key=--link value=fast allowed=bits per second");
    assertThat(output.toString()).isEmpty();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"spark.submit.deployMode=cluster", "spark.kubernetes.submitInDriver=true"})
  void shouldNotEstimateInClusterMode(String setting) {
    String key = setting.replaceFirst("=.*", "");
    System.setProperty(key, setting.substring(key.length() + 1));
    try {
      assertThat(run("estimate")).isEqualTo(Commands.WRONG_USAGE);
    } finally {
      System.clearProperty(key);
    }
    assertThat(errors.toString())
        .hasLineCount(1)
        .contains(
            "spark-submit --master local --deploy-mode client spark-rdma-shuffle.jar estimate");
  }

  @Test
  void shouldAnswerInJson() throws IOException {
    assertThat(run("doctor", "--json", "--conf", soft)).isZero();
    JsonNode answer = new ObjectMapper().readTree(output.toString());
    assertThat(answer.path("schema").asInt()).isEqualTo(1);
    assertThat(answer.path("usable").asBoolean()).isTrue();
    assertThat(answer.path("chosen").path("engine").asText()).isEqualTo("soft");
    assertThat(answer.path("findings").path("engine")).isNotEmpty();
    for (JsonNode check : answer.path("findings")) {
      for (JsonNode finding : check) {
        assertThat(finding.path("message").asText()).isNotBlank();
        assertThat(finding.path("advice").asText()).isNotBlank();
        assertThat(finding.path("level").asText()).isIn("ok", "note", "warning", "problem");
      }
    }
  }

  @Test
  void shouldListTheDevicesOfAllEngines() {
    assertThat(run("devices", "--conf", soft)).isZero();
    assertThat(output.toString())
        .startsWith("Would be used: device soft0")
        .contains("name: ibverbs", "name: disni", "maxReadSge: ", "address: 127.0.0.1");
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

  @Test
  void shouldNameAPeerThatIsNotReachedAsTheReason() throws IOException {
    String unreached = "Peer 127.0.0.1 port 1 is not reached by TCP: ";
    assertThat(run("doctor", "--conf", soft, "--host", "127.0.0.1", "--peer", "127.0.0.1:1"))
        .isEqualTo(Commands.NOT_USABLE);
    assertThat(output.toString())
        .startsWith("RDMA will not be used: " + unreached)
        .contains("To do: start there, with the same jar: ");

    output.getBuffer().setLength(0);
    String none = settings("spark.shuffle.rdma.engine soft\nspark.shuffle.rdma.device none\n");
    assertThat(run("doctor", "-v", "--conf", none, "--peer", "127.0.0.1:1"))
        .isEqualTo(Commands.NOT_USABLE);
    assertThat(output.toString())
        .contains("\npeer\nproblem  " + unreached + "Connection refused")
        .contains("note     RDMA to 127.0.0.1 was not tested, because");
    assertThat(output.toString().lines().findFirst().orElseThrow())
        .contains("none does not exist")
        .endsWith(unreached + "Connection refused");
  }

  @Test
  void shouldNameFileAndCauseBeforeItCollects() {
    Path zip = directory.resolve("none").resolve("card.zip");
    assertThat(run("doctor", "--conf", soft, "--collect", zip.toString()))
        .isEqualTo(Commands.WRONG_USAGE);
    assertThat(errors.toString())
        .hasLineCount(1)
        .startsWith("Cannot write --collect " + zip + ": java.nio.file.NoSuchFileException");
    assertThat(run("doctor", "--conf", soft, "--collect", soft)).isEqualTo(Commands.WRONG_USAGE);
    assertThat(errors.toString())
        .contains("Cannot write --collect " + soft + ": java.nio.file.FileAlreadyExistsException");
    if (Files.isDirectory(Path.of("/proc/self"))) {
      assertThat(run("doctor", "--conf", soft, "--collect", "/proc/card.zip"))
          .isEqualTo(Commands.WRONG_USAGE);
      assertThat(errors.toString()).contains("Cannot write --collect /proc/card.zip: ");
    }
    assertThat(output.toString()).isEmpty();
  }

  @Test
  void shouldReportAPortThatIsTakenAsWrongUsage() throws IOException {
    try (ServerSocket taken = new ServerSocket(0)) {
      String port = Integer.toString(taken.getLocalPort());
      assertThat(run("doctor", "--conf", soft, "--host=127.0.0.1", "--listen", port))
          .isEqualTo(Commands.WRONG_USAGE);
      assertThat(errors.toString()).hasLineCount(1).startsWith("Cannot listen at TCP port " + port);
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "fly",
        "doctor --jsn",
        "doctor --listen x",
        "doctor --conf /none",
        "devices x",
        "doctor --host no.such.host.invalid",
        "doctor --peer a:b:c",
        "doctor --peer host:70000",
        "doctor --listen 70000",
        "doctor --conf="
      })
  void shouldRefuseWrongUsageInOneSentence(String arguments) {
    assertThat(run(arguments.isEmpty() ? new String[0] : arguments.split(" ", -1)))
        .isEqualTo(Commands.WRONG_USAGE);
    assertThat(errors.toString()).hasLineCount(1).contains("--help)");
    assertThat(output.toString()).isEmpty();
  }
}
