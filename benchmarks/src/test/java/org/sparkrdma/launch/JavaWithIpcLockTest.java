// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.launch;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * The script {@code conf/java-with-ipc-lock} beside a {@code setpriv} as {@code conf/Dockerfile}
 * makes it, started by a user other than root under the limits of a container.
 */
@Timeout(60)
class JavaWithIpcLockTest {
  static final String SCRIPT = "java-with-ipc-lock";

  /** The capability that the Dockerfile gives to the file; see setcap(8). */
  static final String CAPABILITY = "cap_ipc_lock=ep";

  private static final Path TEMPLATE = Path.of("..", "conf", SCRIPT);

  /** The loader drops it from the environment of a program that has a file capability. */
  private static final String VARIABLE = "LD_LIBRARY_PATH";

  private static final String FOLDER = "/native libraries";
  private static final String LIBRARIES = VARIABLE + "=" + FOLDER;

  @TempDir private Path directory;

  /** Places a program as Java that prints its capabilities, its libraries and its arguments. */
  @BeforeEach
  void makeTheImage() throws Exception {
    assumeTrue("root".equals(System.getProperty("user.name")), "only root may run as another user");
    Path bin = Files.createDirectories(directory.resolve("java/bin"));
    Files.copy(TEMPLATE, bin.resolve("java"));
    executable(bin.resolve("java"));
    Files.copy(Path.of("/usr/bin/setpriv"), bin.resolve("setpriv"));
    executable(bin.resolve("setpriv"));
    Path path = Files.createDirectories(directory.resolve("path"));
    Files.writeString(
        path.resolve("java"),
        "#!/bin/sh\ngrep CapEff /proc/self/status\nenv | grep ^LD_\nprintf '<%s>\\n' \"$@\"\n");
    executable(path.resolve("java"));
    for (Path folder : List.of(directory, directory.resolve("java"), bin, path)) {
      executable(folder);
    }
    Outcome given = run(List.of("setcap", CAPABILITY, bin.resolve("setpriv").toString()));
    assumeTrue(given.exitCode() == 0, "files get no capabilities here");
  }

  /** The last one is {@code allowPrivilegeEscalation: false} in a pod. */
  @ParameterizedTest
  @CsvSource({
    "--bounding-set=-all+ipc_lock, 0000000000004000",
    "--bounding-set=-all, 0000000000000000",
    "--bounding-set=-all+ipc_lock --no-new-privs, 0000000000000000"
  })
  void shouldStartJavaWithTheCapabilityWhereTheContainerGivesIt(String limits, String effective)
      throws Exception {
    assertThat(asUser(limits.replace("+", ",+").split(" ")))
        .containsExactly("CapEff:\t" + effective, LIBRARIES, "<-cp>", "<a b>", "<Main>");
  }

  /** The output of Java, started by the user nobody. */
  private List<String> asUser(String... limits) throws IOException, InterruptedException {
    List<String> command = new ArrayList<>(List.of("setpriv", "--reuid", "65534"));
    command.addAll(List.of("--regid", "65534", "--clear-groups", "--inh-caps=-all"));
    command.addAll(List.of(limits));
    command.addAll(List.of(directory.resolve("java/bin/java").toString(), "-cp", "a b", "Main"));
    Outcome outcome = run(command);
    assertThat(outcome.exitCode()).as(outcome.output()).isZero();
    return outcome.output().lines().toList();
  }

  private record Outcome(int exitCode, String output) {}

  private Outcome run(List<String> command) throws IOException, InterruptedException {
    ProcessBuilder builder = new ProcessBuilder(command).redirectErrorStream(true);
    builder.environment().merge("PATH", ":/usr/sbin", String::concat);
    builder.environment().put(VARIABLE, FOLDER);
    builder.environment().merge("PATH", directory.resolve("path") + ":", (path, own) -> own + path);
    Process process = builder.start();
    String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertThat(process.waitFor(30, TimeUnit.SECONDS)).isTrue();
    return new Outcome(process.exitValue(), output);
  }

  private static void executable(Path file) throws IOException {
    Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rwxr-xr-x"));
  }
}
