// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.launch;

import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.sparkrdma.cluster.LaunchException;

/** Paths of the build's results below the project's directory. */
public record Installation(Path project) {
  /** A directory with Spark and its dependencies. */
  public Path sparkHome() {
    return project.resolve("benchmarks/target/spark-home");
  }

  /** The plug-in's jar, as users get it. */
  public Path plugIn() {
    return project.resolve("shuffle-plugin/target/spark-rdma-shuffle.jar");
  }

  /** The jar with the jobs. */
  public Path jobs() throws LaunchException {
    Path jar = project.resolve("benchmarks/target/benchmarks.jar");
    if (!Files.isRegularFile(jar)) {
      throw new LaunchException("not built: file=" + jar);
    }
    return jar;
  }

  /** Jars to send to the executors: the plug-in and the libraries of the jobs. */
  public List<Path> jarsToShip() throws IOException {
    List<Path> jars = new ArrayList<>(List.of(plugIn()));
    jars.addAll(list("benchmarks/target/job-jars", "*.jar"));
    return jars;
  }

  private List<Path> list(String directory, String glob) throws IOException {
    List<Path> found = new ArrayList<>();
    try (DirectoryStream<Path> entries =
        Files.newDirectoryStream(project.resolve(directory), glob)) {
      entries.forEach(found::add);
    }
    return found;
  }
}
