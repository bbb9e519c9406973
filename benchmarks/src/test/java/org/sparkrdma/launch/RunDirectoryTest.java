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
package org.sparkrdma.launch;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class RunDirectoryTest {
  @TempDir private Path directory;
  private RunDirectory run;

  @BeforeEach
  void create() throws Exception {
    run = RunDirectory.create(directory.resolve("work"));
  }

  @Test
  void shouldKeepTheLogsAndNothingElseOfARunThatFailed() throws Exception {
    Files.createDirectories(run.logs());
    Files.writeString(run.logs().resolve("master.log"), "hello");
    Files.writeString(run.data().resolve("records"), "data");

    run.deleteData();

    assertThat(run.logs().resolve("master.log")).exists();
    assertThat(run.data()).doesNotExist();
  }

  @Test
  void shouldLeaveNothingOfARunThatFailedBeforeItLogged() throws Exception {
    run.deleteData();
    assertThat(directory.resolve("work")).isEmptyDirectory();
  }

  @Test
  void shouldSayWhatIsNeededAndWhatIsFreeWhenItIsNotEnough() {
    assertThatThrownBy(() -> run.requireRoom(new DataSize(Long.MAX_VALUE)))
        .isInstanceOf(LaunchException.class)
        .hasMessageStartingWith("not enough room in " + run.path())
        .hasMessageContaining("are free");
  }

  @Test
  void shouldAcceptADiskWithRoom() throws Exception {
    run.requireRoom(new DataSize(1));
    assertThat(run.path()).exists();
  }
}
