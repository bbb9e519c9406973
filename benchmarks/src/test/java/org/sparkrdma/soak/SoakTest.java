/*
 * Licensed under the Apache License, Version 2.0 (the "License");
 * you may not use this file except in compliance with the License.
 * You may obtain a copy of the License at
 *
 *     http://www.apache.org/licenses/LICENSE-2.0
 *
 * Unless required by applicable law or agreed to in writing, software
 * distributed under the License is distributed on an "AS IS" BASIS,
 * WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
 * See the License for the specific language governing permissions and
 * limitations under the License.
 */
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
    assertThat(DrawnSettings.of(7))
        .isEqualTo(DrawnSettings.of(7))
        .isNotEqualTo(DrawnSettings.of(8));
  }
}
