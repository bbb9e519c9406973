// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.scenarios;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** Compiles a C source of the tests' resources by the C compiler of this machine. */
public final class CSource {
  private CSource() {}

  /**
   * Compiles and links one source.
   *
   * @param name of the source, {@code NAME.c} below {@code faults} in the resources
   * @param directory where source and result are put; exists
   * @param options of the compiler, libraries included
   * @return the program or library, named as the source without its ending
   * @throws IllegalStateException with the compiler's output when it fails
   */
  public static Path compile(String name, Path directory, String... options)
      throws IOException, InterruptedException {
    Path source = copy(name + ".c", directory);
    Path result = directory.resolve(name);
    List<String> command =
        new ArrayList<>(List.of("cc", "-O2", "-o", result.toString(), source.toString()));
    command.addAll(List.of(options));
    Process compiler = new ProcessBuilder(command).redirectErrorStream(true).start();
    String output = new String(compiler.getInputStream().readAllBytes(), UTF_8);
    int code = compiler.waitFor();
    if (code != 0) {
      throw new IllegalStateException(
          "the compiler failed: exitCode=" + code + " source=" + source + "\n" + output);
    }
    return result;
  }

  private static Path copy(String file, Path directory) throws IOException {
    Path copy = directory.resolve(file);
    try (var resource = CSource.class.getResourceAsStream("/faults/" + file)) {
      Files.write(copy, resource.readAllBytes());
    }
    return copy;
  }
}
