// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.pinned;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Optional;
import java.util.OptionalLong;
import java.util.stream.Stream;
import org.apache.spark.SparkConf;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class PinnedLimitTest {
  private static final long MIB = 1L << 20;
  private static final long GIB = 1L << 30;
  private static final Optional<Long> AUTO = Optional.empty();
  private static final OptionalLong HARDWARE = OptionalLong.empty();

  private static SparkMemory spark(String... settings) {
    SparkConf conf = new SparkConf(false);
    for (int i = 0; i < settings.length; i += 2) {
      conf.set(settings[i], settings[i + 1]);
    }
    return SparkMemory.of(key -> conf.get(key, null));
  }

  /** Settings in pairs like {@code executor.memory=7g}, without their first word. */
  private static SparkMemory settings(String pairs) {
    return spark(
        Stream.of(pairs.split("[ =]+", -1))
            .map(
                word ->
                    word.matches(
                            "(executor|memory|yarn|kubernetes|shuffle|serializer)\\..*|master|plugins(.defaultList)?")
                        ? "spark." + word
                        : word)
            .toArray(String[]::new));
  }

  private static MachineMemory host(long gib, long heapGib) {
    return new MachineMemory(gib * GIB, false, OptionalLong.empty(), heapGib * GIB, 4_096, 16);
  }

  private static MachineMemory container(long gib, long heapGib, OptionalLong lockable) {
    return new MachineMemory(gib * GIB, true, lockable, heapGib * GIB, 4_096, 128);
  }

  @Test
  void shouldUseTheLowestLimitAndReportItsDerivation() {
    MachineMemory pod = container(8, 3, OptionalLong.of(GIB / 2));
    SparkMemory spark =
        spark("spark.master", "k8s://https://h", "spark.executor.memoryOverhead", "5g");
    PinnedLimit limit = PinnedLimit.of(AUTO, pod, spark, HARDWARE);
    assertThat(limit.bytes()).isEqualTo(GIB / 2);
    assertThat(limit.neededBytes()).isEqualTo(2_432 * MIB);
    assertThat(limit.derivation())
        .isEqualTo(
            "the minimum of: 1/2 of the container limit outside the heaps of executors=1: 2560 MiB,"
                + " 1/2 of"
                + " spark.executor.memoryOverhead above 256 MiB: 2432 MiB, RLIMIT_MEMLOCK: 512 MiB");
    PinnedLimit soft = PinnedLimit.of(AUTO, pod, spark, OptionalLong.of(64 * GIB));
    assertThat(soft.bytes()).as("the loopback engine locks nothing").isEqualTo(2_432 * MIB);
    PinnedLimit small = PinnedLimit.of(AUTO, pod, spark, OptionalLong.of(64 * MIB));
    assertThat(small.bytes()).as("/dev/shm of a container").isEqualTo(32 * MIB);
  }

  /**
   * A container of 64 GiB with a heap of 7 GiB is divided among the executors that may run in it.
   */
  @ParameterizedTest
  @CsvSource({
    "master=spark://h:7077 executor.cores=1, 0, 512",
    "master=spark://h:7077 executor.cores=16, 0, 512",
    "'master=local-cluster[8,1,7168] executor.cores=1', 0, 512",
    "master=spark://h:7077 executor.cores=128, 0, 8192",
  })
  void shouldDivideTheContainerAmongAllExecutorsThatMayRunInIt(
      String pairs, long offHeapMib, long expectedMib) {
    String memory = " executor.memory=7g memory.offHeap.enabled=true memory.offHeap.size=";
    MachineMemory container = container(64, 7, OptionalLong.empty());
    SparkMemory spark = settings(pairs + memory + offHeapMib + "m");
    assertThat(PinnedLimit.of(AUTO, container, spark, HARDWARE).bytes())
        .isEqualTo(expectedMib * MIB);
  }

  @ParameterizedTest
  @CsvSource({
    // A host of 64 GiB is shared by the executors that may run on it.
    "1, executor.cores=16 executor.memory=4g, 8192",
    "1, executor.cores=8 executor.memory=4g, 8192",
    "1, executor.cores=4 executor.memory=4g, 4096",
    "1, executor.cores=2 executor.memory=4g, 2048",
    "1, executor.cores=2 executor.memory=30g, 8192",
    "1, executor.cores=1 executor.memory=1g, 1024",
    // Beside their heaps.
    "1, executor.cores=16 executor.memory=1g, 8192",
    "50, executor.cores=16 executor.memory=50g, 7168",
    "63, executor.cores=16 executor.memory=63g, 512",
    "80, executor.cores=16 executor.memory=80g, 1",
    // Within the overhead memory of the cluster manager.
    "1, master=yarn executor.memory=1g, 64",
    "1, master=yarn executor.memory=20g, 896",
    "1, master=k8s://https://h executor.memoryOverhead=2g, 896",
    "1, master=yarn executor.memoryOverhead=300, 22",
    "1, master=yarn executor.memoryOverhead=200, 1",
    "1, master=k8s://https://h executor.memoryOverheadFactor=0.5, 128",
    "1, master=spark://h:7077 executor.memoryOverhead=300, 1024",
    // Of a ResourceProfile, which Spark sets in the executor's configuration.
    "1, master=yarn executor.memory=16g APPLICATION=1g, 64",
    "1, master=yarn executor.memory=2g APPLICATION=20g, 896",
    "1, master=yarn executor.memory=16g APPLICATION=1g executor.memoryOverhead=2g, 896",
    // The overhead is meant for the native memory of other plug-ins.
    "1, master=yarn executor.memoryOverhead=2g plugins=org.apache.spark.CometPlugin, 224",
    "1, 'master=yarn executor.memoryOverhead=2g plugins=x.Y,org.apache.gluten.GlutenPlugin', 224",
    "1, master=yarn executor.memoryOverhead=2g plugins=io.glutenproject.GlutenPlugin, 224",
    "1, master=yarn executor.memoryOverhead=2g plugins=com.nvidia.spark.SQLPlugin, 224",
    "1, master=yarn executor.memoryOverhead=2g plugins=org.sparkrdma.shuffle.RdmaPlugin, 896",
    "1, master=yarn executor.memoryOverhead=2g plugins.defaultList=com.nvidia.spark.SQLPlugin, 224",
    "1, master=yarn executor.memoryOverhead=2g shuffle.manager=x.AuronShuffleManager, 224",
    "1, 'master=yarn executor.memoryOverhead=2g"
        + " shuffle.manager=org.sparkrdma.shuffle.RdmaShuffleManager', 896",
    "1, master=yarn executor.memoryOverhead=2g shuffle.manager=Tungsten-Sort, 896",
    // The overhead is meant for Python, but for what Spark adds without a setting.
    "1, master=yarn executor.memory=10g executor.memoryOverhead=4g yarn.isPython=true, 384",
    "1, master=yarn executor.memory=10g executor.memoryOverheadFactor=0.4 yarn.isPython=true, 384",
    "1, master=yarn executor.memory=8g executor.memoryOverhead=600m yarn.isPython=true, 172",
    "1, 'master=yarn yarn.isPython=true executor.pyspark.memory=1g executor.memoryOverhead=2g', 896",
    "1, master=k8s://https://h executor.memoryOverhead=4g kubernetes.resource.type=python, 64",
    "1, master=k8s://https://h executor.memoryOverhead=2g kubernetes.resource.type=java, 896",
    // A notebook in client mode; the server of Spark Connect as a plug-in, and as the program.
    "1, master=k8s://https://h executor.memoryOverhead=4g serializer.objectStreamReset=100, 64",
    "1, 'master=yarn executor.memoryOverhead=4g"
        + " plugins=org.apache.spark.sql.connect.SparkConnectPlugin', 64",
    "1, master=k8s://https://h executor.memoryOverhead=4g SERVES_PYTHON=true, 64",
    "1, 'master=yarn executor.memoryOverhead=4g"
        + " spark.sql.streaming.stateStore.providerClass=x.RocksDBStateStoreProvider', 64",
  })
  void shouldLimitTheBytesOfAHost(long heapGib, String pairs, long expectedMib) {
    SparkMemory spark =
        settings(
            pairs
                .replace("APPLICATION", SparkMemory.APPLICATION_MEMORY)
                .replace("SERVES_PYTHON", SparkMemory.SERVES_PYTHON));
    PinnedLimit limit = PinnedLimit.of(AUTO, host(64, heapGib), spark, HARDWARE);
    assertThat(limit.bytes()).isEqualTo(expectedMib * MIB);
    assertThat(limit.derivation().contains("for another engine")).isEqualTo(expectedMib == 224);
  }

  @Test
  void shouldReserveOffHeapAndPythonMemory() {
    String memory = "memory.offHeap.size=1g executor.pyspark.memory=1g memory.offHeap.enabled=true";
    MachineMemory container = container(4, 2, OptionalLong.empty());
    assertThat(PinnedLimit.of(AUTO, container, settings(memory), HARDWARE).bytes()).isEqualTo(MIB);
  }
}
