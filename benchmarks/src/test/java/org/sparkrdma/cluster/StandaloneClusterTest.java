// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.BufferedReader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.sparkrdma.launch.Script;

@Tag("slow")
@Timeout(180)
class StandaloneClusterTest {
  private static final Path SPARK_HOME = Path.of(System.getProperty("sparkrdma.sparkHome"));
  private static final int MASTER_AND_WORKER = 2;

  @TempDir private Path directory;

  @Test
  void shouldReturnTheExitCodeOfAnApplicationAndLeaveNoProcessWhenClosed() throws Exception {
    List<ProcessHandle> seen = new ArrayList<>();
    try (StandaloneCluster cluster =
        StandaloneCluster.start(ClusterSettings.twoWorkers(SPARK_HOME, directory).withWorkers(1))) {
      seen.addAll(ProcessHandle.current().descendants().toList());
      Path jar = Files.createFile(directory.resolve("empty.jar"));
      int exitCode =
          cluster.run("missing", List.of("--class", "no.such.Main", jar.toString()), line -> {});
      assertThat(exitCode).isNotZero();
      assertThat(cluster.log("missing")).content().contains("no.such.Main");
    }
    assertThat(seen)
        .hasSizeGreaterThanOrEqualTo(MASTER_AND_WORKER)
        .noneMatch(ProcessHandle::isAlive);
  }

  @Test
  @Tag("nightly")
  void shouldLeaveNoProcessWhenASignalEndsItsJvm() throws Exception {
    ProcessBuilder builder =
        new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-cp",
                System.getProperty("java.class.path"),
                ClusterInOwnJvm.class.getName(),
                SPARK_HOME.toString(),
                directory.toString())
            .redirectError(ProcessBuilder.Redirect.DISCARD);
    builder.environment().putAll(Script.briefly());
    Process jvm = builder.start();
    BufferedReader output = jvm.inputReader();
    assertThat(output.readLine()).startsWith(ClusterInOwnJvm.UP);
    List<ProcessHandle> started = jvm.descendants().toList();
    assertThat(started).hasSize(MASTER_AND_WORKER);

    jvm.destroy();
    jvm.waitFor();

    assertThat(started).noneMatch(ProcessHandle::isAlive);
  }
}
