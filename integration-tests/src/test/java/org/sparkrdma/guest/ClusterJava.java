// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.guest;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;

/**
 * Commands that start programs with Spark, the packaged plug-in and the jobs, on host and guests.
 */
final class ClusterJava {
  private ClusterJava() {}

  /** A command without further options and the main class. */
  static List<String> command() {
    Path home = Path.of(Build.property("it.spark.home"));
    List<String> command = new ArrayList<>();
    command.add(GuestJdk.home() + "/bin/java");
    command.addAll(List.of("-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Xmx700m"));
    command.addAll(List.of(Build.property("it.jvm.options").split(" ")));
    command.add("-cp");
    command.add(
        home.resolve("jars")
            + ("/*:" + String.join(":", projectJars()))
            + (":" + Build.property("it.benchmarks.jobs") + "/*"));
    return command;
  }

  /** Jars of this project. */
  static List<String> projectJars() {
    return List.of(
        Build.property("it.plugin.jar"),
        Build.property("it.jobs.jar"),
        Build.property("it.benchmarks.jar"));
  }

  /** Creates an empty directory; deletes the content from an earlier build. */
  static Path recreate(Path directory) throws IOException {
    if (Files.exists(directory)) {
      try (Stream<Path> files = Files.walk(directory)) {
        files.sorted(Comparator.reverseOrder()).forEach(file -> file.toFile().delete());
      }
    }
    return Files.createDirectories(directory);
  }
}
