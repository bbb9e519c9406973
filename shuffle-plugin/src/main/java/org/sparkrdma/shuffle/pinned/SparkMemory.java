// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.pinned;

import java.util.Locale;
import java.util.Map;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.function.UnaryOperator;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * An executor's memory by Spark's own settings and its ResourceProfile. Needs no class of Spark.
 *
 * @param overheadBytes memoryOverhead where the cluster manager enforces it; else empty
 * @param overheadName the setting, or the resource of the ResourceProfile, that it is
 * @param offHeapBytes of Spark's own off-heap memory and Python's
 * @param totalBytes of an executor, all together
 * @param cores of an executor; empty when it takes all cores of a worker
 * @param localExecutors number of executors of the master local-cluster, all of them on one host
 */
public record SparkMemory(
    OptionalLong overheadBytes,
    String overheadName,
    long offHeapBytes,
    long totalBytes,
    OptionalLong cores,
    OptionalInt localExecutors) {
  private static final Pattern LOCAL_CLUSTER =
      Pattern.compile("local-cluster\\[\\s*([0-9]{1,4})\\s*,");
  private static final long MIB = 1L << 20;
  private static final String OVERHEAD = "memoryOverhead";
  private static final String DEFAULT_FACTOR = "0.1";
  private static final Pattern SIZE = Pattern.compile("([0-9]{1,15})(b|[kmgtp]b?|)");
  private static final String UNITS = "bkmgtp";
  private static final int UNIT_BITS = 10;

  /** Same as {@link #of(UnaryOperator, Map)}, with the default profile. */
  public static SparkMemory of(UnaryOperator<String> setting) {
    return of(setting, Map.of());
  }

  /**
   * Reads Spark's settings, with Spark's defaults. A resource of the profile takes the place of its
   * setting. As in Spark, an overhead that neither names follows from the application's heap, and
   * not from the profile's.
   *
   * @param setting the value of a key; null where it is not set
   * @param profile resources of the executor's ResourceProfile by Spark's names, memory in MiB;
   *     empty for the default profile
   * @throws IllegalArgumentException when a value is no size or number
   */
  public static SparkMemory of(UnaryOperator<String> setting, Map<String, Long> profile) {
    long heap = heapBytes(setting);
    long offHeap =
        Boolean.parseBoolean(setting.apply("spark.memory.offHeap.enabled"))
            ? ofProfile(profile, "offHeap", bytes(setting, "spark.memory.offHeap.size", "0", 1))
            : 0;
    offHeap +=
        ofProfile(
            profile, "pyspark.memory", bytes(setting, "spark.executor.pyspark.memory", "0", MIB));
    long minimum = bytes(setting, "spark.executor.minMemoryOverhead", "384m", MIB);
    double factor =
        Double.parseDouble(or(setting, "spark.executor.memoryOverheadFactor", DEFAULT_FACTOR));
    long derived = Math.max(minimum, (long) (heap * factor));
    long overhead =
        ofProfile(
            profile, OVERHEAD, bytes(setting, "spark.executor.memoryOverhead", derived + "b", MIB));
    String master = or(setting, "spark.master", "").toLowerCase(Locale.ROOT);
    boolean held = master.startsWith("yarn") || master.startsWith("k8s");
    return new SparkMemory(
        held ? OptionalLong.of(overhead) : OptionalLong.empty(),
        profile.containsKey(OVERHEAD)
            ? "memoryOverhead of the ResourceProfile"
            : "spark.executor.memoryOverhead",
        offHeap,
        ofProfile(profile, "memory", heap) + offHeap + overhead,
        profile.containsKey("cores") ? OptionalLong.of(profile.get("cores")) : cores(setting, held),
        localExecutors(master));
  }

  private static long ofProfile(Map<String, Long> profile, String resource, long otherwise) {
    Long mebibytes = profile.get(resource);
    return mebibytes == null ? otherwise : mebibytes * MIB;
  }

  /** The heap of an executor by {@code spark.executor.memory}. */
  public static long heapBytes(UnaryOperator<String> setting) {
    return bytes(setting, "spark.executor.memory", "1g", MIB);
  }

  private static String or(UnaryOperator<String> setting, String key, String defaultValue) {
    String value = setting.apply(key);
    return value == null ? defaultValue : value.trim();
  }

  /** A size as Spark's own JavaUtils reads it. */
  private static long bytes(
      UnaryOperator<String> setting, String key, String defaultValue, long defaultUnit) {
    String value = or(setting, key, defaultValue);
    Matcher size = SIZE.matcher(value.toLowerCase(Locale.ROOT));
    if (!size.matches()) {
      throw new IllegalArgumentException("bad size: key=" + key + " value=" + value);
    }
    String unit = size.group(2);
    long factor = unit.isEmpty() ? defaultUnit : 1L << (UNIT_BITS * UNITS.indexOf(unit.charAt(0)));
    return Long.parseLong(size.group(1)) * factor;
  }

  /**
   * Whether the cluster manager gives each executor a container of its own. Elsewhere all executors
   * of a Worker share its control groups.
   */
  boolean ownContainer() {
    return overheadBytes.isPresent();
  }

  /**
   * Number of executors that share a machine: those that run on it now, or those that the settings
   * let run on it, whichever is larger.
   *
   * @param machine the host, or a container that holds several executors
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
  private static OptionalLong cores(UnaryOperator<String> setting, boolean heldToMemory) {
    String set = setting.apply("spark.executor.cores");
    if (set != null) {
      return OptionalLong.of(Long.parseLong(set.trim()));
    }
    return heldToMemory ? OptionalLong.of(1) : OptionalLong.empty();
  }
}
