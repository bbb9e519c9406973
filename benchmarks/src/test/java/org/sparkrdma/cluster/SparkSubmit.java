// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.cluster;

import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.sparkrdma.launch.Installation;
import org.sparkrdma.launch.Script;

/** Runs {@code spark-submit} of the build's Spark to its end, as Spark's own script does. */
public final class SparkSubmit {
  private static final Duration END_GRACE = Duration.ofSeconds(10);

  private SparkSubmit() {}

  /** Exit code, standard output and standard error. */
  public record Outcome(int exitCode, String output, String errors) {}

  /** The packaged jars. */
  static Installation installation() {
    return new Installation(Path.of("..").toAbsolutePath().normalize());
  }

  /** The jar of a class, for the class path of Spark's processes. */
  static String jarOf(Class<?> type) {
    return type.getProtectionDomain().getCodeSource().getLocation().getPath();
  }

  /** The options of these settings, each KEY=VALUE. */
  static List<String> conf(String... settings) {
    return Stream.of(settings).flatMap(setting -> Stream.of("--conf", setting)).toList();
  }

  /**
   * Runs it.
   *
   * @param directory for its output
   */
  static Outcome run(Path directory, List<String> arguments) throws Exception {
    return run(installation().sparkHome(), directory, Map.of(), arguments);
  }

  /**
   * Same as the other one, with another Spark home.
   *
   * @param variables of the environment, which are added to those of this process
   */
  public static Outcome run(
      Path sparkHome, Path directory, Map<String, String> variables, List<String> arguments)
      throws Exception {
    Process process = start(sparkHome, directory, variables, arguments);
    try {
      return outcome(process, directory);
    } finally {
      // A test that times out ends its application.
      LiveProcesses.end(List.of(process.toHandle()), END_GRACE);
    }
  }

  /** Starts it. */
  static Process start(
      Path sparkHome, Path directory, Map<String, String> variables, List<String> arguments)
      throws Exception {
    Map<String, String> environment = new HashMap<>(Script.briefly());
    environment.putAll(variables);
    String java = environment.getOrDefault("JAVA_HOME", System.getProperty("java.home"));
    return new SparkLauncherCommand(sparkHome, Path.of(java))
        .prepare(
            "org.apache.spark.deploy.SparkSubmit",
            arguments,
            environment,
            directory.resolve("errors"))
        .redirectOutput(directory.resolve("output").toFile())
        .start();
  }

  /** The outcome at its end. */
  static Outcome outcome(Process process, Path directory) throws Exception {
    return new Outcome(
        process.waitFor(),
        Files.readString(directory.resolve("output")),
        Files.readString(directory.resolve("errors")));
  }
}
