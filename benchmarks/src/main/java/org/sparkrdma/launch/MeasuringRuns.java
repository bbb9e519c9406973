// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.launch;

import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import org.sparkrdma.cluster.ClusterException;
import org.sparkrdma.cluster.StandaloneCluster;

/**
 * Runs applications that measure something between two executors, one after the other. Each reads a
 * plan from one JSON file and writes its result to another. Confined to one thread.
 */
public record MeasuringRuns(
    StandaloneCluster cluster,
    Installation installation,
    RunDirectory directory,
    ProgressLog progress) {
  private static final int DRIVER_MIB = 512;

  /**
   * Runs one application to its end.
   *
   * @param name name of the application, its files and its progress
   * @param conf settings that are added to or replace the common ones: two executors of one core on
   *     this host that do not read each other's files from the disk
   * @throws LaunchException when it fails, writes no result, or finds its measurement invalid
   */
  public <T> T run(
      String name, Class<?> main, Object plan, Map<String, String> conf, Class<T> resultType)
      throws ClusterException, LaunchException, IOException, InterruptedException {
    return run(name, main, plan, conf, resultType, step -> {});
  }

  /**
   * The same, with the application's progress for the caller.
   *
   * @param onStep is given each step, on a thread of its own
   */
  public <T> T run(
      String name,
      Class<?> main,
      Object plan,
      Map<String, String> conf,
      Class<T> resultType,
      Consumer<ProgressLog.Line> onStep)
      throws ClusterException, LaunchException, IOException, InterruptedException {
    ObjectMapper json = new ObjectMapper();
    Path planFile = directory.data().resolve(name + "-plan.json");
    Path resultFile = directory.data().resolve(name + ".json");
    json.writeValue(planFile.toFile(), plan);
    StandaloneCluster.Application application =
        new StandaloneCluster.Application(
            name,
            main.getName(),
            installation.jobs(),
            installation.jarsToShip(),
            DRIVER_MIB,
            between(conf),
            List.of(planFile.toString(), resultFile.toString()));
    progress.log(name + ": submitted");
    int exitCode =
        cluster.run(
            application,
            line ->
                ProgressLog.Line.parse(line)
                    .ifPresent(
                        step -> {
                          progress.step(name, step);
                          onStep.accept(step);
                        }));
    if (exitCode != 0 || !Files.exists(resultFile)) {
      throw new LaunchException(
          "the %s application failed with exit code %d".formatted(name, exitCode),
          cluster.driverLog(application));
    }
    T result = json.readValue(resultFile.toFile(), resultType);
    if (result instanceof Result measured && measured.objection() != null) {
      throw new LaunchException(name + ": " + measured.objection());
    }
    return result;
  }

  private static Map<String, String> between(Map<String, String> conf) {
    Map<String, String> all = new HashMap<>();
    all.put("spark.driver.host", "127.0.0.1");
    all.put("spark.driver.bindAddress", "127.0.0.1");
    all.put("spark.ui.enabled", "false");
    all.put("spark.executor.cores", "1");
    all.put("spark.executor.memory", "1g");
    all.put("spark.cores.max", "2");
    all.put("spark.scheduler.minRegisteredResourcesRatio", "1.0");
    // On one host Spark would read the files of the other executor from the disk directly.
    all.put("spark.shuffle.readHostLocalDisk", "false");
    all.putAll(conf);
    return all;
  }

  /** The result of an application that may find its own measurement invalid. */
  public interface Result {
    /** The reason why the measurement is invalid, in one sentence; null when it is valid. */
    String objection();
  }
}
