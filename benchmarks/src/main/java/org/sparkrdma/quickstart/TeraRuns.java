// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.quickstart;

import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.sparkrdma.benchmarks.tera.GeneratedInput;
import org.sparkrdma.benchmarks.tera.SortResult;
import org.sparkrdma.benchmarks.tera.TeraApplication;
import org.sparkrdma.cluster.ClusterException;
import org.sparkrdma.cluster.SparkApplication;
import org.sparkrdma.cluster.StandaloneCluster;
import org.sparkrdma.launch.DataSize;
import org.sparkrdma.launch.Installation;
import org.sparkrdma.launch.LaunchException;
import org.sparkrdma.launch.ProgressLine;
import org.sparkrdma.launch.ProgressLog;
import org.sparkrdma.launch.RunDirectory;

/** The applications of one quick start, run one after the other on its cluster by its thread. */
final class TeraRuns {
  static final int EXECUTORS = 2;

  private static final int RECORD_BYTES = 100;
  private static final long BYTES_PER_PARTITION = 32L << 20;
  private static final int FEWEST_PARTITIONS = 2 * EXECUTORS;

  private final StandaloneCluster cluster;
  private final Installation installation;
  private final RunDirectory directory;
  private final DataSize size;
  private final ProgressLog progress;
  private final boolean killExecutor;

  /**
   * @param killExecutor whether each sort loses an executor while the shuffle is read
   */
  TeraRuns(
      StandaloneCluster cluster,
      Installation installation,
      RunDirectory directory,
      DataSize size,
      ProgressLog progress,
      boolean killExecutor) {
    this.cluster = cluster;
    this.installation = installation;
    this.directory = directory;
    this.size = size;
    this.progress = progress;
    this.killExecutor = killExecutor;
  }

  GeneratedInput generate()
      throws ClusterException, LaunchException, IOException, InterruptedException {
    List<String> arguments =
        List.of(
            "generate",
            uri("input"),
            Long.toString(size.bytes() / RECORD_BYTES),
            Integer.toString(partitions()),
            resultFile("input").toString());
    run("input", ShuffleMode.VANILLA, arguments);
    return read("input", GeneratedInput.class);
  }

  SortResult sort(ShuffleMode mode)
      throws ClusterException, LaunchException, IOException, InterruptedException {
    String name = mode.toString();
    List<String> arguments =
        List.of(
            "sort",
            uri("input"),
            uri(name),
            Integer.toString(partitions()),
            Integer.toString(EXECUTORS),
            resultFile(name).toString());
    run(name, mode, arguments);
    return read(name, SortResult.class);
  }

  /** Makes room for the next run. */
  void deleteOutput(ShuffleMode mode) throws IOException {
    RunDirectory.deleteTree(directory.data().resolve(mode.toString()));
  }

  private void run(String name, ShuffleMode mode, List<String> arguments)
      throws ClusterException, LaunchException, IOException, InterruptedException {
    SparkApplication application =
        new SparkApplication(
            name,
            TeraApplication.class.getName(),
            installation.jobs(),
            installation.jarsToShip(),
            512,
            conf(mode),
            arguments);
    progress.say(name + ": submitted");
    int atLeast = killExecutor && !name.equals("input") ? 2 * partitions() : Integer.MAX_VALUE;
    ExecutorLoss loss = new ExecutorLoss(atLeast, cluster::executors);
    int exitCode =
        cluster.run(
            application,
            line -> ProgressLine.parse(line).ifPresent(step -> onStep(name, step, loss)));
    if (exitCode != 0) {
      throw new LaunchException(
          "the %s application failed with exit code %d".formatted(name, exitCode),
          cluster.driverLog(application));
    }
  }

  private void onStep(String name, ProgressLine step, ExecutorLoss loss) {
    progress.step(name, step);
    if (loss.onStep(step)) {
      progress.say(name + ": killed an executor");
    }
  }

  private static Map<String, String> conf(ShuffleMode mode) {
    Map<String, String> conf = new HashMap<>(mode.conf());
    conf.put("spark.driver.host", "127.0.0.1");
    conf.put("spark.driver.bindAddress", "127.0.0.1");
    conf.put("spark.ui.port", "0");
    conf.put("spark.executor.cores", "1");
    conf.put("spark.executor.memory", "1g");
    conf.put("spark.cores.max", Integer.toString(EXECUTORS));
    conf.put("spark.serializer", "org.apache.spark.serializer.KryoSerializer");
    // On one host Spark would read the files of the other executor from the disk directly.
    conf.put("spark.shuffle.readHostLocalDisk", "false");
    // Start with both executors, so that each run spreads its map outputs alike.
    conf.put("spark.scheduler.minRegisteredResourcesRatio", "1.0");
    return conf;
  }

  private int partitions() {
    long wanted = (size.bytes() + BYTES_PER_PARTITION - 1) / BYTES_PER_PARTITION;
    return Math.toIntExact(Math.max(FEWEST_PARTITIONS, wanted));
  }

  /** For Hadoop, whose paths do not know escaped characters. */
  private String uri(String name) {
    return "file:" + directory.data().resolve(name);
  }

  private Path resultFile(String name) {
    return directory.data().resolve(name + ".json");
  }

  private <T> T read(String name, Class<T> type) throws IOException, LaunchException {
    Path file = resultFile(name);
    if (!Files.exists(file)) {
      throw new LaunchException("the %s application left no result".formatted(name));
    }
    return new ObjectMapper().readValue(file.toFile(), type);
  }
}
