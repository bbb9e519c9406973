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
package org.sparkrdma.benchmarks.transfer;

import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.sparkrdma.cluster.ClusterException;
import org.sparkrdma.cluster.SparkApplication;
import org.sparkrdma.cluster.StandaloneCluster;
import org.sparkrdma.launch.DataSize;
import org.sparkrdma.launch.Installation;
import org.sparkrdma.launch.LaunchException;
import org.sparkrdma.launch.ProgressLine;
import org.sparkrdma.launch.ProgressLog;
import org.sparkrdma.launch.RunDirectory;

/**
 * The applications of one benchmark, one for each kind of verification, run one after the other on
 * its cluster by its thread.
 *
 * @param pinned the plug-in's budget of pinned memory in each executor
 * @param flightRecordings directory for recordings of the executors, null for none
 */
record TransferRuns(
    StandaloneCluster cluster,
    Installation installation,
    RunDirectory directory,
    TransferPlan plan,
    DataSize pinned,
    Path flightRecordings,
    ProgressLog progress) {

  List<CaseReport> measure(VerifyMode verify)
      throws ClusterException, LaunchException, IOException, InterruptedException {
    String name = "verify-" + verify;
    ObjectMapper json = new ObjectMapper();
    Path planFile = directory.data().resolve(name + "-plan.json");
    Path resultFile = directory.data().resolve(name + ".json");
    json.writeValue(planFile.toFile(), plan);
    SparkApplication application =
        new SparkApplication(
            name,
            TransferApplication.class.getName(),
            installation.jobs(),
            installation.jarsToShip(),
            512,
            conf(verify),
            List.of(planFile.toString(), resultFile.toString()));
    progress.say(name + ": submitted");
    int exitCode =
        cluster.run(
            application,
            line -> ProgressLine.parse(line).ifPresent(step -> progress.step(name, step)));
    if (exitCode != 0 || !Files.exists(resultFile)) {
      throw new LaunchException(
          "the %s application failed with exit code %d".formatted(name, exitCode),
          cluster.driverLog(application));
    }
    TransferResult result = json.readValue(resultFile.toFile(), TransferResult.class);
    if (result.objection() != null) {
      throw new LaunchException(name + ": " + result.objection());
    }
    return plan.blockBytes().stream()
        .map(
            bytes ->
                CaseReport.of(
                    verify,
                    result.pairs().stream().filter(pair -> pair.blockBytes() == bytes).toList()))
        .toList();
  }

  private Map<String, String> conf(VerifyMode verify) {
    Map<String, String> conf = new HashMap<>(verify.conf());
    conf.put("spark.driver.host", "127.0.0.1");
    conf.put("spark.driver.bindAddress", "127.0.0.1");
    conf.put("spark.ui.enabled", "false");
    conf.put("spark.executor.cores", "1");
    conf.put("spark.executor.memory", "1g");
    conf.put("spark.cores.max", "2");
    conf.put("spark.scheduler.minRegisteredResourcesRatio", "1.0");
    // A round that fails is told at once instead of tried again.
    conf.put("spark.task.maxFailures", "1");
    conf.put("spark.stage.maxConsecutiveAttempts", "1");
    conf.put("spark.shuffle.readHostLocalDisk", "false");
    conf.put("spark.shuffle.manager", "org.sparkrdma.shuffle.RdmaShuffleManager");
    conf.put("spark.shuffle.rdma.mode", "required");
    conf.put("spark.shuffle.rdma.engine", "soft");
    conf.put("spark.shuffle.rdma.pinned.max", Long.toString(pinned.bytes()));
    if (flightRecordings != null) {
      conf.put(
          "spark.executor.extraJavaOptions",
          "-XX:StartFlightRecording:filename=" + flightRecordings + ",settings=profile");
    }
    return conf;
  }
}
