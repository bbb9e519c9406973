// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.serve;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.sparkrdma.verbs.AccessFlag;
import org.sparkrdma.verbs.StubDevice;

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

  /** The files of the directory are registered when they are needed, or copied. */
  @Test
  void shouldExcludeNoDirectoryForAFailureThatMayPass() {
    domain.maxRegions(0);

    assertThat(FileProbe.refusing(domain, List.of(directory), ACCESS)).isEmpty();
    assertThat(domain.fileCalls()).isEqualTo(1);
  }
}
