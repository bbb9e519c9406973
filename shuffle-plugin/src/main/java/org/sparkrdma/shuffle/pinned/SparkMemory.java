// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.pinned;

import java.util.Locale;
import java.util.OptionalLong;
import java.util.Set;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;
import org.sparkrdma.shuffle.settings.RdmaPolicy;
import org.sparkrdma.shuffle.settings.ValueType;

/**
 * An executor's memory by Spark's own settings. Needs no class of Spark.
 *
 * @param overheadBytes memoryOverhead where the cluster manager enforces it, by a container for
 *     each executor, without what the user has added to Spark's default where Python or RocksDB
 *     uses it, too; else empty
 * @param offHeapBytes of Spark's own off-heap memory and Python's
 * @param totalBytes of an executor, all together
 * @param cores of an executor; 1 where no setting names them
 * @param besideNative whether another engine allocates native memory, for which the user has raised
 *     memoryOverhead
 * @param shared whether Python's processes or RocksDB use the overhead, too, for which the user
 *     raises memoryOverhead where {@code spark.executor.pyspark.memory} is not set
 */
public record SparkMemory(
    OptionalLong overheadBytes,
    long offHeapBytes,
    long totalBytes,
    long cores,
    boolean besideNative,
    boolean shared) {
  /**
   * {@code spark.executor.memory} of the application, which the driver sends with its
   * configuration. In an executor with a ResourceProfile, Spark replaces the setting by the
   * profile's memory, but YARN and Kubernetes derive memoryOverhead from the application's.
   */
  public static final String APPLICATION_MEMORY = "spark.shuffle.rdmaExecutorMemory";

  /** What Spark uses without the setting. */
  public static final String DEFAULT_MEMORY = "1g";

  /** The setting of the heap of an executor. */
  public static final String MEMORY = "spark.executor.memory";

  /**
   * Whether Python's processes may run in executors, which the driver sends where no key of Spark
   * says so.
   */
  public static final String SERVES_PYTHON = "spark.shuffle.rdmaServesPython";

  private static final String PYTHON_MEMORY = "spark.executor.pyspark.memory";

  private static final long MIB = 1L << 20;

  /** Part of the heap that is memoryOverhead without a setting. */
  private static final double DEFAULT_FACTOR = 0.1;

  /** Of Spark Connect, whose server is a program of Java, and runs Python's for its clients. */
  public static final String CONNECT = "org.apache.spark.sql.connect.";

  /** Plug-ins of Comet, Gluten (two names) and RAPIDS. */
  private static final Set<String> NATIVE =
      Set.of(
          "org.apache.spark.CometPlugin",
          "org.apache.gluten.GlutenPlugin",
          "io.glutenproject.GlutenPlugin",
          "com.nvidia.spark.SQLPlugin");

  /**
   * Reads Spark's settings, with Spark's defaults.
   *
   * @param setting the value of a key; null where it is not set
   * @throws IllegalArgumentException when a value is no size or number
   */
  public static SparkMemory of(UnaryOperator<String> setting) {
    long heap = heapBytes(setting);
    long offHeap = bytes(setting, PYTHON_MEMORY, "0", MIB);
    if (ValueType.isTrue(setting.apply("spark.memory.offHeap.enabled"))) {
      offHeap += bytes(setting, "spark.memory.offHeap.size", "0", 1);
    }
    long minimum = bytes(setting, "spark.executor.minMemoryOverhead", "384m", MIB);
    double factor =
        Double.parseDouble(
            or(setting, "spark.executor.memoryOverheadFactor", Double.toString(DEFAULT_FACTOR)));
    long sizedBy = bytes(setting, APPLICATION_MEMORY, heap + "b", MIB);
    long derived = Math.max(minimum, (long) (sizedBy * factor));
    long overhead = bytes(setting, "spark.executor.memoryOverhead", derived + "b", MIB);
    long byDefault = Math.max(minimum, (long) (sizedBy * DEFAULT_FACTOR));
    long ours = sharesOverhead(setting) ? Math.min(overhead, byDefault) : overhead;
    String master = or(setting, "spark.master", "").toLowerCase(Locale.ROOT);
    boolean held = master.startsWith("yarn") || master.startsWith("k8s");
    return new SparkMemory(
        held ? OptionalLong.of(ours) : OptionalLong.empty(),
        offHeap,
        heap + offHeap + overhead,
        Long.parseLong(or(setting, "spark.executor.cores", "1")),
        hasNativeEngine(setting),
        ours < overhead);
  }

  private static Stream<String> plugins(UnaryOperator<String> setting) {
    return Stream.of("spark.plugins", "spark.plugins.defaultList")
        .flatMap(key -> Stream.of(or(setting, key, "").split(",", -1)))
        .map(String::trim);
  }

  /** Managers of others come with an engine, such as Auron's. */
  private static boolean hasNativeEngine(UnaryOperator<String> setting) {
    String manager = or(setting, "spark.shuffle.manager", "sort");
    return plugins(setting).anyMatch(NATIVE::contains)
        || !(RdmaPolicy.isSort(manager) || RdmaPolicy.isOurs(manager));
  }

  /**
   * Whether the overhead has the memory of Python's processes, by keys that Spark sets itself: that
   * of the serializer in each SparkContext that Python makes (pyspark/core/context.py), and on
   * Kubernetes in client mode only that. Or the memory of RocksDB, which is not bounded.
   */
  private static boolean sharesOverhead(UnaryOperator<String> setting) {
    String program = or(setting, "spark.kubernetes.resource.type", "java");
    boolean python =
        ValueType.isTrue(setting.apply("spark.yarn.isPython"))
            || ValueType.isTrue(setting.apply(SERVES_PYTHON))
            || !program.equals("java")
            || "100".equals(setting.apply("spark.serializer.objectStreamReset"))
            || plugins(setting).anyMatch(name -> name.startsWith(CONNECT));
    String states = or(setting, "spark.sql.streaming.stateStore.providerClass", "");
    return (python && setting.apply(PYTHON_MEMORY) == null) || states.contains("RocksDB");
  }

  /** The plug-in may pin one part of so many of what memoryOverhead leaves to native memory. */
  int overheadPart() {
    return besideNative ? 8 : 2;
  }

  /** The heap of an executor by {@code spark.executor.memory}. */
  public static long heapBytes(UnaryOperator<String> setting) {
    return bytes(setting, MEMORY, DEFAULT_MEMORY, MIB);
  }

  private static String or(UnaryOperator<String> setting, String key, String defaultValue) {
    String value = setting.apply(key);
    return value == null ? defaultValue : value.trim();
  }

  private static long bytes(
      UnaryOperator<String> setting, String key, String defaultValue, long plainUnit) {
    return ValueType.bytes(or(setting, key, defaultValue), plainUnit);
  }

  /** Whether the memory is that of a container which YARN or Kubernetes made for one executor. */
  boolean ownsContainer(MachineMemory machine) {
    return machine.contained() && overheadBytes.isPresent();
  }

  /**
   * Number of executors that may share a machine. On a host, or in a container with a Worker, as
   * many as its cores and memory allow: a host may run several Workers, and their number is in no
   * setting.
   */
  int executorsOn(MachineMemory machine) {
    if (ownsContainer(machine)) {
      return 1;
    }
    long byCores = machine.processors() / Math.max(1, cores);
    long byMemory = machine.bytes() / Math.max(1, totalBytes);
    return (int) Math.max(1, Math.min(byCores, byMemory));
  }
}
