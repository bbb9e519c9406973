// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.pinned;

import java.util.Locale;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.spark.SparkConf;

/**
 * An executor's memory by Spark's own settings.
 *
 * @param overheadBytes memoryOverhead where the cluster manager enforces it; else empty
 * @param offHeapBytes of Spark's own off-heap memory and Python's
 * @param totalBytes of an executor, all together
 * @param cores of an executor; empty when it takes all cores of a worker
 * @param localExecutors number of executors of the master local-cluster, all of them on one host
 */
public record SparkMemory(
    OptionalLong overheadBytes,
    long offHeapBytes,
    long totalBytes,
    OptionalLong cores,
    OptionalInt localExecutors) {
  private static final Pattern LOCAL_CLUSTER =
      Pattern.compile("local-cluster\\[\\s*([0-9]{1,4})\\s*,");
  private static final long MIB = 1L << 20;
  private static final double DEFAULT_FACTOR = 0.1;

  /** Reads Spark's settings, with Spark's defaults. */
  public static SparkMemory of(SparkConf conf) {
    long heap = conf.getSizeAsMb("spark.executor.memory", "1g") * MIB;
    long offHeap =
        conf.getBoolean("spark.memory.offHeap.enabled", false)
            ? conf.getSizeAsBytes("spark.memory.offHeap.size", "0")
            : 0;
    offHeap += conf.getSizeAsMb("spark.executor.pyspark.memory", "0") * MIB;
    long minimum = conf.getSizeAsMb("spark.executor.minMemoryOverhead", "384m") * MIB;
    double factor = conf.getDouble("spark.executor.memoryOverheadFactor", DEFAULT_FACTOR);
    long overhead =
        conf.contains("spark.executor.memoryOverhead")
            ? conf.getSizeAsMb("spark.executor.memoryOverhead") * MIB
            : Math.max(minimum, (long) (heap * factor));
    String master = conf.get("spark.master", "").toLowerCase(Locale.ROOT);
    boolean held = master.startsWith("yarn") || master.startsWith("k8s");
    return new SparkMemory(
        held ? OptionalLong.of(overhead) : OptionalLong.empty(),
        offHeap,
        heap + offHeap + overhead,
        cores(conf, held),
        localExecutors(master));
  }

  /**
   * Number of executors that share a machine: those that run on it now, or those that the settings
   * let run on it, whichever is larger.
   *
   * @param machine the host, or the container, which holds one executor
   */
  int executorsOn(MachineMemory machine) {
    return Math.max(machine.executors(), executorsBySettings(machine));
  }

  private int executorsBySettings(MachineMemory machine) {
    if (localExecutors.isPresent()) {
      return localExecutors.getAsInt();
    }
    if (cores.isEmpty() || cores.getAsLong() <= 0) {
      return 1;
    }
    long byCores = machine.processors() / cores.getAsLong();
    long byMemory = machine.physicalBytes().orElse(Long.MAX_VALUE) / Math.max(1, totalBytes);
    return (int) Math.max(1, Math.min(byCores, byMemory));
  }

  /** N of the master local-cluster[N, cores, memory], which starts all its executors here. */
  private static OptionalInt localExecutors(String master) {
    Matcher matcher = LOCAL_CLUSTER.matcher(master);
    return matcher.lookingAt()
        ? OptionalInt.of(Integer.parseInt(matcher.group(1)))
        : OptionalInt.empty();
  }

  /** By default YARN and Kubernetes give an executor one core, others give it all of its Worker. */
  private static OptionalLong cores(SparkConf conf, boolean heldToMemory) {
    if (conf.contains("spark.executor.cores")) {
      return OptionalLong.of(conf.getInt("spark.executor.cores", 1));
    }
    return heldToMemory ? OptionalLong.of(1) : OptionalLong.empty();
  }
}
