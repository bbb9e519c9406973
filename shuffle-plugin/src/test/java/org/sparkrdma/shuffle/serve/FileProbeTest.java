// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.serve;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.sparkrdma.verbs.AccessFlag;
import org.sparkrdma.verbs.StubDevice;
import org.sparkrdma.verbs.VerbsException;

class FileProbeTest {
  private static final Set<AccessFlag> ACCESS = Set.of(AccessFlag.REMOTE_READ);
  private final StubDevice domain = new StubDevice();

  @TempDir private Path directory;

  @AfterEach
  void lookForLeaks() {
    assertThat(domain.regionCount()).isZero();
    assertThat(directory).isEmptyDirectory();
    domain.close();
  }

  @Test
  void shouldReportTheDirectoriesWhoseFilesCannotBeRegistered() {
    domain.refuseFiles(true);

    assertThat(FileProbe.refusing(domain, List.of(directory), ACCESS)).containsExactly(directory);
  }

  /** FUSE and 9p without a cache have no shared mappings: ENODEV of mmap(2). */
  @ParameterizedTest
  @CsvSource({
    "mmap, 19, true",
    "ibv_reg_mr, 14, true",
    "ibv_reg_mr, 95, true",
    "mmap, 12, false",
    "open, 24, false",
    "ibv_reg_mr, 5, false",
    "ibv_reg_mr, 16, false",
    "ibv_reg_mr, 19, false",
  })
  void shouldTellAFileSystemThatCannotFromADeviceThatFailsForATime(
      String call, int errno, boolean cannot) {
    domain.refuseFiles(new VerbsException(call, errno, "refused by the test", null));

    assertThat(FileProbe.refusing(domain, List.of(directory), ACCESS)).hasSize(cannot ? 1 : 0);
  }

  /** The files of the directory are registered when they are needed, or copied. */
  @Test
  void shouldExcludeNoDirectoryForAFailureThatMayPass() {
    domain.maxRegions(0);

    assertThat(FileProbe.refusing(domain, List.of(directory), ACCESS)).isEmpty();
    assertThat(domain.fileCalls()).isEqualTo(1);
  }
}
