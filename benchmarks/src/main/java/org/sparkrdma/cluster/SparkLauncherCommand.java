/*
 * Licensed under the Apache License, Version 2.0 (the "License");
 * you may not use this file except in compliance with the License.
 * You may obtain a copy of the License at
 *
 *     http://www.apache.org/licenses/LICENSE-2.0
 *
 * Unless required by applicable law or agreed to in writing, software
 * distributed under the License is distributed on an "AS IS" BASIS,
 * WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
 * See the License for the specific language governing permissions and
 * limitations under the License.
 */
package org.sparkrdma.cluster;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * Command lines and environment of Spark's processes, as Spark's own bin/spark-class makes them,
 * for a Spark home without scripts.
 *
 * <p>The caller's SPARK_ and HADOOP_ variables are not passed on: a cluster of ours is the same on
 * every machine.
 */
final class SparkLauncherCommand {
  private static final String LAUNCHER = "org.apache.spark.launcher.Main";
  private static final String SCALA_LINE = "2.13";

  private final Path sparkHome;
  private final Path javaHome = Path.of(System.getProperty("java.home"));

  SparkLauncherCommand(Path sparkHome) {
    this.sparkHome = sparkHome;
  }

  /** A process of Spark's class {@code mainClass}, ready to start, with its environment set. */
  ProcessBuilder prepare(String mainClass, List<String> arguments, Map<String, String> variables)
      throws IOException, ClusterException {
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
      List<String> command = parse(process.getInputStream().readAllBytes());
      if (command.isEmpty()) {
        throw new ClusterException(
            "Spark's launcher gave no command for %s: %s"
                .formatted(mainClass, Files.readString(errors).strip()));
      }
      ProcessBuilder prepared = new ProcessBuilder(command);
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
    environment.put("SPARK_SCALA_VERSION", SCALA_LINE);
    environment.put("SPARK_ENV_LOADED", "1");
    environment.put("SPARK_LOCAL_IP", "127.0.0.1");
    environment.putAll(variables);
  }

  /** The launcher ends each word with a NUL, the first one being an empty word and a newline. */
  static List<String> parse(byte[] output) {
    String text = new String(output, StandardCharsets.UTF_8);
    int start = text.indexOf("\0\n");
    if (start < 0) {
      return List.of();
    }
    return List.of(text.substring(start + 2).split("\0"));
  }
}
