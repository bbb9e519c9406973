// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.ibverbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.lang.reflect.Field;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.sparkrdma.verbs.ibverbs.ffi.Layouts;

/** Compares offsets and sizes of structs with the C compiler's. */
@Timeout(value = 60, unit = TimeUnit.SECONDS)
class LayoutsIT {
  private static final List<Path> HEADERS =
      List.of(Path.of("/usr/include/infiniband/verbs.h"), Path.of("/usr/include/rdma/rdma_cma.h"));

  @TempDir private Path directory;

  @Test
  void shouldMatchTheCCompiler() throws Exception {
    assumeTrue(
        HEADERS.stream().allMatch(Files::exists),
        "no headers: install libibverbs-dev librdmacm-dev");
    assumeTrue(hasCompiler(), "no C compiler: install gcc");

    assertThat(ofJava()).isEqualTo(ofC());
  }

  private boolean hasCompiler() throws Exception {
    try {
      return run("cc", "--version").exitValue() == 0;
    } catch (IOException e) {
      return false;
    }
  }

  private Map<String, Integer> ofC() throws Exception {
    Path program = directory.resolve("layouts");
    Path source = directory.resolve("layouts.c");
    try (var resource = LayoutsIT.class.getResourceAsStream("/layouts.c")) {
      Files.copy(resource, source);
    }
    Process compiled = run("cc", "-o", program.toString(), source.toString());
    assertThat(compiled.exitValue()).as(output()).isZero();
    assertThat(run(program.toString()).exitValue()).isZero();
    Map<String, Integer> values = new TreeMap<>();
    for (String line : output().split("\n", -1)) {
      String[] words = line.split(" ", -1);
      values.put(words[0], Integer.parseInt(words[1]));
    }
    return values;
  }

  private Process run(String... command) throws Exception {
    Process process =
        new ProcessBuilder(command)
            .redirectErrorStream(true)
            .redirectOutput(directory.resolve("output").toFile())
            .start();
    process.waitFor();
    return process;
  }

  private String output() throws IOException {
    return Files.readString(directory.resolve("output")).strip();
  }

  private static Map<String, Integer> ofJava() throws IllegalAccessException {
    Map<String, Integer> values = new TreeMap<>();
    for (Class<?> struct : Layouts.class.getClasses()) {
      for (Field field : struct.getFields()) {
        values.put(struct.getSimpleName() + "." + field.getName(), field.getInt(null));
      }
    }
    return values;
  }
}
