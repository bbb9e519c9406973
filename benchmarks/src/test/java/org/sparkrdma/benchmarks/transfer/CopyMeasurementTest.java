// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.benchmarks.transfer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.EOFException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class CopyMeasurementTest {
  @TempDir private Path directory;

  private List<Path> write(Layout layout) throws IOException {
    Random random = new Random(1);
    List<Path> files = new ArrayList<>();
    for (int map = 0; map < layout.maps(); map++) {
      byte[] content = new byte[layout.reducers() * layout.blockBytes()];
      random.nextBytes(content);
      files.add(Files.write(directory.resolve("map-" + map), content));
    }
    return files;
  }

  /** The sum over the same bytes, block by block. */
  private static long expected(List<Path> files, Layout layout) throws IOException {
    BlockSum sum = new BlockSum(true);
    for (int reducer = 0; reducer < layout.reducers(); reducer++) {
      for (Path file : files) {
        byte[] content = Files.readAllBytes(file);
        int from = reducer * layout.blockBytes();
        int end = from + layout.blockBytes();
        while (from < end) {
          int length = Math.min(BlockSum.CHUNK_BYTES, end - from);
          sum.add(Arrays.copyOfRange(content, from, from + length), length);
          from += length;
        }
      }
    }
    sum.endBlock("all");
    return sum.total();
  }

  @ParameterizedTest
  @CsvSource({"1024, 3, 7", "4096, 3, 100", "98304, 2, 20", "1048576, 2, 30", "2097152, 3, 2"})
  void shouldCopyAndReadEveryByteOfEveryBlock(int blockBytes, int maps, int reducers)
      throws IOException {
    Layout layout = new Layout(blockBytes, maps, reducers);
    List<Path> files = write(layout);
    BlockSum sum = new BlockSum(true);

    CopyMeasurement.Cost cost = CopyMeasurement.of(files, layout, sum);

    sum.endBlock("all");
    assertThat(sum.total()).isEqualTo(expected(files, layout));
    assertThat(cost.copySecondsPerGb()).isPositive();
    assertThat(cost.readSecondsPerGb()).isPositive();
  }

  @Test
  void shouldFailWhenAMapOutputIsTooShort() throws IOException {
    Layout layout = new Layout(4096, 1, 3);
    List<Path> files = write(layout);
    Files.write(files.get(0), new byte[2 * 4096]);

    assertThatThrownBy(() -> CopyMeasurement.of(files, layout, new BlockSum(true)))
        .isInstanceOf(EOFException.class);
  }
}
