// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.serve;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class WritePinsTest {
  @TempDir private Path directory;

  @ParameterizedTest
  @CsvSource({
    "6.1.192, nfs4, true",
    "6.1.0-44-amd64, nfs, true",
    "5.14.0-570.el9.x86_64, nfs4, true",
    "6.2.0, nfs4, false",
    "6.12.117, nfs4, false",
    "10.0.1, nfs4, false",
    "7.0, nfs, false",
    "6.1.192, ext4, false",
    "6.1.192, tmpfs, false",
    "6.1.192, '', false",
    "unknown, nfs4, false"
  })
  void shouldAvoidNfsOnKernelsThatPinForWriting(
      String release, String fileSystem, boolean expected) {
    assertThat(WritePins.avoid(release, fileSystem)).isEqualTo(expected);
  }

  @Test
  void shouldRegisterFilesOfDirectoriesOnADisk() {
    assertThat(WritePins.avoiding(List.of(directory, directory.resolve("missing")))).isEmpty();
  }
}
