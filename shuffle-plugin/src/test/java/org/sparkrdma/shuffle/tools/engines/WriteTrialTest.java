// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.tools.engines;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.sparkrdma.shuffle.tools.engines.WriteTrial.Outcome;

class WriteTrialTest {
  @TempDir private Path directory;

  @Test
  void shouldWriteAndDeleteAFile() {
    WriteTrial trial = WriteTrial.in(directory);
    assertThat(trial.isWritable()).isTrue();
    assertThat(trial.exists()).isTrue();
    assertThat(directory).isEmptyDirectory();
  }

  @Test
  void shouldTryTheNearestExistingParentAndCreateNoDirectory() {
    WriteTrial trial = WriteTrial.in(directory.resolve("a/b"));
    assertThat(trial.isWritable()).isTrue();
    assertThat(trial.exists()).isFalse();
    assertThat(trial.tested()).isEqualTo(directory);
    assertThat(directory).isEmptyDirectory();
  }

  @Test
  void shouldFindAFileInPlaceOfADirectory() throws IOException {
    Path file = Files.writeString(directory.resolve("file"), "");
    Path link = Files.createSymbolicLink(directory.resolve("link"), Path.of("/no/such"));
    assertThat(WriteTrial.in(file).outcome()).isEqualTo(Outcome.NOT_A_DIRECTORY);
    assertThat(WriteTrial.in(link).outcome()).isEqualTo(Outcome.NOT_A_DIRECTORY);
    assertThat(WriteTrial.in(link).exists()).isTrue();
    WriteTrial below = WriteTrial.in(file.resolve("below"));
    assertThat(below.outcome()).isEqualTo(Outcome.NOT_A_DIRECTORY);
    assertThat(below.tested()).isEqualTo(file);
    assertThat(below.exists()).isFalse();
  }

  @Test
  void shouldFindAFileSystemWhoseDirectoriesTakeNoFiles() {
    WriteTrial trial = WriteTrial.in(Path.of("/proc"));
    assertThat(trial.isWritable()).isFalse();
    assertThat(trial.reason()).isNotBlank().doesNotContain("Exception");
  }

  @Test
  void shouldDistinguishAReadOnlyFileSystemFromALackOfPermission() {
    assertThat(WriteTrial.outcome(new FileSystemException("/x", null, "Read-only file system")))
        .isEqualTo(Outcome.READ_ONLY);
    assertThat(WriteTrial.outcome(new AccessDeniedException("/x")))
        .isEqualTo(Outcome.NO_PERMISSION);
    assertThat(WriteTrial.outcome(new FileSystemException("/x", null, "No space left on device")))
        .isEqualTo(Outcome.OTHER);
    assertThat(WriteTrial.outcome(new NoSuchFileException("/x"))).isEqualTo(Outcome.OTHER);
  }
}
