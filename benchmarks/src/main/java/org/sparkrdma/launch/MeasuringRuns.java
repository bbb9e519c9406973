// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.launch;

import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import org.sparkrdma.cluster.LaunchException;
import org.sparkrdma.cluster.StandaloneCluster;

/**
 * Runs applications that measure something between two executors, one after the other. Each is a
 * {@link MeasuredApplication} with a plan of its own. Confined to one thread.
 *
 * @param userConf settings of Spark that the user adds to all applications
 */
public record MeasuringRuns(
    StandaloneCluster cluster,
    Installation installation,
    RunDirectory directory,
    ProgressLog progress,
    Map<String, String> userConf) {
  private static final Map<String, String> COMMON =
      Map.of(
          "spark.driver.host", "127.0.0.1",
          "spark.driver.bindAddress", "127.0.0.1",
          "spark.ui.enabled", "false",
          "spark.driver.memory", "512m",
          "spark.executor.cores", "1",
          "spark.executor.memory", "1g",
          "spark.cores.max", "2",
          "spark.scheduler.minRegisteredResourcesRatio", "1.0",
          "spark.shuffle.rdma.engine", "soft",
          // On one host Spark would read the files of the other executor from the disk directly.
          "spark.shuffle.readHostLocalDisk", "false");

  /**
   * Runs one application to its end.
   *
   * @param name name of the application, its files and its progress
   * @param conf settings that are added to or replace the common ones: two executors of one core on
   *     this host that do not read each other's files from the disk
   * @param onStep is given each step, on a thread of its own
   * @throws LaunchException when it fails, writes no result, or finds its measurement invalid
   */
  public <T> T run(
      String name,
      MeasuredApplication.Plan plan,
      Map<String, String> conf,
      Class<T> resultType,
      Consumer<ProgressLog.Line> onStep)
      throws LaunchException, IOException, InterruptedException {
    Map<String, String> all = new HashMap<>(COMMON);
    all.putAll(conf);
    all.putAll(userConf);
    ObjectMapper json = new ObjectMapper();
    Path planFile = directory.data().resolve(name + "-plan.json");
    Path resultFile = directory.data().resolve(name + ".json");
    json.writeValue(planFile.toFile(), plan);
    List<String> submit = new ArrayList<>(List.of("--jars", installation.jarsToShip()));
    all.forEach((key, value) -> submit.addAll(List.of("--conf", key + "=" + value)));
    submit.addAll(List.of("--class", MeasuredApplication.class.getName()));
    submit.addAll(List.of(installation.jobs().toString(), plan.getClass().getName()));
    submit.addAll(List.of(planFile.toString(), resultFile.toString()));
    progress.log(name + ": submitted");
    Consumer<ProgressLog.Line> onLine =
        step -> {
          progress.step(name, step);
          onStep.accept(step);
        };
    int exitCode =
        cluster.run(name, submit, line -> ProgressLog.Line.parse(line).ifPresent(onLine));
    if (exitCode != 0 || !Files.exists(resultFile)) {
      throw new LaunchException(
          "the %s application failed with exit code %d".formatted(name, exitCode),
          cluster.log(name));
    }
    return json.readValue(resultFile.toFile(), resultType);
  }
}
