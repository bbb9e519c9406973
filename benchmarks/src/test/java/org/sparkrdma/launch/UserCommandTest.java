// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.launch;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class UserCommandTest {
  @Test
  void shouldLeaveOutFilesAndOptionsOfTheScript() {
    assertThat(
            UserCommand.of(
                "latency",
                "--project",
                "/home/me/spark",
                "--terminal",
                "--work-dir",
                "/tmp/work",
                "--sizes",
                "4k",
                "--report=/home/me/latency.json",
                "--keep",
                "--batch=8"))
        .isEqualTo("./bench latency --sizes 4k --batch=8");
    assertThat(UserCommand.of("ceiling")).isEqualTo("./bench ceiling");
  }

  @Test
  void shouldKeepAnOptionThatFollowsOneWithItsValue() {
    assertThat(UserCommand.of("transfer", "--report", "a.json", "--rounds", "5"))
        .isEqualTo("./bench transfer --rounds 5");
  }
}
