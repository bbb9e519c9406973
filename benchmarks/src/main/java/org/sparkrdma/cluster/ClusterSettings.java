// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.cluster;

import java.nio.file.Path;
import java.time.Duration;

/**
 * Size and directories of a cluster.
 *
 * @param sparkHome directory with Spark's jars under {@code jars}
 * @param javaHome of the Java that runs all of Spark's processes
 * @param runDirectory for logs, the Workers' directories and shuffle files; must exist
 * @param workers number of Workers, each a process of its own
 * @param coresPerWorker cores that each Worker offers
 * @param memoryMbPerWorker memory in MiB that each Worker offers to executors
 * @param startTimeout time limit for the registration of all Workers
 * @param shuffleService whether the first Worker has Spark's external shuffle service, which then
 *     serves the executors of all Workers, because they are on one host
 */
public record ClusterSettings(
    Path sparkHome,
    Path javaHome,
    Path runDirectory,
    int workers,
    int coresPerWorker,
    int memoryMbPerWorker,
    Duration startTimeout,
    boolean shuffleService) {

  /** Two Workers with one core and 1 GiB each, on free ports, on the Java of this process. */
  public static ClusterSettings twoWorkers(Path sparkHome, Path runDirectory) {
    return new ClusterSettings(
        sparkHome,
        Path.of(System.getProperty("java.home")),
        runDirectory,
        2,
        1,
        1_024,
        Duration.ofMinutes(2),
        false);
  }

  /** The same with this number of Workers. */
  public ClusterSettings withWorkers(int newWorkers) {
    return new ClusterSettings(
        sparkHome,
        javaHome,
        runDirectory,
        newWorkers,
        coresPerWorker,
        memoryMbPerWorker,
        startTimeout,
        shuffleService);
  }

  /** The same with these cores and this memory of each Worker. */
  public ClusterSettings withWorkerSize(int newCores, int newMemoryMb) {
    return new ClusterSettings(
        sparkHome,
        javaHome,
        runDirectory,
        workers,
        newCores,
        newMemoryMb,
        startTimeout,
        shuffleService);
  }

  /** The same with another Spark and another Java. */
  public ClusterSettings withSpark(Path newSparkHome, Path newJavaHome) {
    return new ClusterSettings(
        newSparkHome,
        newJavaHome,
        runDirectory,
        workers,
        coresPerWorker,
        memoryMbPerWorker,
        startTimeout,
        shuffleService);
  }

  /** The same with Spark's external shuffle service. */
  public ClusterSettings withShuffleService() {
    return new ClusterSettings(
        sparkHome,
        javaHome,
        runDirectory,
        workers,
        coresPerWorker,
        memoryMbPerWorker,
        startTimeout,
        true);
  }
}
