// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.benchmarks.tera;

import com.sun.management.OperatingSystemMXBean;
import java.io.Serializable;
import java.lang.management.ManagementFactory;
import java.util.HashMap;
import java.util.List;
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
 * What one executor process used since it started: CPU time, what its JVM holds beside the heap,
 * and the plug-in's counters where it is the shuffle manager. Immutable.
 */
public final class ExecutorUsage implements Serializable {
  private static final long serialVersionUID = 1L;

  private final String executorId;
  private final long cpuNs;
  private final long nonHeapBytes;
  private final Map<String, Long> counters;

  private ExecutorUsage(
      String executorId, long cpuNs, long nonHeapBytes, Map<String, Long> counters) {
    this.executorId = executorId;
    this.cpuNs = cpuNs;
    this.nonHeapBytes = nonHeapBytes;
    this.counters = counters;
  }

  /**
   * Asks every executor of the application, each once.
   *
   * <p>A barrier stage starts all its tasks together, so that {@code totalCores} tasks fill every
   * core and leave no executor out.
   */
  public static Map<String, ExecutorUsage> ofAll(JavaSparkContext spark, int totalCores) {
    var slots = IntStream.range(0, totalCores).boxed().toList();
    Map<String, ExecutorUsage> byExecutor = new TreeMap<>();
    List<ExecutorUsage> answers =
        spark
            .parallelize(slots, totalCores)
            .rdd()
            .barrier()
            .mapPartitions(
                (Function1<Iterator<Integer>, Iterator<ExecutorUsage>> & Serializable)
                    ignored -> Iterator$.MODULE$.single(ofThisExecutor()),
                false,
                ClassTag$.MODULE$.apply(ExecutorUsage.class))
            .toJavaRDD()
            .collect();
    answers.forEach(usage -> byExecutor.put(usage.executorId, usage));
    return byExecutor;
  }

  /** Of the executor whose task calls this. */
  public static ExecutorUsage ofThisExecutor() {
    var system = (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();
    SparkEnv env = SparkEnv.get();
    Map<String, Long> counters = new HashMap<>();
    if (env.shuffleManager() instanceof RdmaShuffleManager manager) {
      counters.putAll(manager.counters());
    }
    return new ExecutorUsage(
        env.executorId(),
        system.getProcessCpuTime(),
        ManagementFactory.getMemoryMXBean().getNonHeapMemoryUsage().getCommitted(),
        counters);
  }

  /** The executor's id. */
  public String executorId() {
    return executorId;
  }

  double cpuSeconds() {
    return cpuNs / 1e9;
  }

  /** Memory that the JVM has for classes and compiled code. */
  public long nonHeapBytes() {
    return nonHeapBytes;
  }

  public Map<String, Long> counters() {
    return counters;
  }
}
