// SPDX-License-Identifier: Apache-2.0
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
