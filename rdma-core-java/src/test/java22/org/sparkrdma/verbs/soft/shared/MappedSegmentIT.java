// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.soft.shared;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The mapping of the packaged jar on Java 22 and newer. */
class MappedSegmentIT {
  private static final long LONG = (5L << 30) + 4_096;

  @TempDir private Path directory;

  @Test
  void shouldBeLoadedFromTheMultiReleasePart() throws IOException {
    try (Mapping mapping = map(4_096)) {
      assertThat(mapping).isInstanceOf(MappedSegment.class);
    }
  }

  @Test
  void shouldReachEveryByteOfALongFile() throws IOException {
    try (Mapping mapping = map(LONG)) {
      mapping.slice(LONG - 8, 8).putLong(0, 42);
      ByteBuffer across = mapping.slice((2L << 30) - 4, 8);
      across.putInt(0, 7).putInt(4, 9);

      assertThat(mapping.view(false, LONG - 8, 8).getLong()).isEqualTo(42);
      assertThat(mapping.view(false, (2L << 30) - 4, 4).getInt()).isEqualTo(7);
      assertThat(mapping.view(false, 2L << 30, 4).getInt()).isEqualTo(9);
    }
  }

  @Test
  void shouldUnmapAtClose() throws IOException {
    Mapping mapping = map(4_096);
    assertThat(mappings()).isPositive();

    mapping.close();

    assertThat(mappings()).isZero();
  }

  @Test
  void shouldThrowWhenASliceIsReadAfterClose() throws IOException {
    Mapping mapping = map(4_096);
    ByteBuffer slice = mapping.slice(0, 8);

    mapping.close();

    assertThatThrownBy(() -> slice.get(0)).isInstanceOf(IllegalStateException.class);
  }

  private Mapping map(long lengthBytes) throws IOException {
    Path file = Files.createTempFile(directory, "mapped", ".bin");
    try (FileChannel channel =
        FileChannel.open(file, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
      channel.write(ByteBuffer.wrap(new byte[] {0}), lengthBytes - 1);
      return Mappings.of(channel, file, lengthBytes);
    }
  }

  private long mappings() throws IOException {
    try (Stream<String> lines = Files.lines(Path.of("/proc/self/maps"))) {
      return lines.filter(line -> line.contains(directory.toString())).count();
    }
  }
}
