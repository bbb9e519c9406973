// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.cluster;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * The arguments of one spark-submit.
 *
 * @param name name of the application and of its log files; short, without spaces
 * @param mainClass the class with {@code main}
 * @param jar the application's jar
 * @param jars libraries of the application that Spark does not ship, for {@code --jars}
 * @param driverMemoryMb heap of the driver in MiB
 * @param conf Spark properties, as given by {@code --conf}
 * @param arguments for {@code main}
 */
public record SparkApplication(
    String name,
    String mainClass,
    Path jar,
    List<Path> jars,
    int driverMemoryMb,
    Map<String, String> conf,
    List<String> arguments) {

  /** The arguments of SparkSubmit for this application on the given master. */
  List<String> submitArguments(String masterUrl) {
    List<String> all = new ArrayList<>(List.of("--master", masterUrl));
    all.addAll(List.of("--driver-memory", driverMemoryMb + "m"));
    conf.forEach((key, value) -> all.addAll(List.of("--conf", key + "=" + value)));
    if (!jars.isEmpty()) {
      all.addAll(List.of("--jars", String.join(",", jars.stream().map(Path::toString).toList())));
    }
    all.addAll(List.of("--class", mainClass, jar.toString()));
    all.addAll(arguments);
    return all;
  }
}
