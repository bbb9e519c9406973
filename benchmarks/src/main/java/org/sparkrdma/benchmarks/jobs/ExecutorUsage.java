// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.benchmarks.jobs;

import com.sun.management.OperatingSystemMXBean;
import java.io.IOException;
import java.io.Serializable;
import java.lang.management.GarbageCollectorMXBean;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.IntStream;
import org.apache.spark.SparkEnv;
import org.apache.spark.api.java.JavaSparkContext;
import org.sparkrdma.shuffle.RdmaShuffleManager;
import scala.Function1;
import scala.collection.Iterator;
import scala.collection.Iterator$;
import scala.reflect.ClassTag$;

/**
 * CPU time, time of garbage collections and memory of one executor process since its start, and the
 * plug-in's counters if it is the shuffle manager. Immutable.
 */
public final class ExecutorUsage implements Serializable {
  private static final long serialVersionUID = 1L;
  private static final String PEAK_RESIDENT = "VmHWM:";

  private final String executorId;
  private final long pid;
  private final long cpuNs;
  private final long gcMs;
  private final long peakResidentBytes;
  private final Map<String, Long> counters;

  /** Usage of the executor whose task calls this. */
  public ExecutorUsage() {
    var system = (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();
    SparkEnv env = SparkEnv.get();
    executorId = env.executorId();
    pid = ProcessHandle.current().pid();
    cpuNs = system.getProcessCpuTime();
    gcMs =
        ManagementFactory.getGarbageCollectorMXBeans().stream()
            .mapToLong(GarbageCollectorMXBean::getCollectionTime)
            .sum();
    peakResidentBytes = readPeakResidentBytes(Path.of("/proc/self/status"));
    counters =
        env.shuffleManager() instanceof RdmaShuffleManager manager
            ? new HashMap<>(manager.counters())
            : new HashMap<>();
  }

  /**
   * Collects the usage of every executor of the application, by executor id.
   *
   * <p>A barrier stage starts all its tasks together, so that {@code totalCores} tasks use every
   * core and reach every executor.
   */
  public static Map<String, ExecutorUsage> ofAll(JavaSparkContext spark, int totalCores) {
    var slots = IntStream.range(0, totalCores).boxed().toList();
    Map<String, ExecutorUsage> byExecutor = new TreeMap<>();
    spark
        .parallelize(slots, totalCores)
        .rdd()
        .barrier()
        .mapPartitions(
            (Function1<Iterator<Integer>, Iterator<ExecutorUsage>> & Serializable)
                ignored -> Iterator$.MODULE$.single(new ExecutorUsage()),
            false,
            ClassTag$.MODULE$.<ExecutorUsage>apply(ExecutorUsage.class))
        .toJavaRDD()
        .collect()
        .forEach(usage -> byExecutor.put(usage.executorId, usage));
    return byExecutor;
  }

  /** The line {@code VmHWM} of proc_pid_status(5); 0 where the system has no such file. */
  private static long readPeakResidentBytes(Path status) {
    try (var lines = Files.lines(status)) {
      return lines
          .filter(line -> line.startsWith(PEAK_RESIDENT))
          .map(line -> line.substring(PEAK_RESIDENT.length()).strip().split(" ", -1)[0])
          .mapToLong(kib -> Long.parseLong(kib) << 10)
          .findFirst()
          .orElse(0);
    } catch (IOException e) {
      return 0;
    }
  }

  /** The executor's id. */
  public String executorId() {
    return executorId;
  }

  /** The number of the process on its host. */
  public long pid() {
    return pid;
  }

  /** CPU time of the process, in seconds. */
  public double cpuSeconds() {
    return cpuNs / 1e9;
  }

  /** Time that the JVM's garbage collectors ran, in seconds. */
  public double gcSeconds() {
    return gcMs / 1e3;
  }

  /** Largest resident memory of the process since it started; 0 where it is not known. */
  public long peakResidentBytes() {
    return peakResidentBytes;
  }

  public Map<String, Long> counters() {
    return counters;
  }
}
