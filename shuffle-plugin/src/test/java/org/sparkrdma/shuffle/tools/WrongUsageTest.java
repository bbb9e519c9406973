// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.tools;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
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

  @Test
  void shouldRefuseWrongSettingsInTheListOfDevices() throws IOException {
    String wrong = settings("spark.shuffle.rdma.engine cars\n");
    assertThat(run("devices", "--conf", wrong)).isEqualTo(Commands.WRONG_USAGE);
    assertThat(errors.toString()).contains("value=cars");
  }
}
