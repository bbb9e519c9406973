// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.soak;

import java.io.IOException;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.TreeMap;
import org.sparkrdma.cluster.LaunchException;
import org.sparkrdma.launch.MeasuringRuns;

/**
 * Runs and monitors the application of a soak. Confined to the command's thread.
 *
 * @param vanilla whether it runs under Spark's own shuffle
 * @param dynamicAllocation whether idle executors end, and the Worker's shuffle service keeps their
 *     map outputs
 */
record SoakRun(
    MeasuringRuns runs,
    Duration length,
    boolean growthJudged,
    long seed,
    List<SoakJob> jobs,
    boolean vanilla,
    boolean dynamicAllocation) {
  static final int EXECUTORS = 3;

  /** With dynamic allocation, of one Worker. */
  static final int MAX_EXECUTORS = 4;

  private static final int HEAP_MIB = 640;

  /** The last part of a soak without faults, so that a kill is over before the last samples. */
  private static final double QUIET_SECONDS = 30;

  /** The plug-in on the loopback engine, with limits that are reached within minutes. */
  private static final Map<String, String> PLUGIN =
      Map.of(
          "spark.shuffle.manager", "org.sparkrdma.shuffle.RdmaShuffleManager",
          "spark.shuffle.rdma.mode", "required",
          "spark.shuffle.rdma.pinned.max", "96m",
          "spark.shuffle.rdma.connect.timeout", "2s",
          "spark.shuffle.rdma.request.timeout", "4s",
          "spark.shuffle.rdma.idle.timeout", "10s");

  private static final Map<String, String> DYNAMIC_ALLOCATION =
      Map.of(
          "spark.dynamicAllocation.enabled", "true",
          "spark.dynamicAllocation.minExecutors", "2",
          "spark.dynamicAllocation.executorIdleTimeout", "1s",
          "spark.scheduler.minRegisteredResourcesRatio", "0.5",
          "spark.cores.max", Integer.toString(MAX_EXECUTORS),
          "spark.shuffle.service.enabled", "true",
          "spark.shuffle.service.removeShuffle", "true",
          "spark.driver.extraJavaOptions", "-Xms512m -XX:+AlwaysPreTouch");

  private static final List<String> CODECS = List.of("lz4", "zstd", "snappy", "lzf", "none");
  private static final List<String> CHECKSUMS = List.of("ADLER32", "CRC32", "CRC32C");

  /** Probability of each fault for one operation; READs are far more frequent than connections. */
  private static final String FAULTS =
      "read-error%0.0005,flip-bit%0.0005,hang%0.0002,delay%0.002:50ms,drop-connection%0.0003"
          + ",send-error%0.0005,send-hang%0.0002,refuse-connect%0.05,hang-connect%0.03"
          + ",register-error%0.01,seed=";

  SoakReport run() throws LaunchException, IOException, InterruptedException {
    Map<String, String> randomSettings = randomSettings(seed, !vanilla);
    ExecutorFaults faults =
        new ExecutorFaults(seed, EXECUTORS, this::executors, SoakRun::signal, runs.progress()::log);
    ExecutorMonitor monitor =
        new ExecutorMonitor(this::sampled, faults, length.toSeconds() - QUIET_SECONDS);
    SoakPlan.Result result;
    double seconds;
    try {
      monitor.start();
      result =
          runs.run(
              "soak",
              new SoakPlan(length.toSeconds(), seed, jobs, EXECUTORS),
              conf(randomSettings),
              SoakPlan.Result.class,
              step -> {});
      seconds = monitor.seconds();
    } finally {
      monitor.end();
    }
    return new SoakReport(
        seed,
        seconds,
        vanilla,
        growthJudged,
        randomSettings,
        faults.counts(),
        result,
        LongLivedExecutor.of(monitor.samples(), seconds),
        monitor.samples());
  }

  private List<Long> executors() {
    return runs.cluster().executors().stream().map(ProcessHandle::pid).toList();
  }

  /**
   * With dynamic allocation driver and Worker, too: what they keep of executors that have ended
   * must not grow.
   */
  private List<Long> sampled() {
    return dynamicAllocation
        ? ProcessHandle.current().descendants().map(ProcessHandle::pid).toList()
        : executors();
  }

  private static void signal(String signal, long pid) throws IOException, InterruptedException {
    // The process may have ended.
    new ProcessBuilder("kill", "-" + signal, Long.toString(pid))
        .redirectErrorStream(true)
        .redirectOutput(ProcessBuilder.Redirect.DISCARD)
        .start()
        .waitFor();
  }

  private Map<String, String> conf(Map<String, String> randomSettings) {
    Map<String, String> conf = new HashMap<>(randomSettings);
    conf.put("spark.executor.memory", HEAP_MIB + "m");
    // The whole heap is resident from the start, so that only native memory can grow.
    conf.put("spark.executor.extraJavaOptions", "-Xms" + HEAP_MIB + "m -XX:+AlwaysPreTouch");
    conf.put("spark.cores.max", Integer.toString(EXECUTORS));
    conf.put("spark.serializer", "org.apache.spark.serializer.KryoSerializer");
    conf.put("spark.sql.shuffle.partitions", "60");
    conf.put("spark.network.maxRemoteBlockSizeFetchToMem", "6m");
    if (!vanilla) {
      conf.putAll(PLUGIN);
    }
    if (dynamicAllocation) {
      conf.putAll(DYNAMIC_ALLOCATION);
      conf.put("spark.shuffle.service.port", Integer.toString(runs.cluster().shuffleServicePort()));
    }
    return conf;
  }

  /**
   * The settings that depend on the seed: codec, checksum algorithm, injected faults.
   *
   * @param faults whether the plug-in's engine injects faults
   */
  static Map<String, String> randomSettings(long seed, boolean faults) {
    SplittableRandom random = new SplittableRandom(seed);
    Map<String, String> settings = new TreeMap<>();
    String codec = CODECS.get(random.nextInt(CODECS.size()));
    if (codec.equals("none")) {
      settings.put("spark.shuffle.compress", "false");
    } else {
      settings.put("spark.io.compression.codec", codec);
    }
    settings.put(
        "spark.shuffle.checksum.algorithm", CHECKSUMS.get(random.nextInt(CHECKSUMS.size())));
    if (faults) {
      settings.put("spark.shuffle.rdma.soft.faults", FAULTS + random.nextInt(Integer.MAX_VALUE));
    }
    return settings;
  }
}
