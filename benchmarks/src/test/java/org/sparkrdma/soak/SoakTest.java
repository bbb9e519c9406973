// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.soak;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.sparkrdma.launch.ScriptHelp;

class SoakTest {
  private static final int MISUSE = 2;

  @TempDir private Path directory;

  @Test
  void shouldExplainEveryOptionAndEveryDefaultInTheScriptsHelp() throws Exception {
    ScriptHelp.assertExplains("soak", Soak.commandLine(), "default "::concat);
  }

  @Test
  void shouldRefuseASoakThatIsTooShortToJudge() {
    assertThat(
            Soak.commandLine()
                .execute("--project", "p", "--work-dir", directory + "/work", "--minutes=0.1"))
        .isEqualTo(MISUSE);
    assertThat(directory).isEmptyDirectory();
  }

  @Test
  void shouldDrawTheSameSettingsFromTheSameSeed() {
    assertThat(RandomSettings.of(7))
        .isEqualTo(RandomSettings.of(7))
        .isNotEqualTo(RandomSettings.of(8));
  }
}
