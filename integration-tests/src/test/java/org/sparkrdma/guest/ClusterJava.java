// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.guest;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.sparkrdma.launch.RunDirectory;
import org.sparkrdma.suites.SparkPath;

/**
 * Commands that start programs with Spark, the packaged plug-in and the jobs, on host and guests.
 */
final class ClusterJava {
  private ClusterJava() {}

  /** A command without further options and the main class. */
  static List<String> command() throws IOException {
    List<String> command = new ArrayList<>(spark());
    String jars = command.remove(command.size() - 1);
    command.add(
        jars
            + (":" + String.join(":", projectJars()))
            + (":" + Build.property("it.benchmarks.jobs") + "/*"));
    return command;
  }

  /**
   * As {@link #command}, with the class path of Spark's own executors and spark-submit. Its order
   * is theirs, so that one archive of classes serves all of them.
   */
  static List<String> spark() throws IOException {
    Path home = Path.of(Build.property("it.spark.home"));
    List<String> command = new ArrayList<>();
    command.add(GuestJdk.home() + "/bin/java");
    command.addAll(List.of(GuestJdk.START_SOON.split(" ")));
    command.add("-Xmx700m");
    command.addAll(List.of(Build.property("it.jvm.options").split(" ")));
    command.add("-cp");
    command.add(SparkPath.of(home));
    return command;
  }

  /** Jars of this project. */
  private static List<String> projectJars() {
    return List.of(
        Build.property("it.plugin.jar"),
        Build.property("it.jobs.jar"),
        Build.property("it.benchmarks.jar"));
  }

  /** Jars that an application sends to its executors. */
  static List<String> shippedJars() throws IOException {
    List<String> shipped = new ArrayList<>(projectJars());
    try (Stream<Path> jars = Files.list(Path.of(Build.property("it.benchmarks.jobs")))) {
      jars.map(Path::toString).sorted().forEach(shipped::add);
    }
    return shipped;
  }

  /** Creates an empty directory; deletes the content from an earlier build. */
  static Path recreate(Path directory) throws IOException {
    RunDirectory.deleteTree(directory);
    return Files.createDirectories(directory);
  }
}
