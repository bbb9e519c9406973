// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.cluster;

import java.nio.file.Path;

/**
 * Size and directories of a cluster.
 *
 * @param sparkHome directory with Spark's jars under {@code jars}
 * @param javaHome of the Java that runs all of Spark's processes
 * @param runDirectory for logs, the Workers' directories and shuffle files; must exist
 * @param workers number of Workers, each a process of its own
 * @param cores cores that each Worker offers
 * @param memoryMib memory that each Worker offers to executors
 */
public record ClusterSettings(
    Path sparkHome, Path javaHome, Path runDirectory, int workers, int cores, int memoryMib) {

  /** Two Workers with one core and 1 GiB each, on free ports, on the Java of this process. */
  public static ClusterSettings twoWorkers(Path sparkHome, Path runDirectory) {
    Path javaHome = Path.of(System.getProperty("java.home"));
    return new ClusterSettings(sparkHome, javaHome, runDirectory, 2, 1, 1_024);
  }

  /** The same with this number of Workers. */
  public ClusterSettings withWorkers(int newWorkers) {
    return new ClusterSettings(sparkHome, javaHome, runDirectory, newWorkers, cores, memoryMib);
  }

  /** The same with these cores and this memory of each Worker. */
  public ClusterSettings withWorkerSize(int newCores, int newMemoryMib) {
    return new ClusterSettings(sparkHome, javaHome, runDirectory, workers, newCores, newMemoryMib);
  }

  /** The same with another Spark and another Java. */
  public ClusterSettings withSpark(Path newSparkHome, Path newJavaHome) {
    return new ClusterSettings(newSparkHome, newJavaHome, runDirectory, workers, cores, memoryMib);
  }
}
