// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.guest;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Commands for programs in a guest, on the packaged plug-in. */
final class GuestJava {
  private GuestJava() {}

  /** The beginning of a shell command, up to the main class of a test program. */
  static String command(String options) throws IOException {
    return command(options, Build.property("it.jobs.jar"));
  }

  /**
   * The beginning of a shell command, up to the main class, which is in the jar or directory {@code
   * programs}.
   */
  static String command(String options, String programs) throws IOException {
    String logging =
        Stream.of(
                Files.readString(Path.of(Build.property("it.test.classpath")))
                    .split(File.pathSeparator, -1))
            .filter(jar -> jar.contains("slf4j-api"))
            .collect(Collectors.joining(File.pathSeparator));
    return String.join(
        " ",
        GuestJdk.home() + "/bin/java",
        "-XX:+UseSerialGC --enable-native-access=ALL-UNNAMED",
        options,
        "-cp",
        String.join(File.pathSeparator, Build.property("it.plugin.jar"), programs, logging));
  }
}
