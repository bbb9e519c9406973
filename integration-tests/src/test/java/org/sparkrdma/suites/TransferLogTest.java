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
package org.sparkrdma.suites;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class TransferLogTest {
  @TempDir private Path directory;

  @Test
  void shouldAddUpTheExecutorsOfAnApplication() throws IOException {
    put("app-1_0_10", "3 1");
    put("app-1_1_11", "4 0");
    put("app-2_0_12", "0 0");

    TransferLog log = TransferLog.read(directory);

    assertThat(log.byApplication())
        .containsEntry("app-1", new TransferLog.Blocks(7, 1))
        .containsEntry("app-2", new TransferLog.Blocks(0, 0));
    assertThat(log.objections(Setting.SOFT, true)).isEmpty();
  }

  @Test
  void shouldObjectToAnApplicationWhoseBlocksAllCameByTcp() throws IOException {
    put("app-1_0_10", "3 0");
    put("app-2_0_11", "0 5");

    assertThat(TransferLog.read(directory).objections(Setting.SOFT, true))
        .singleElement()
        .asString()
        .contains("application=app-2");
  }

  @Test
  void shouldObjectToASuiteThatReadsLessOrMoreThanItClaims() throws IOException {
    assertThat(TransferLog.read(directory).objections(Setting.SOFT, true))
        .singleElement()
        .asString()
        .contains("expected blocks by READ");
    put("app-1_0_10", "1 0");
    assertThat(TransferLog.read(directory).objections(Setting.SOFT, false))
        .singleElement()
        .asString()
        .contains("expected a suite without remote blocks");
    assertThat(TransferLog.read(directory).objections(Setting.FALLBACK, true))
        .singleElement()
        .asString()
        .contains("without a device");
  }

  private void put(String name, String text) throws IOException {
    Files.writeString(directory.resolve(name), text);
  }
}
