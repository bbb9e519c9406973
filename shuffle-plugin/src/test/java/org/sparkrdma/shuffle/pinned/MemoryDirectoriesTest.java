// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.pinned;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.OptionalLong;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.sparkrdma.shuffle.CapturedLog;

/** A pod with one local directory in memory and one on a disk. */
class MemoryDirectoriesTest {
  private static final long GIB = 1L << 30;
  private static final OptionalLong CONTAINER = OptionalLong.of(24 * GIB);
  private static final List<Path> DIRECTORIES =
      List.of(Path.of("/var/data/spark-1/a"), Path.of("/var/data/spark-2/b"));

  @TempDir private Path root;

  private final PinnedLimit derived = new PinnedLimit(6 * GIB, "derived", 6 * GIB, List.of());
  private final MemoryDirectories memory = new MemoryDirectories();

  @BeforeEach
  void mount() throws IOException {
    mount("tmpfs");
  }

  private void mount(String type) throws IOException {
    Files.createDirectories(root.resolve("proc/self"));
    Files.writeString(
        root.resolve("proc/self/mountinfo"),
        """
        22 1 0:18 / / rw - overlay overlay rw
        30 22 0:40 / /var/data/spark-1 rw,relatime - %s tmpfs rw,size=16777216k
        31 22 8:1 / /var/data/spark-2 rw,relatime - ext4 /dev/sda1 rw
        """
            .formatted(type));
  }

  private static MachineMemory machine(OptionalLong container) {
    return new MachineMemory(
        OptionalLong.of(256 * GIB), container, OptionalLong.empty(), false, 8 * GIB, 4_096, 8, 1);
  }

  private List<String> warnings(OptionalLong container) {
    try (CapturedLog log = new CapturedLog()) {
      memory.check(new SystemFiles(root), machine(container), derived, DIRECTORIES);
      return List.copyOf(log.warnings());
    }
  }

  @Test
  void shouldWarnOnceOfALocalDirectoryInMemoryInAContainer() {
    assertThat(warnings(CONTAINER))
        .containsExactly(
            "Local directories are in memory, which the container limit includes; with the pinned"
                + " memory their shuffle files may exceed it: directories=[/var/data/spark-1/a]"
                + " containerBytes=25769803776 pinnedMaxBytes=6442450944; set"
                + " spark.shuffle.rdma.pinned.max to at most half of what the files leave");
    assertThat(warnings(CONTAINER)).as("at a later start").isEmpty();
  }

  @Test
  void shouldNotWarnWithoutAContainer() {
    assertThat(warnings(OptionalLong.empty())).isEmpty();
  }

  @Test
  void shouldNotWarnOfLocalDirectoriesOnDisks() throws IOException {
    mount("xfs");
    assertThat(warnings(CONTAINER)).isEmpty();
  }
}
