// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.cluster;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.sparkrdma.launch.Installation;
import org.sparkrdma.launch.Script;

/** Runs {@code spark-submit} of the build's Spark to its end, as Spark's own script does. */
final class SparkSubmit {
  private SparkSubmit() {}

  /** Exit code, standard output and standard error. */
  record Outcome(int exitCode, String output, String errors) {}

  /** The packaged jars. */
  static Installation installation() {
    return new Installation(Path.of("..").toAbsolutePath().normalize());
  }

  /**
   * Runs it.
   *
   * @param directory for its output
   */
  static Outcome run(Path directory, List<String> arguments) throws Exception {
    Path output = directory.resolve("output");
    Path errors = directory.resolve("errors");
    int exitCode =
        new SparkLauncherCommand(
                installation().sparkHome(), Path.of(System.getProperty("java.home")))
            .prepare("org.apache.spark.deploy.SparkSubmit", arguments, Script.briefly())
            .redirectOutput(output.toFile())
            .redirectError(errors.toFile())
            .start()
            .waitFor();
    return new Outcome(exitCode, Files.readString(output), Files.readString(errors));
  }
}
