// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.ibverbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.sparkrdma.verbs.contract.ContractMain;

/**
 * The engine on a JVM of aarch64 under qemu's user emulation, with the scripted device compiled for
 * that processor. {@code .ci/aarch64-root FOLDER} makes the system root that it needs. Runs on one
 * Java version of the build, because its JVM of aarch64 is always the same.
 */
@Timeout(value = 600, unit = TimeUnit.SECONDS)
@Tag("once")
class Aarch64IT {
  private static final Path INCLUDE = Path.of("/usr/include");
  private static final String MISSING =
      "emulated aarch64: install gcc-aarch64-linux-gnu libibverbs-dev qemu-user-static";
  private static final String COMPILER = "aarch64-linux-gnu-gcc";
  private static final List<String> EMULATORS = List.of("qemu-aarch64-static", "qemu-aarch64");

  @TempDir private Path directory;

  @Test
  void shouldPassTheTestsOfTheScriptedDevice() throws Exception {
    String root = System.getProperty("aarch64.root");
    assumeTrue(root != null, "no system root of aarch64: -Daarch64.root=FOLDER names one");
    assumeTrue(Files.exists(INCLUDE.resolve("infiniband/verbs.h")), MISSING);
    assumeTrue(runs(COMPILER), MISSING);
    String emulator = EMULATORS.stream().filter(this::runs).findFirst().orElse("");
    assumeTrue(!emulator.isEmpty(), MISSING);

    String library = compileScriptedDevice();
    List<String> command =
        List.of(
            emulator,
            "-L",
            root,
            javaOf(Path.of(root)),
            "-XX:TieredStopAtLevel=1",
            "-XX:+UseSerialGC",
            "-Xmx512m",
            "-Dscripted.library=" + library,
            "-cp",
            System.getProperty("java.class.path"),
            ContractMain.class.getName(),
            ScriptedDeviceCallsTest.class.getName(),
            ScriptedDeviceLimitsTest.class.getName(),
            ScriptedDeviceAccessTest.class.getName(),
            ScriptedDeviceSetUpTest.class.getName(),
            ScriptedDeviceChangesTest.class.getName(),
            ScriptedDeviceIwarpTest.class.getName());
    int code = run(command);

    assertThat(code).as(output()).isZero();
    String result =
        output().lines().filter(line -> line.startsWith("contract: ")).findFirst().orElseThrow();
    assertThat(result).contains("\"failed\":0,\"skipped\":0");
  }

  private String compileScriptedDevice() throws IOException, InterruptedException {
    Path source = directory.resolve("scripted_device.c");
    try (InputStream text = Aarch64IT.class.getResourceAsStream("/scripted_device.c")) {
      Files.copy(text, source);
    }
    // A folder without the C library's headers of this machine.
    Path headers = Files.createDirectory(directory.resolve("include"));
    for (String name : List.of("infiniband", "rdma")) {
      Files.createSymbolicLink(headers.resolve(name), INCLUDE.resolve(name));
    }
    String library = directory.resolve("scripted.so").toString();
    int code =
        run(
            List.of(
                COMPILER,
                "-O1",
                "-shared",
                "-fPIC",
                "-I" + headers,
                "-o",
                library,
                source.toString()));
    assertThat(code).as(output()).isZero();
    return library;
  }

  private static String javaOf(Path root) throws IOException {
    try (Stream<Path> homes = Files.list(root.resolve("usr/lib/jvm"))) {
      return homes
          .map(home -> home.resolve("bin/java"))
          .filter(Files::isRegularFile)
          .findFirst()
          .orElseThrow()
          .toString();
    }
  }

  private boolean runs(String program) {
    try {
      return run(List.of(program, "--version")) == 0;
    } catch (IOException e) {
      return false;
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  private int run(List<String> command) throws IOException, InterruptedException {
    Process process =
        new ProcessBuilder(command)
            .redirectErrorStream(true)
            .redirectOutput(directory.resolve("output").toFile())
            .start();
    try {
      return process.waitFor();
    } finally {
      process.destroyForcibly();
    }
  }

  private String output() throws IOException {
    return Files.readString(directory.resolve("output"));
  }
}
