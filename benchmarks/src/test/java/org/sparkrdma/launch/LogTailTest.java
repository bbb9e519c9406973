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

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class LogTailTest {
  @Test
  void shouldGiveTheLastLinesOfALog(@TempDir Path directory) throws Exception {
    Path log = directory.resolve("log");
    Files.writeString(log, "x".repeat(200_000) + "\none\ntwo\nthree\n");
    assertThat(LogTail.of(log, 2)).isEqualTo(List.of("two", "three"));
    assertThat(LogTail.of(log, 100)).hasSize(4);
  }
}
