// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.tools.engines;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.InetAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.sparkrdma.shuffle.pinned.SystemFiles;
import org.sparkrdma.shuffle.settings.ShuffleSettings;

/** Opens the loopback device as an executor does. */
@Timeout(60)
class EngineProbeTest {
  private static final String ENGINE = "spark.shuffle.rdma.engine";

  @TempDir private Path directory;

  @Test
  void shouldRegisterAFileInEachLocalDirectory() {
    Path missing = directory.resolve("missing");
    Probe probe = probe(Map.of(ENGINE, "soft"), List.of(directory, missing));
    assertThat(probe.usable()).as("%s", probe.reasons()).isTrue();
    assertThat(probe.inWords()).startsWith("device soft0 port 1 of engine soft at [127.0.0.1/");
    assertThat(probe.directories().get(directory)).isEmpty();
    assertThat(probe.directories()).containsOnlyKeys(directory);
    assertThat(probe.details()).containsOnlyKeys(directory);
    assertThat(probe.details().get(directory))
        .matches("registration of 1 MiB \\d+ us, .*, a block of 4 KiB [0-9.]+ us");
    assertThat(directory).isEmptyDirectory();
  }

  @Test
  void shouldOpenNoDeviceInAnExecutorThatDoesNotUseRdma() {
    Map<String, String> settings = Map.of(ENGINE, "soft");
    Probe probe =
        of(settings, new SystemFiles(Path.of("/")), List.of(directory))
            .runInExecutor(0, false, List.of("the reason"));
    assertThat(probe.usable()).isFalse();
    assertThat(probe.reasons()).containsExactly("the reason");
    assertThat(probe.directories()).isEmpty();
  }

  @Test
  void shouldNotUseADeviceWithTooLittleMemoryForAnExecutor() {
    String prefix = "spark.shuffle.rdma.";
    Map<String, String> little = Map.of(ENGINE, "soft", prefix + "pinned.max", "1m");
    Probe probe = probe(little, List.of());
    assertThat(probe.usable()).isFalse();
    assertThat(probe.reasons().toString()).contains("is too little: raise " + prefix);
  }

  @Test
  void shouldTakeTheLimitOfTheContainerAsAnExecutorDoes(@TempDir Path root) throws IOException {
    SystemFiles container = container(root);
    Map<String, String> settings =
        Map.of(
            ENGINE,
            "soft",
            "spark.master",
            "spark://127.0.0.1:7077",
            "spark.executor.memory",
            "10g");
    assertThat(probe(settings, container, List.of()).limit().bytes()).isEqualTo(2L << 30);
  }

  /** So small that free shared memory, which others use, is no bound. */
  private static SystemFiles container(Path root) throws IOException {
    write(root, "proc/meminfo", "MemTotal: " + (512L << 20) + " kB");
    write(root, "proc/self/cgroup", "0::/\n");
    write(root, "sys/fs/cgroup/memory.max", Long.toString(16L << 30));
    return new SystemFiles(root);
  }

  private static void write(Path root, String file, String text) throws IOException {
    Path path = root.resolve(file);
    Files.createDirectories(path.getParent());
    Files.writeString(path, text);
  }

  @Test
  void shouldTakeDefaultsForASizeThatSparkRefuses(@TempDir Path root) throws IOException {
    SystemFiles container = container(root);
    Probe right = probe(Map.of(ENGINE, "soft"), container, List.of());
    for (String size : List.of("much", "99999999999999")) {
      Probe wrong =
          probe(Map.of(ENGINE, "soft", "spark.executor.memory", size), container, List.of());
      assertThat(wrong.limit().bytes()).isEqualTo(right.limit().bytes());
    }
  }

  private static Probe probe(Map<String, String> settings, List<Path> directories) {
    return probe(settings, new SystemFiles(Path.of("/")), directories);
  }

  private static Probe probe(
      Map<String, String> settings, SystemFiles files, List<Path> directories) {
    return of(settings, files, directories).run();
  }

  private static EngineProbe of(
      Map<String, String> settings, SystemFiles files, List<Path> directories) {
    return new EngineProbe(
        ShuffleSettings.of(settings),
        new SparkSettings(settings),
        InetAddress.getLoopbackAddress(),
        files,
        directories);
  }
}
