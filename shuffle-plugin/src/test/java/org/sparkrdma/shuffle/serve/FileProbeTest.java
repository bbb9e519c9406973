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
package org.sparkrdma.shuffle.serve;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.sparkrdma.verbs.AccessFlag;

class FileProbeTest {
  private static final Set<AccessFlag> ACCESS = Set.of(AccessFlag.REMOTE_READ);
  private final FakeDomain domain = new FakeDomain();

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

  @Test
  void shouldNameNoneWhereFilesCanBeRegistered() {
    assertThat(FileProbe.refusing(domain, List.of(directory), ACCESS)).isEmpty();
    assertThat(domain.fileCalls()).isEqualTo(1);
  }

  @Test
  void shouldIgnoreADirectoryThatDoesNotExist() {
    assertThat(FileProbe.refusing(domain, List.of(directory.resolve("gone")), ACCESS)).isEmpty();
    assertThat(domain.fileCalls()).isZero();
  }
}
