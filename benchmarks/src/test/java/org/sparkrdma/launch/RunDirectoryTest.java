// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.launch;

import static org.assertj.core.api.Assertions.assertThat;

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
}
