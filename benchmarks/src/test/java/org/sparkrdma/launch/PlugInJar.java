// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.launch;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.sparkrdma.cluster.LaunchException;

/** The packaged jar of the plug-in and the command lines that run it. Stateless. */
final class PlugInJar {
  private PlugInJar() {}

  static Path path() throws IOException, LaunchException {
    return new Installation(Path.of("..")).plugIn().toAbsolutePath();
  }

  /** {@code java -jar} with these arguments. */
  static List<String> command(Path jar, String... arguments) {
    List<String> command = new ArrayList<>();
    command.add(System.getProperty("java.home") + "/bin/java");
    command.addAll(List.of("-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-jar"));
    command.add(jar.toString());
    command.addAll(List.of(arguments));
    return command;
  }
}
