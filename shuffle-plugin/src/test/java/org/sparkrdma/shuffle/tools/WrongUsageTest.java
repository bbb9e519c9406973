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

  @Test
  void shouldRefuseNamesThatAreNoPath() {
    for (String option : List.of("--conf", "--collect")) {
      errors.getBuffer().setLength(0);
      assertThat(run("doctor", option, "a\0b")).isEqualTo(Commands.WRONG_USAGE);
      assertThat(errors.toString())
          .hasLineCount(1)
          .startsWith("Cannot ")
          .contains(option + " a\0b: java.nio.file.InvalidPathException");
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

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          doctor --listen 70000      | Wrong value: port 70000 allowed=a whole number from 0 to 65535
          perf server --listen-for 0 | Wrong value: --listen-for 0 allowed=a whole number from 1 to
          perf client a --ms 0       | Wrong value: --ms 0 allowed=a whole number from 1 to
          doctor --conf /no/such     | Cannot read --conf /no/such: java.nio.file.NoSuchFileException
          doctor --conf /            | Cannot read --conf /: java.io.IOException: Is a directory
          """)
  void shouldNameTheMistakeAndWhatIsAllowed(String arguments, String sentence) {
    assertThat(run(arguments.split(" ", -1))).isEqualTo(Commands.WRONG_USAGE);
    assertThat(errors.toString()).hasLineCount(1).startsWith(sentence).contains(" (see ");
    assertThat(output.toString()).isEmpty();
  }

  @Test
  void shouldRefuseWrongSettingsInTheListOfDevices() throws IOException {
    String wrong = settings("spark.shuffle.rdma.engine cars\n");
    assertThat(run("devices", "--conf", wrong)).isEqualTo(Commands.WRONG_USAGE);
    assertThat(errors.toString()).contains("value=cars");
  }
}
