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

import java.nio.file.Path;
import java.time.Duration;

/**
 * What a cluster is made of.
 *
 * @param sparkHome directory with Spark's jars under {@code jars}
 * @param runDirectory for logs, the Workers' directories and shuffle files; must exist
 * @param workers number of Workers, each a process of its own
 * @param coresPerWorker cores that each Worker offers
 * @param memoryMbPerWorker memory in MiB that each Worker offers to executors
 * @param masterPort port of the Master, 0 for any free one
 * @param masterUiPort port of the Master's web pages, 0 for any free one
 * @param startTimeout how long all Workers may take to be registered
 */
public record ClusterSettings(
    Path sparkHome,
    Path runDirectory,
    int workers,
    int coresPerWorker,
    int memoryMbPerWorker,
    int masterPort,
    int masterUiPort,
    Duration startTimeout) {

  /** Two Workers with one core and 1 GiB each, on free ports. */
  public static ClusterSettings twoWorkers(Path sparkHome, Path runDirectory) {
    return new ClusterSettings(
        sparkHome,
        runDirectory,
        2,
        1,
        1_024,
        LoopbackPort.ANY,
        LoopbackPort.ANY,
        Duration.ofMinutes(2));
  }

  /** The same on ports of the caller's choice, 0 for any free one. */
  public ClusterSettings withPorts(int newMasterPort, int newMasterUiPort) {
    return new ClusterSettings(
        sparkHome,
        runDirectory,
        workers,
        coresPerWorker,
        memoryMbPerWorker,
        newMasterPort,
        newMasterUiPort,
        startTimeout);
  }

  /** The same with so many Workers. */
  public ClusterSettings withWorkers(int newWorkers) {
    return new ClusterSettings(
        sparkHome,
        runDirectory,
        newWorkers,
        coresPerWorker,
        memoryMbPerWorker,
        masterPort,
        masterUiPort,
        startTimeout);
  }
}
