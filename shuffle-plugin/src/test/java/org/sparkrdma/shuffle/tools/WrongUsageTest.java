// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.tools;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Wrong options and settings of the commands. */
class WrongUsageTest extends CommandsFixture {
  @Test
  void shouldNameFileAndCauseBeforeItCollects() {
    Path zip = directory.resolve("none").resolve("card.zip");
    assertThat(run("doctor", "--conf", soft, "--collect", zip.toString()))
        .isEqualTo(Commands.WRONG_USAGE);
    assertThat(errors.toString())
        .startsWith("Cannot write --collect " + zip + ": its folder does not exist, or takes no");
    assertThat(run("doctor", "--conf", soft, "--collect", soft)).isEqualTo(Commands.WRONG_USAGE);
    assertThat(errors.toString()).contains("Cannot write --collect " + soft + ": it exists");
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
          doctor --listen 0 --collect x | Wrong value: --listen with --collect allowed=one of them
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
  void shouldRefuseWrongSettingsInTheListOfDevices() throws IOException {
    String wrong = settings("spark.shuffle.rdma.engine cars\n");
    assertThat(run("devices", "--conf", wrong)).isEqualTo(Commands.WRONG_USAGE);
    assertThat(errors.toString()).contains("value=cars");
  }
}
