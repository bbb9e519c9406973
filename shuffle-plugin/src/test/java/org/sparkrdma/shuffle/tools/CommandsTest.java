// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.tools;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.io.Writer;
import java.net.ServerSocket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;
import java.util.zip.ZipEntry;
import java.util.zip.ZipFile;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Commands with their output and exit codes, on the loopback engine and without a device. */
@Timeout(60)
class CommandsTest {
  private static final String ESCAPE = "\u001b[";

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

  @Test
  void shouldReportThatTheLoopbackDeviceWillBeUsed() {
    assertThat(run("doctor", "--conf", soft)).isZero();
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
        .contains("warning  203.0.113.77, assumed to be Spark's own address, is not an address");
    output.getBuffer().setLength(0);
    run("doctor", "--conf", soft, "--host", "127.0.0.1");
    assertThat(output.toString()).doesNotContain("assumed to be Spark's own address");
  }

  @Test
  void shouldPackAnArchiveWithoutAddressesAndSettingsOfOthers() throws IOException {
    String conf =
        settings(Files.readString(Path.of(soft)) + "spark.authenticate.secret of-this-test\n");
    Path zip = directory.resolve("card.zip");
    assertThat(run("doctor", "--conf", conf, "--host", "127.0.0.1", "--collect", zip.toString()))
        .isZero();
    assertThat(output.toString())
        .startsWith("RDMA will be used: ")
        .contains("Packed into " + zip + ", without addresses:", "  doctor.json ");
    Map<String, String> texts = new TreeMap<>();
    try (ZipFile file = new ZipFile(zip.toFile())) {
      for (ZipEntry entry : Collections.list(file.entries())) {
        texts.put(
            entry.getName(),
            new String(file.getInputStream(entry).readAllBytes(), StandardCharsets.UTF_8));
      }
    }
    assertThat(texts)
        .containsKeys(
            "README.txt",
            "versions.txt",
            "doctor.json",
            "devices.json",
            "settings.txt",
            "system.txt",
            "counters-1.txt",
            "counters-2.txt");
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
  void shouldNameFileAndCauseBeforeItCollects() {
    Path zip = directory.resolve("none").resolve("card.zip");
    assertThat(run("doctor", "--conf", soft, "--collect", zip.toString()))
        .isEqualTo(Commands.WRONG_USAGE);
    assertThat(errors.toString())
        .startsWith("Cannot write --collect " + zip + ": its folder does not exist");
    assertThat(run("doctor", "--conf", soft, "--collect", soft)).isEqualTo(Commands.WRONG_USAGE);
    assertThat(errors.toString()).contains("Cannot write --collect " + soft + ": it exists");
    if (Files.isDirectory(Path.of("/proc/self"))) {
      assertThat(run("doctor", "--conf", soft, "--collect", "/proc/card.zip"))
          .isEqualTo(Commands.WRONG_USAGE);
      assertThat(errors.toString())
          .contains("Cannot write --collect /proc/card.zip: its folder takes no new files");
    }
    assertThat(run("doctor", "--with-addresses")).isEqualTo(Commands.WRONG_USAGE);
    assertThat(output.toString()).isEmpty();
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
  void shouldOpenEveryDeviceAndSayWhatTheSettingsExclude() throws IOException {
    String other = settings("spark.shuffle.rdma.engine soft\nspark.shuffle.rdma.device mlx5_7\n");
    assertThat(run("doctor", "--all", "--conf", other)).isEqualTo(Commands.NOT_USABLE);
    assertThat(output.toString())
        .startsWith("RDMA will not be used: ")
        .contains("\nall devices\nnote     soft0 port 1 is usable at ")
        .contains(" The settings exclude it: spark.shuffle.rdma.device=mlx5_7.\n         To do: ");
    output.getBuffer().setLength(0);
    assertThat(run("doctor", "--all", "--json", "--conf", soft)).isZero();
    JsonNode findings = new ObjectMapper().readTree(output.toString()).path("findings");
    assertThat(findings)
        .filteredOn(finding -> finding.path("check").asText().equals("all devices"))
        .singleElement()
        .satisfies(finding -> assertThat(finding.path("level").asText()).isEqualTo("ok"))
        .satisfies(
            finding ->
                assertThat(finding.path("message").asText())
                    .startsWith("soft0 port 1 is usable at ")
                    .endsWith("registered a file in each local directory."));
  }

  @Test
  void shouldOpenOnlyTheChosenDeviceWithoutTheOption() {
    run("doctor", "--conf", soft);
    assertThat(output.toString()).doesNotContain("all devices");
  }

  @Test
  void shouldNameAPeerThatIsNotReachedAsTheReason() {
    assertThat(run("doctor", "--conf", soft, "--host", "127.0.0.1", "--peer", "127.0.0.1:1"))
        .isEqualTo(Commands.NOT_USABLE);
    assertThat(output.toString())
        .startsWith("RDMA will not be used: Peer 127.0.0.1 port 1 is not reached by TCP: ")
        .contains("To do: start there: java -jar shuffle-plugin.jar doctor --listen 1, and let");
  }

  @Test
  void shouldReportAPeerWhereNoDeviceOpens() throws IOException {
    String none = settings("spark.shuffle.rdma.engine soft\nspark.shuffle.rdma.device none\n");
    String notTested =
        """
         was not tested, because an executor would use no device here.
                 To do: solve the problems under engine, then run this again
        """;
    assertThat(run("doctor", "--conf", none, "--peer", "127.0.0.1:1"))
        .isEqualTo(Commands.NOT_USABLE);
    assertThat(output.toString())
        .contains(
            "\npeer\nproblem  Peer 127.0.0.1 port 1 is not reached by TCP: Connection refused")
        .contains("note     RDMA to 127.0.0.1" + notTested);
    assertThat(output.toString().lines().findFirst().orElseThrow())
        .contains("none does not exist")
        .endsWith("; Peer 127.0.0.1 port 1 is not reached by TCP: Connection refused");
    output.getBuffer().setLength(0);
    assertThat(run("doctor", "--conf", none, "--peer", "no.such.host.invalid"))
        .isEqualTo(Commands.NOT_USABLE);
    assertThat(output.toString())
        .contains(
            "\nproblem  Peer no.such.host.invalid is an unknown host: its name has no address")
        .contains("To do: correct the name, or give the address of the peer")
        .contains("note     RDMA to no.such.host.invalid" + notTested);
  }

  @Test
  void shouldPrintOneLineOfJsonWhenItListens() throws IOException {
    String[] listen = {"doctor", "--json", "--host=127.0.0.1", "--listen=0", "--listen-for=1"};
    assertThat(run(with(listen, "--conf", soft))).isZero();
    assertThat(output.toString())
        .hasLineCount(1)
        .startsWith("{\"schema\": 1, \"usable\": true, \"port\": ");
    JsonNode line = new ObjectMapper().readTree(output.toString());
    assertThat(line.path("schema").asInt()).isEqualTo(1);
    assertThat(line.path("usable").asBoolean()).isTrue();
    assertThat(line.path("port").asInt()).isPositive();
    assertThat(line.path("addresses").get(0).asText()).startsWith("127.0.0.1/8:");

    output.getBuffer().setLength(0);
    String none = settings("spark.shuffle.rdma.engine soft\nspark.shuffle.rdma.device none\n");
    assertThat(run(with(listen, "--conf", none))).isEqualTo(Commands.NOT_USABLE);
    assertThat(output.toString()).hasLineCount(1);
    JsonNode refusal = new ObjectMapper().readTree(output.toString());
    assertThat(refusal.path("usable").asBoolean(true)).isFalse();
    assertThat(refusal.path("summary").asText()).contains("none does not exist");
  }

  private static String[] with(String[] arguments, String... more) {
    return Stream.of(arguments, more).flatMap(Stream::of).toArray(String[]::new);
  }

  @Test
  void shouldListenForTheTimeGiven() {
    assertThat(
            run("doctor", "--conf", soft, "--host=127.0.0.1", "--listen", "0", "--listen-for", "1"))
        .isZero();
    assertThat(output.toString())
        .startsWith("Listening at TCP port ")
        .contains("[127.0.0.1/8:")
        .contains(
            ", for 1 s. On another host: java -jar shuffle-plugin.jar doctor --peer 127.0.0.1:");
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
  void shouldRefuseNamesThatAreNoPath() {
    for (String option : List.of("--conf", "--collect")) {
      errors.getBuffer().setLength(0);
      assertThat(run("doctor", option, "a\0b")).isEqualTo(Commands.WRONG_USAGE);
      assertThat(errors.toString())
          .hasLineCount(1)
          .contains(option + " a\0b: its name has a NUL character (see ");
    }
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
      assertThat(run("doctor", "--conf", soft, "--host=127.0.0.1")).isZero();
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

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "fly",
        "doctor --jsn",
        "doctor --color blue",
        "doctor --conf /none",
        "devices x",
        "doctor --host no.such.host.invalid",
        "doctor --peer a:b:c",
        "doctor --peer host:70000",
        "doctor --listen 70000",
        "doctor --listen --listen-for 0",
        "doctor --conf="
      })
  void shouldRefuseWrongUsageInOneSentence(String arguments) {
    assertThat(run(arguments.isEmpty() ? new String[0] : arguments.split(" ", -1)))
        .isEqualTo(Commands.WRONG_USAGE);
    assertThat(errors.toString()).hasLineCount(1).contains("--help)");
    assertThat(output.toString()).isEmpty();
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          doctor --listen 0 --peer a | Wrong value: --listen with --peer allowed=one of them
          doctor --listen 0 --all    | Wrong value: --listen with --all allowed=one of them
          doctor --listen-for 5      | --listen-for has a meaning with --listen only
          doctor --listen=abc        | Wrong value: --listen abc allowed=a port from 0 to 65535
          doctor --listen= --listen-for=2s | Wrong value: --listen  allowed=a port from 0 to 65535
          perf server --port x       | Wrong value: --port x allowed=a port from 0 to 65535
          perf client a --at-once x  | Wrong value: --at-once x allowed=a whole number from 1 to 64
          doctor --color=red         | Wrong value: --color red allowed=auto, always or never
          doctor --conf /no/such     | Cannot read --conf /no/such: no such file
          doctor --conf /            | Cannot read --conf /: Is a directory
          doctor --conf /dev/null    | Cannot read --conf /dev/null: it is neither a regular file nor /dev/stdin or /dev/fd/NUMBER
          doctor --conf=             | --conf needs a value: the name of a file
          bogus                      | Unknown command: bogus allowed=doctor, devices, perf
          help              | Unknown command: help nearest=--help allowed=doctor, devices, perf
          doctr --peer a | Unknown command: doctr nearest=doctor allowed=doctor, devices, perf
          perf servr                 | Unknown command: servr nearest=server allowed=server, client
          """)
  void shouldNameTheMistakeAndWhatIsAllowed(String arguments, String sentence) {
    assertThat(run(arguments.split(" ", -1))).isEqualTo(Commands.WRONG_USAGE);
    assertThat(errors.toString()).hasLineCount(1).startsWith(sentence + " (see ");
    assertThat(output.toString()).isEmpty();
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
  void shouldRefuseWrongSettingsInTheListOfDevices() throws IOException {
    String wrong = settings("spark.shuffle.rdma.engine cars\n");
    assertThat(run("devices", "--conf", wrong)).isEqualTo(Commands.WRONG_USAGE);
    assertThat(errors.toString()).contains("value=cars");
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

  private int run(String... arguments) {
    return Commands.run(new PrintWriter(output, true), new PrintWriter(errors, true), arguments);
  }

  private String settings(String text) throws IOException {
    return Files.writeString(Files.createTempFile(directory, "spark", ".conf"), text).toString();
  }
}
