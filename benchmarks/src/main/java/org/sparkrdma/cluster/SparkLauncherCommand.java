// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.cluster;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * Command lines and environment of Spark's processes, as Spark's own bin/spark-class makes them,
 * for a Spark home without scripts.
 *
 * <p>The caller's SPARK_ and HADOOP_ variables are not passed on, so that the cluster is the same
 * on every machine.
 */
record SparkLauncherCommand(Path sparkHome, Path javaHome) {
  private static final String LAUNCHER = "org.apache.spark.launcher.Main";

  /**
   * A process of Spark's class {@code mainClass}, ready to start, with its environment set.
   *
   * @param log for its standard error
   */
  ProcessBuilder prepare(
      String mainClass, List<String> arguments, Map<String, String> variables, Path log)
      throws IOException, LaunchException {
    String java = javaHome.resolve("bin/java").toString();
    List<String> launcher = new ArrayList<>(List.of(java, "-Xmx128m", "-XX:TieredStopAtLevel=1"));
    launcher.addAll(List.of("-cp", sparkHome.resolve("jars") + "/*", LAUNCHER, mainClass));
    launcher.addAll(arguments);
    ProcessBuilder builder = new ProcessBuilder(launcher).redirectError(log.toFile());
    setEnvironment(builder.environment(), variables);
    Process process = builder.start();
    String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    // Each word ends with a NUL; the first one is empty, and a newline follows it.
    int start = output.indexOf("\0\n");
    if (start < 0) {
      throw new LaunchException("Spark's launcher gave no command for " + mainClass, log);
    }
    return builder.command(output.substring(start + 2).split("\0"));
  }

  private void setEnvironment(Map<String, String> environment, Map<String, String> variables) {
    environment.keySet().removeIf(name -> name.startsWith("SPARK_") || name.startsWith("HADOOP_"));
    environment.put("JAVA_HOME", javaHome.toString());
    environment.put("SPARK_HOME", sparkHome.toString());
    // Any will do: it names folders of a Spark that is being developed.
    environment.put("SPARK_SCALA_VERSION", "2.13");
    environment.put("SPARK_ENV_LOADED", "1");
    environment.put("SPARK_LOCAL_IP", "127.0.0.1");
    environment.putAll(variables);
  }
}
