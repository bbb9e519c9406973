// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.runtime;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * The start of RDMA in a JVM whose temporary folder is mounted noexec, so that jffi cannot load the
 * library that it extracts there. The mount is in a namespace of the JVM and ends with it.
 */
@Tag("slow")
@Timeout(200)
class NoexecTemporaryFolderTest {
  /**
   * Mounts a folder with noexec, shows a device of the kernel, because without one the engine does
   * not load jffi, and runs a command in the folder: jffi tries the working directory after the
   * temporary folder.
   */
  private static final String SCRIPT =
      """
      set -e
      mount -t tmpfs -o size=4m,noexec tmpfs "$0"
      cd "$0"
      mkdir -p class/infiniband/mlx5_0 dev/infiniband dev/shm
      touch dev/infiniband/uverbs0 dev/infiniband/rdma_cm
      for node in null zero random urandom; do
        touch dev/$node
        mount --bind /dev/$node dev/$node
      done
      mount --rbind class /sys/class
      mount --rbind dev /dev
      exec "$@"
      """;

  @TempDir private Path directory;
  private Path noexec;

  @BeforeEach
  void requireMounts() throws Exception {
    noexec = Files.createDirectory(directory.resolve("noexec"));
    assumeTrue(
        finished(inNamespace(List.of("true")), "mount") == 0,
        "users may not mount a tmpfs in a namespace here");
  }

  @Test
  void shouldNameTheSettingThatHelpsInOneWarning() throws Exception {
    String output = start(List.of());
    assertThat(output).contains("loaded=false state=OFF").doesNotContain("LinkageError");
    assertThat(output.lines().filter(line -> line.contains("WARN ") && line.contains("RDMA")))
        .singleElement()
        .asString()
        .contains(
            "RDMA is not used in this executor",
            "cannot load its own library from the folder " + noexec,
            "noexec",
            "-Djffi.extract.dir=FOLDER in spark.executor.extraJavaOptions");
  }

  @Test
  void shouldLoadJffiFromTheFolderThatThisSettingNames() throws Exception {
    String output = start(List.of("-Djffi.extract.dir=" + directory));
    assertThat(output).contains("loaded=true").doesNotContain("cannot load its own library");
  }

  /** Output of a JVM that starts RDMA. */
  private String start(List<String> options) throws IOException, InterruptedException {
    List<String> all = new ArrayList<>(options);
    all.add("-Djava.io.tmpdir=" + noexec);
    all.add("-Dsparkrdma.binding=jffi");
    List<String> command = inNamespace(JvmCommand.of(StartingJvm.class, all));
    int exitValue = finished(command, "output");
    String output = Files.readString(directory.resolve("output"));
    assertThat(exitValue).as(output).isZero();
    return output;
  }

  private List<String> inNamespace(List<String> command) {
    List<String> all =
        new ArrayList<>(List.of("unshare", "-rm", "sh", "-c", SCRIPT, noexec.toString()));
    all.addAll(command);
    return all;
  }

  /** Exit value of a process that writes into a file of this name. */
  private int finished(List<String> command, String name) throws IOException, InterruptedException {
    Process process =
        new ProcessBuilder(command)
            .redirectErrorStream(true)
            .redirectOutput(directory.resolve(name).toFile())
            .start();
    try {
      assertThat(process.waitFor(90, TimeUnit.SECONDS)).as("it ends").isTrue();
    } finally {
      process.destroyForcibly();
    }
    return process.exitValue();
  }
}
