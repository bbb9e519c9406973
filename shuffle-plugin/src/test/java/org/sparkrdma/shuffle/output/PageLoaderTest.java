// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.output;

import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.EOFException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class PageLoaderTest {
  private static final int LENGTH = 200_000;

  @TempDir Path folder;

  @Test
  void shouldReadTheWholeRange() throws Exception {
    Path file = Files.write(folder.resolve("data"), new byte[LENGTH]);
    assertThatCode(() -> PageLoader.load(file, 0, LENGTH)).doesNotThrowAnyException();
    assertThatCode(() -> PageLoader.load(file, LENGTH - 1, 1)).doesNotThrowAnyException();
    for (long from : new long[] {0, 1_000, LENGTH - 1}) {
      assertThatThrownBy(() -> PageLoader.load(file, from, LENGTH - from + 1))
          .as("it reads up to the last byte")
          .isInstanceOf(EOFException.class)
          .hasMessage("data file too short: offset=" + LENGTH);
    }
  }

  @Test
  void shouldFailWhenThereIsNoFile() {
    assertThatThrownBy(() -> PageLoader.load(folder.resolve("none"), 0, 1))
        .isInstanceOf(NoSuchFileException.class);
  }
}
