// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.soft;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.sparkrdma.verbs.Device;
import org.sparkrdma.verbs.VerbsEngine;
import org.sparkrdma.verbs.VerbsException;
import org.sparkrdma.verbs.soft.shared.HostIdentity;
import org.sparkrdma.verbs.spi.EngineSettings;

/** A shared-memory file system that is too small causes an exception, not a crash of the JVM. */
@Timeout(value = 60, unit = TimeUnit.SECONDS)
class SmallSharedMemoryTest {
  private static final long MEBIBYTE = 1 << 20;

  @TempDir Path directory;
  private boolean mounted;

  private void mount(String size) throws IOException {
    assumeTrue(HostIdentity.self().userId() == 0, "only root may mount a small tmpfs");
    mounted = run("mount", "-t", "tmpfs", "-o", "size=" + size, "tmpfs", directory.toString());
    assumeTrue(mounted, "this container may not mount a small tmpfs");
  }

  @AfterEach
  void unmount() throws IOException {
    if (mounted) {
      assertThat(run("umount", "-l", directory.toString())).isTrue();
    }
  }

  private static boolean run(String... command) throws IOException {
    return new ProcessBuilder(command).start().onExit().join().exitValue() == 0;
  }

  private VerbsEngine load() throws VerbsException {
    return new SoftProvider()
        .load(EngineSettings.of(Map.of("soft.directory", directory.toString())));
  }

  @Test
  void shouldUseClosedMemoryAgainAfterOneCollectionAndThenFailAtOnceWithOneWarning()
      throws Exception {
    mount("16m");
    PrintStream errors = System.err;
    var log = new ByteArrayOutputStream();
    System.setErr(new PrintStream(log, true, StandardCharsets.UTF_8));
    try (VerbsEngine engine = load();
        Device device = engine.open("soft0")) {
      long collections = collections();
      device.allocate(8 * MEBIBYTE).close();
      while (device.openResources().memories() == 0) {
        try {
          device.allocate(8 * MEBIBYTE);
        } catch (VerbsException tooEarly) {
          // The thread that unmaps it may be late.
        }
      }
      for (int i = 0; i < 20; i++) {
        assertThatThrownBy(() -> device.allocate(8 * MEBIBYTE))
            .hasMessageContaining("lengthBytes=8388608 file=" + directory);
      }
      assertThat(collections() - collections).isBetween(1L, 2L);
      assertThat(log.toString(StandardCharsets.UTF_8).lines())
          .filteredOn(line -> line.contains("Shared memory is short"))
          .singleElement()
          .asString()
          .contains("WARN", "directory=" + directory, "totalBytes=16777216");
    } finally {
      System.setErr(errors);
    }
  }

  private static long collections() {
    return ManagementFactory.getGarbageCollectorMXBeans().stream()
        .mapToLong(collector -> collector.getCollectionCount())
        .sum();
  }

  @Test
  void shouldNotOpenWithoutRoomForItsTable() throws Exception {
    mount("1m");
    try (VerbsEngine engine = load()) {
      assertThatThrownBy(() -> engine.open("soft0"))
          .isInstanceOf(VerbsException.class)
          .hasMessageContaining(directory.toString());
    }
    Path user = directory.resolve("sparkrdma-soft-0");
    try (var files = Files.list(user)) {
      assertThat(files).isEmpty();
    }
  }
}
