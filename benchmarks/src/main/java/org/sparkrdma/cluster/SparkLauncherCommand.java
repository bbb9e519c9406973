// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.cluster;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * Command lines and environment of Spark's processes, as Spark's own bin/spark-class makes them,
 * for a Spark home without scripts.
 *
 * <p>The caller's SPARK_ and HADOOP_ variables are not passed on, so that the cluster is the same
 * on every machine.
 */
final class SparkLauncherCommand {
  private static final String LAUNCHER = "org.apache.spark.launcher.Main";
  private static final Pattern SCALA_LIBRARY = Pattern.compile("scala-library-(2\\.\\d+)\\..*jar");

  private final Path sparkHome;
  private final Path javaHome;
  private final String scalaVersion;

  SparkLauncherCommand(Path sparkHome, Path javaHome) throws LaunchException {
    this.sparkHome = sparkHome;
    this.javaHome = javaHome;
    this.scalaVersion = scalaVersion(sparkHome.resolve("jars"));
  }

  /** The Scala version, such as 2.13, from the name of Scala's own jar. */
  private static String scalaVersion(Path jars) throws LaunchException {
    String[] names = jars.toFile().list();
    return Stream.of(names == null ? new String[0] : names)
        .map(SCALA_LIBRARY::matcher)
        .filter(Matcher::matches)
        .map(matcher -> matcher.group(1))
        .findFirst()
        .orElseThrow(
            () -> new LaunchException("no Spark in " + jars + ": it has no scala-library jar"));
  }

  /** A process of Spark's class {@code mainClass}, ready to start, with its environment set. */
  ProcessBuilder prepare(String mainClass, List<String> arguments, Map<String, String> variables)
      throws IOException, LaunchException {
    List<String> launcher =
        new ArrayList<>(
            List.of(
                javaHome.resolve("bin/java").toString(),
                "-Xmx128m",
                "-XX:TieredStopAtLevel=1",
                "-cp",
                sparkHome.resolve("jars") + "/*",
                LAUNCHER,
                mainClass));
    launcher.addAll(arguments);
    Path errors = Files.createTempFile("spark-launcher", ".err");
    try {
      ProcessBuilder builder = new ProcessBuilder(launcher).redirectError(errors.toFile());
      setEnvironment(builder, variables);
      Process process = builder.start();
      String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
      // Each word ends with a NUL; the first one is empty, and a newline follows it.
      int start = output.indexOf("\0\n");
      if (start < 0) {
        throw new LaunchException(
            "Spark's launcher gave no command for %s: %s"
                .formatted(mainClass, Files.readString(errors).strip()));
      }
      ProcessBuilder prepared = new ProcessBuilder(output.substring(start + 2).split("\0"));
      setEnvironment(prepared, variables);
      return prepared;
    } finally {
      Files.delete(errors);
    }
  }

  private void setEnvironment(ProcessBuilder builder, Map<String, String> variables) {
    Map<String, String> environment = builder.environment();
    environment.keySet().removeIf(name -> name.startsWith("SPARK_") || name.startsWith("HADOOP_"));
    environment.put("JAVA_HOME", javaHome.toString());
    environment.put("SPARK_HOME", sparkHome.toString());
    environment.put("SPARK_SCALA_VERSION", scalaVersion);
    environment.put("SPARK_ENV_LOADED", "1");
    environment.put("SPARK_LOCAL_IP", "127.0.0.1");
    environment.putAll(variables);
  }
}
