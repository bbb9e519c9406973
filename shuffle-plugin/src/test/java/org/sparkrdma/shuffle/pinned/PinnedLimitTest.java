// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.pinned;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Optional;
import java.util.OptionalLong;
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

  private static MachineMemory host(long gib, long heapGib) {
    return new MachineMemory(gib * GIB, false, OptionalLong.empty(), heapGib * GIB, 4_096, 16);
  }

  private static MachineMemory container(long gib, long heapGib, OptionalLong lockable) {
    return new MachineMemory(gib * GIB, true, lockable, heapGib * GIB, 4_096, 128);
  }

  private static final MachineMemory BARE = host(64, 1);

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

  /** Executors with a heap of 7 GiB. */
  @ParameterizedTest
  @CsvSource({
    "spark://h:7077, '', 0, 512",
    "spark://h:7077, 16, 0, 512",
    "'local-cluster[8,1,7168]', '', 0, 512",
    "spark://h:7077, 128, 0, 8192",
  })
  void shouldDivideTheContainerAmongAllExecutorsThatMayRunInIt(
      String master, String cores, long offHeapMib, long expectedMib) {
    SparkMemory spark =
        spark(
            "spark.master",
            master,
            "spark.executor.memory",
            "7g",
            "spark.memory.offHeap.enabled",
            "true",
            "spark.memory.offHeap.size",
            offHeapMib + "m",
            "spark.executor.cores",
            cores.isEmpty() ? "1" : cores);
    MachineMemory container = container(64, 7, OptionalLong.empty());
    assertThat(PinnedLimit.of(AUTO, container, spark, HARDWARE).bytes())
        .isEqualTo(expectedMib * MIB);
  }

  @ParameterizedTest
  @CsvSource({
    "16, 4g, 8192",
    "8, 4g, 8192",
    "4, 4g, 4096",
    "2, 4g, 2048",
    "2, 30g, 8192",
    "1, 1g, 1024"
  })
  void shouldShareTheHostAmongThePossibleExecutors(String cores, String memory, long expectedMib) {
    SparkMemory spark = spark("spark.executor.cores", cores, "spark.executor.memory", memory);
    assertThat(PinnedLimit.of(AUTO, BARE, spark, HARDWARE).bytes()).isEqualTo(expectedMib * MIB);
  }

  @ParameterizedTest
  @CsvSource({
    "yarn, spark.executor.memory, 1g, 64",
    "yarn, spark.executor.memory, 20g, 896",
    "k8s://https://h, spark.executor.memoryOverhead, 2g, 896",
    "yarn, spark.executor.memoryOverhead, 300, 22",
    "yarn, spark.executor.memoryOverhead, 200, 1",
    "k8s://https://h, spark.executor.memoryOverheadFactor, 0.5, 128",
    "spark://h:7077, spark.executor.memoryOverhead, 300, 1024",
  })
  void shouldStayWithinTheOverheadMemoryOfTheClusterManager(
      String master, String key, String value, long expectedMib) {
    SparkMemory spark = spark("spark.master", master, key, value);
    assertThat(PinnedLimit.of(AUTO, BARE, spark, HARDWARE).bytes()).isEqualTo(expectedMib * MIB);
  }

  /** Of a ResourceProfile with memory, which Spark sets in the executor's configuration. */
  @ParameterizedTest
  @CsvSource({"1g, 16g, '', 64", "20g, 2g, '', 896", "1g, 16g, 2g, 896"})
  void shouldDeriveTheOverheadFromTheMemoryByWhichTheContainerWasSized(
      String ofApplication, String ofProfile, String overhead, long expectedMib) {
    SparkConf conf = new SparkConf(false);
    conf.set("spark.master", "yarn").set("spark.executor.memory", ofProfile);
    conf.set(SparkMemory.APPLICATION_MEMORY, ofApplication);
    if (!overhead.isEmpty()) {
      conf.set("spark.executor.memoryOverhead", overhead);
    }
    SparkMemory spark = SparkMemory.of(key -> conf.get(key, null));
    assertThat(PinnedLimit.of(AUTO, BARE, spark, HARDWARE).bytes()).isEqualTo(expectedMib * MIB);
  }

  /** The overhead is meant for the engine's own native memory. */
  @ParameterizedTest
  @CsvSource({
    "org.apache.spark.CometPlugin, 224",
    "'x.Y , org.apache.gluten.GlutenPlugin', 224",
    "io.glutenproject.GlutenPlugin, 224",
    "com.nvidia.spark.SQLPlugin, 224",
    "org.sparkrdma.shuffle.RdmaPlugin, 896",
  })
  void shouldTakeASmallerShareBesidePlugInsWithNativeMemory(String plugins, long expectedMib) {
    SparkMemory spark =
        spark(
            "spark.master",
            "yarn",
            "spark.plugins",
            plugins,
            "spark.executor.memoryOverhead",
            "2g");
    PinnedLimit limit = PinnedLimit.of(AUTO, BARE, spark, HARDWARE);
    assertThat(limit.bytes()).isEqualTo(expectedMib * MIB);
    assertThat(limit.derivation().contains("because of spark.plugins"))
        .isEqualTo(expectedMib == 224);
  }

  @ParameterizedTest
  @CsvSource({"1, 8192", "50, 7168", "63, 512", "80, 1"})
  void shouldStayWithinTheHostsMemoryBesideTheHeap(long heapGib, long expectedMib) {
    SparkMemory standalone =
        spark("spark.executor.memory", heapGib + "g", "spark.executor.cores", "16");
    assertThat(PinnedLimit.of(AUTO, host(64, heapGib), standalone, HARDWARE).bytes())
        .isEqualTo(expectedMib * MIB);
  }

  @Test
  void shouldReserveOffHeapAndPythonMemory() {
    SparkMemory spark =
        spark(
            "spark.memory.offHeap.enabled",
            "true ",
            "spark.memory.offHeap.size",
            "1g",
            "spark.executor.pyspark.memory",
            "1g");
    MachineMemory container = container(4, 2, OptionalLong.empty());
    assertThat(PinnedLimit.of(AUTO, container, spark, HARDWARE).bytes()).isEqualTo(MIB);
  }
}
