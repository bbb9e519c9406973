// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.pinned;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.Arrays;
import java.util.Map;
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

  private static SparkMemory spark(String... settings) {
    SparkConf conf = new SparkConf(false);
    for (int i = 0; i < settings.length; i += 2) {
      conf.set(settings[i], settings[i + 1]);
    }
    return SparkMemory.of(key -> conf.get(key, null));
  }

  private static MachineMemory machine(
      long physical, OptionalLong container, OptionalLong lockable, boolean free) {
    return new MachineMemory(
        OptionalLong.of(physical), container, lockable, free, GIB, 4_096, 16, 1);
  }

  private static final MachineMemory BARE =
      machine(64 * GIB, OptionalLong.empty(), OptionalLong.empty(), false);

  @Test
  void shouldUseTheLowestLimitAndReportItsDerivation() {
    MachineMemory machine =
        machine(16 * GIB, OptionalLong.of(3 * GIB), OptionalLong.of(GIB / 2), false);
    SparkMemory spark =
        spark("spark.master", "k8s://https://h", "spark.executor.memoryOverhead", "4g");
    PinnedLimit limit = PinnedLimit.of(AUTO, machine, spark, true);
    assertThat(limit.bytes()).isEqualTo(GIB / 2);
    assertThat(limit.neededBytes()).isEqualTo(GIB);
    assertThat(limit.derivation())
        .isEqualTo(
            "the minimum of: 1/4 of host memory shared by executors=3: 1365 MiB, 1/2 of host memory"
                + " outside the heaps of executors=3: 2218 MiB, 1/2 of the container limit outside"
                + " the heap: 1024 MiB, 1/2 of spark.executor.memoryOverhead above 256 MiB: 1920"
                + " MiB, RLIMIT_MEMLOCK: 512 MiB");
    PinnedLimit soft = PinnedLimit.of(AUTO, machine, spark, false);
    assertThat(soft.bytes()).as("the loopback engine locks nothing").isEqualTo(GIB);
  }

  @ParameterizedTest
  @CsvSource({
    "spark://h:7077, 8, '', 0, 512",
    "spark://h:7077, 1, 16, 0, 512",
    "'local-cluster[8,1,7168]', 1, '', 0, 512",
    "spark://h:7077, 8, '', 512, 256",
    "spark://h:7077, 1, '', 0, 8192",
  })
  void shouldDivideTheContainerAmongAllExecutorsThatRunInIt(
      String master, int running, String cores, long offHeapMib, long expectedMib) {
    MachineMemory container =
        sharedContainer(OptionalLong.of(512 * GIB), OptionalLong.of(64 * GIB), running);
    String[] settings = {
      "spark.master",
      master,
      "spark.executor.memory",
      "7g",
      "spark.memory.offHeap.enabled",
      "true",
      "spark.memory.offHeap.size",
      offHeapMib + "m"
    };
    SparkMemory spark = spark(settings);
    if (!cores.isEmpty()) {
      String[] withCores = Arrays.copyOf(settings, settings.length + 2);
      withCores[settings.length] = "spark.executor.cores";
      withCores[settings.length + 1] = cores;
      spark = spark(withCores);
    }
    assertThat(PinnedLimit.of(AUTO, container, spark, true).bytes()).isEqualTo(expectedMib * MIB);
  }

  /** A control group for each executor: the host's others are in groups of their own. */
  @Test
  void shouldCountOnlyExecutorsWhoseHeapsFitIntoTheContainer() {
    MachineMemory container =
        sharedContainer(OptionalLong.of(512 * GIB), OptionalLong.of(8 * GIB), 4);
    SparkMemory standalone = spark("spark.master", "spark://h:7077");
    assertThat(PinnedLimit.of(AUTO, container, standalone, true).bytes()).isEqualTo(512 * MIB);
  }

  @Test
  void shouldNameTheContainerThatStandsForTheHost() {
    SparkMemory standalone = spark("spark.master", "spark://h:7077");
    String expected =
        "the minimum of: 1/4 of the container limit shared by executors=8: 2048 MiB, 1/2 of the"
            + " container limit outside the heaps of executors=8: 512 MiB";
    OptionalLong limit = OptionalLong.of(64 * GIB);
    assertThat(
            PinnedLimit.of(
                AUTO, sharedContainer(OptionalLong.of(512 * GIB), limit, 8), standalone, true))
        .extracting(PinnedLimit::derivation)
        .isEqualTo(expected);
    assertThat(
            PinnedLimit.of(AUTO, sharedContainer(OptionalLong.empty(), limit, 8), standalone, true))
        .as("the host's memory is unknown")
        .extracting(PinnedLimit::derivation)
        .isEqualTo(expected);
    MachineMemory loose = sharedContainer(OptionalLong.of(60 * GIB), limit, 8);
    assertThat(PinnedLimit.of(AUTO, loose, standalone, true).derivation())
        .as("the limit is above the host's memory")
        .isEqualTo(
            "the minimum of: 1/4 of host memory shared by executors=8: 1920 MiB, 1/2 of host memory"
                + " outside the heaps of executors=8: 256 MiB");
  }

  @Test
  void shouldWarnOfASettingAboveTheShareOfTheContainer() {
    SparkMemory standalone = spark("spark.master", "spark://h:7077");
    MachineMemory container =
        sharedContainer(OptionalLong.of(512 * GIB), OptionalLong.of(64 * GIB), 8);
    assertThat(PinnedLimit.of(Optional.of(GIB), container, standalone, true).warnings()).isEmpty();
    assertThat(PinnedLimit.of(Optional.of(2 * GIB), container, standalone, true).warnings())
        .containsExactly(
            "spark.shuffle.rdma.pinned.max=2147483648 exceeds the 1073741824 bytes of the container"
                + " limit outside heap and off-heap memory, for each of executors=8: the container"
                + " may be killed");
  }

  /** Executors with a heap of 7 GiB. */
  private static MachineMemory sharedContainer(
      OptionalLong physical, OptionalLong container, int running) {
    return new MachineMemory(
        physical, container, OptionalLong.empty(), false, 7 * GIB, 4_096, 128, running);
  }

  @ParameterizedTest
  @CsvSource({"16, 4g, 8192", "8, 4g, 8192", "4, 4g, 4096", "2, 4g, 2048", "2, 30g, 8192"})
  void shouldShareTheHostAmongThePossibleExecutors(String cores, String memory, long expectedMib) {
    SparkMemory spark = spark("spark.executor.cores", cores, "spark.executor.memory", memory);
    assertThat(PinnedLimit.of(AUTO, BARE, spark, true).bytes()).isEqualTo(expectedMib * MIB);
  }

  @ParameterizedTest
  @CsvSource({
    "spark://h:7077, 1, 8192",
    "spark://h:7077, 4, 4096",
    "'local-cluster[8,1,1024]', 1, 2048",
    "'local-cluster[ 2 , 1, 1024]', 8, 2048",
  })
  void shouldShareTheHostAmongRunningExecutorsWhenSettingsGiveFewer(
      String master, int running, long expectedMib) {
    MachineMemory machine =
        new MachineMemory(
            BARE.physicalBytes(),
            OptionalLong.empty(),
            OptionalLong.empty(),
            false,
            GIB,
            4_096,
            16,
            running);
    assertThat(PinnedLimit.of(AUTO, machine, spark("spark.master", master), true).bytes())
        .isEqualTo(expectedMib * MIB);
  }

  @Test
  void shouldCountOneCoreForAnExecutorOnYarnThatNamesNone() {
    PinnedLimit limit = PinnedLimit.of(AUTO, BARE, spark("spark.master", "yarn"), true);
    assertThat(limit.derivation()).contains("shared by executors=16: 1024 MiB");
  }

  @ParameterizedTest
  @CsvSource({
    "yarn, spark.executor.memory, 1g, 64",
    "yarn, spark.executor.memory, 20g, 896",
    "k8s://https://h, spark.executor.memoryOverhead, 2g, 896",
    "yarn, spark.executor.memoryOverhead, 300, 22",
    "yarn, spark.executor.memoryOverhead, 200, 1",
    "k8s://https://h, spark.executor.memoryOverheadFactor, 0.5, 128",
    "spark://h:7077, spark.executor.memoryOverhead, 300, 8192",
  })
  void shouldStayWithinTheOverheadMemoryOfTheClusterManager(
      String master, String key, String value, long expectedMib) {
    SparkMemory spark = spark("spark.master", master, key, value);
    assertThat(PinnedLimit.of(AUTO, BARE, spark, true).bytes()).isEqualTo(expectedMib * MIB);
  }

  @ParameterizedTest
  @CsvSource({
    "yarn, 2g, memoryOverhead, 384, 64",
    "k8s://https://h, 384m, memoryOverhead, 2304, 1024",
    "yarn, 768m, memory, 40960, 256",
    "spark://h:7077, 2g, memoryOverhead, 384, 8192",
  })
  void shouldStayWithinTheOverheadOfTheResourceProfile(
      String master, String overhead, String resource, long mebibytes, long expectedMib) {
    SparkConf conf =
        new SparkConf(false)
            .set("spark.master", master)
            .set("spark.executor.memoryOverhead", overhead);
    SparkMemory spark =
        SparkMemory.of(key -> conf.get(key, null), Map.of(resource, mebibytes, "cores", 8L));
    assertThat(PinnedLimit.of(AUTO, BARE, spark, true).bytes()).isEqualTo(expectedMib * MIB);
  }

  @Test
  void shouldDeriveAnAbsentOverheadFromTheHeapOfTheApplicationAsSparkDoes() {
    Map<String, Long> profile = Map.of("memory", 40_960L, "cores", 8L);
    SparkConf conf =
        new SparkConf(false).set("spark.master", "yarn").set("spark.executor.memory", "20g");
    SparkMemory spark = SparkMemory.of(key -> conf.get(key, null), profile);
    assertThat(spark.overheadBytes()).hasValue(2 * GIB);
    assertThat(spark.totalBytes()).isEqualTo(42 * GIB);
  }

  @Test
  void shouldUseTheOtherMemoryAndTheCoresOfTheResourceProfile() {
    SparkConf conf =
        new SparkConf(false)
            .set("spark.master", "yarn")
            .set("spark.memory.offHeap.enabled", "true")
            .set("spark.memory.offHeap.size", "9g");
    Map<String, Long> profile = Map.of("offHeap", 1_024L, "pyspark.memory", 512L, "cores", 4L);
    SparkMemory spark = SparkMemory.of(key -> conf.get(key, null), profile);
    assertThat(spark.offHeapBytes()).isEqualTo(1_536 * MIB);
    assertThat(spark.cores()).hasValue(4);
    conf.set("spark.memory.offHeap.enabled", "false");
    assertThat(SparkMemory.of(key -> conf.get(key, null), profile).offHeapBytes())
        .as("Spark ignores the request, too")
        .isEqualTo(512 * MIB);
  }

  @Test
  void shouldNameTheResourceProfileInDerivationAndWarning() {
    SparkConf conf = new SparkConf(false).set("spark.master", "yarn");
    SparkMemory spark = SparkMemory.of(key -> conf.get(key, null), Map.of("memoryOverhead", 512L));
    assertThat(PinnedLimit.of(AUTO, BARE, spark, true).derivation())
        .endsWith("1/2 of memoryOverhead of the ResourceProfile above 256 MiB: 128 MiB");
    assertThat(PinnedLimit.of(Optional.of(GIB), BARE, spark, true).warnings())
        .singleElement()
        .asString()
        .contains(" exceeds memoryOverhead of the ResourceProfile=536870912 bytes");
  }

  @ParameterizedTest
  @CsvSource({"1, 8192", "50, 7168", "63, 512"})
  void shouldStayWithinTheHostsMemoryBesideTheHeap(long heapGib, long expectedMib) {
    MachineMemory machine =
        new MachineMemory(
            BARE.physicalBytes(),
            OptionalLong.empty(),
            OptionalLong.empty(),
            false,
            heapGib * GIB,
            4_096,
            16,
            1);
    SparkMemory standalone = spark("spark.master", "spark://h:7077");
    assertThat(PinnedLimit.of(AUTO, machine, standalone, true).bytes())
        .isEqualTo(expectedMib * MIB);
  }

  @Test
  void shouldReserveOffHeapAndPythonMemory() {
    MachineMemory machine =
        machine(64 * GIB, OptionalLong.of(4 * GIB), OptionalLong.empty(), false);
    SparkMemory spark =
        spark(
            "spark.memory.offHeap.enabled",
            "true",
            "spark.memory.offHeap.size",
            "1g",
            "spark.executor.pyspark.memory",
            "1g");
    assertThat(PinnedLimit.of(AUTO, machine, spark, true).bytes()).isEqualTo(GIB / 2);
  }

  @Test
  void shouldIgnoreTheLimitThatTheCapabilityLifts() {
    MachineMemory machine = machine(16 * GIB, OptionalLong.empty(), OptionalLong.of(65_536), true);
    PinnedLimit limit = PinnedLimit.of(AUTO, machine, spark(), true);
    assertThat(limit.bytes()).isEqualTo(2 * GIB);
    assertThat(limit.derivation())
        .endsWith("RLIMIT_MEMLOCK does not apply: the process has CAP_IPC_LOCK");
  }

  @Test
  void shouldAllowAMinimumWhenTheHeapFillsTheContainer() {
    MachineMemory machine =
        machine(16 * GIB, OptionalLong.of(GIB / 2), OptionalLong.empty(), false);
    PinnedLimit limit = PinnedLimit.of(AUTO, machine, spark(), true);
    assertThat(limit.bytes()).isEqualTo(MIB);
    assertThat(limit.derivation()).endsWith("raised to the least allowed value, 1 MiB");
  }

  @Test
  void shouldWorkWithoutTheHostsMemorySize() {
    MachineMemory nothing =
        new MachineMemory(
            OptionalLong.empty(),
            OptionalLong.empty(),
            OptionalLong.empty(),
            false,
            GIB,
            4_096,
            1,
            1);
    assertThat(PinnedLimit.of(AUTO, nothing, spark(), true).bytes()).isEqualTo(GIB);
  }

  @Test
  void shouldUseTheSettingAndWarnWhenItIsTooLarge() {
    assertThat(PinnedLimit.of(Optional.of(5 * GIB), BARE, spark(), true).warnings()).isEmpty();
    MachineMemory tight =
        machine(16 * GIB, OptionalLong.of(3 * GIB), OptionalLong.of(65_536), false);
    PinnedLimit limit = PinnedLimit.of(Optional.of(5 * GIB), tight, spark(), true);
    assertThat(limit.bytes()).isEqualTo(5 * GIB);
    assertThat(limit.derivation()).isEqualTo("set by spark.shuffle.rdma.pinned.max");
    assertThat(limit.warnings())
        .hasSize(2)
        .allMatch(
            sentence -> sentence.startsWith("spark.shuffle.rdma.pinned.max=5368709120 exceeds"))
        .anyMatch(sentence -> sentence.contains("2147483648 bytes of the container limit"))
        .anyMatch(sentence -> sentence.contains("RLIMIT_MEMLOCK=65536"));
    assertThat(PinnedLimit.of(Optional.of(GIB), tight, spark(), false).warnings()).isEmpty();
  }

  @Test
  void shouldWarnOfASettingAboveTheOverheadThatTheClusterManagerEnforces() {
    String[] settings = {"spark.master", "yarn", "spark.executor.memoryOverhead", "512m"};
    assertThat(PinnedLimit.of(Optional.of(GIB / 2), BARE, spark(settings), true).warnings())
        .isEmpty();
    assertThat(PinnedLimit.of(Optional.of(GIB), BARE, spark(settings), true).warnings())
        .containsExactly(
            "spark.shuffle.rdma.pinned.max=1073741824 exceeds"
                + " spark.executor.memoryOverhead=536870912 bytes: the cluster manager may kill the"
                + " container");
  }

  @ParameterizedTest
  @CsvSource({
    "2048, 2048",
    "2048m, 2048",
    "2g, 2048",
    "2gb, 2048",
    "2097152k, 2048",
    "1t, 1048576"
  })
  void shouldReadSizesAsSparkDoes(String size, long expectedMib) {
    SparkConf conf = new SparkConf(false).set("spark.executor.memory", size);
    assertThat(SparkMemory.heapBytes(key -> conf.get(key, null)))
        .isEqualTo(expectedMib * MIB)
        .isEqualTo(conf.getSizeAsMb("spark.executor.memory") * MIB);
  }

  @Test
  void shouldRefuseASizeThatSparkRefuses() {
    assertThatThrownBy(() -> spark("spark.executor.memory", "1.5g"))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("bad size: key=spark.executor.memory value=1.5g");
  }
}
