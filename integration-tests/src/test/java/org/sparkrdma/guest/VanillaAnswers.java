// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.guest;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.sparkrdma.guest.cluster.VanillaSpark;

/**
 * Results of {@link VanillaSpark} on the host, computed once for all tests of a build. The run also
 * archives Spark's classes, with which JVMs start in half the time in a guest.
 */
final class VanillaAnswers {
  private static final long LIMIT_MINUTES = 3;

  private static final String ARCHIVE = "spark.jsa";

  private static Path directory;

  private VanillaAnswers() {}

  /** Directory of the results; guests see it at the same path. */
  static synchronized Path directory() throws IOException, InterruptedException {
    if (directory == null) {
      Path asked = ClusterJava.recreate(Path.of(Build.property("it.guest.directory"), "vanilla"));
      ask(asked);
      directory = asked;
    }
    return directory;
  }

  /** The option that uses the archive. */
  static String archive() throws IOException, InterruptedException {
    return "-XX:SharedArchiveFile=" + directory().resolve(ARCHIVE);
  }

  private static void ask(Path answers) throws IOException, InterruptedException {
    Path log = answers.resolve("log");
    List<String> command = new ArrayList<>(ClusterJava.spark());
    command.add(1, "-XX:ArchiveClassesAtExit=" + answers.resolve(ARCHIVE));
    command.add(1, "-Xlog:cds=error,cds+dynamic=error");
    command.add("org.apache.spark.deploy.SparkSubmit");
    command.addAll(List.of("--jars", String.join(",", ClusterJava.shippedJars())));
    command.addAll(List.of("--master", "local[2]", "--class", VanillaSpark.class.getName()));
    command.addAll(List.of(Build.property("it.jobs.jar"), answers.toString()));
    Process vanilla =
        new ProcessBuilder(command).redirectErrorStream(true).redirectOutput(log.toFile()).start();
    try {
      if (!vanilla.waitFor(LIMIT_MINUTES, TimeUnit.MINUTES) || vanilla.exitValue() != 0) {
        throw new IllegalStateException("vanilla Spark failed:\n" + Files.readString(log));
      }
    } finally {
      vanilla.destroyForcibly();
    }
  }
}
