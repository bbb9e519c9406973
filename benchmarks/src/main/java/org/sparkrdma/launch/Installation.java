// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.launch;

import java.nio.file.Path;

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
  public Path jobs() {
    return project.resolve("benchmarks/target/benchmarks.jar");
  }

  /** Jars to send to the executors, for {@code --jars}: the plug-in and the jobs' libraries. */
  public String jarsToShip() {
    return plugIn() + "," + project.resolve("benchmarks/target/job-jars") + "/*.jar";
  }
}
