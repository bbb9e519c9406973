// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.matrix;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Map;
import java.util.TreeMap;
import org.sparkrdma.launch.LaunchException;

/** Finds the JDKs of this machine, as the build does. Stateless. */
final class JavaHomes {
  private JavaHomes() {}

  /** The homes of the JDKs of this machine that {@link Cell#all} names, by version. */
  static Map<Integer, Path> find(Path project)
      throws LaunchException, IOException, InterruptedException {
    Map<Integer, Path> homes = new TreeMap<>();
    for (int version : Cell.all().stream().map(Cell::java).distinct().toList()) {
      String home = run(project, Integer.toString(version));
      if (!home.isEmpty()) {
        homes.put(version, Path.of(home));
      }
    }
    return homes;
  }

  private static String run(Path project, String version)
      throws LaunchException, IOException, InterruptedException {
    String java = Path.of(System.getProperty("java.home"), "bin", "java").toString();
    String finder = project.resolve(".mvn/FindJdk.java").toString();
    Process process =
        new ProcessBuilder(java, "-XX:TieredStopAtLevel=1", finder, version, version)
            .redirectError(ProcessBuilder.Redirect.INHERIT)
            .start();
    String home = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    if (process.waitFor() != 0) {
      throw new LaunchException("cannot look for a JDK " + version + ": " + finder + " failed");
    }
    return home.strip();
  }
}
