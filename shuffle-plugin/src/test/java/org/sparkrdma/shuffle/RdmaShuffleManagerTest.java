// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.apache.spark.SparkConf;
import org.apache.spark.SparkEnv;
import org.apache.spark.api.java.JavaSparkContext;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import scala.Tuple2;

@Timeout(120)
class RdmaShuffleManagerTest {
  private static final List<Integer> NUMBERS = IntStream.range(0, 1_000).boxed().toList();

  @Test
  void shouldOpenNoDeviceAndLogNoWarningInLocalMode() {
    try (CapturedLog log = new CapturedLog();
        JavaSparkContext spark =
            new JavaSparkContext(conf().set("spark.shuffle.rdma.engine", "soft"))) {
      assertThat(sumsByRemainder(spark)).hasSize(7).containsEntry(0, 71_071);
      assertThat(sumsByRemainder(spark)).hasSize(7);
      assertThat(log.warnings()).isEmpty();
      assertThat(Thread.getAllStackTraces().keySet())
          .extracting(Thread::getName)
          .noneMatch(name -> name.startsWith("rdma-") || name.startsWith("soft-rdma"));
      assertThat(manager().counters())
          .containsEntry("rdma.bytes.read", 0L)
          .doesNotContainKey("fallback.unavailable");
    }
  }

  @Test
  void shouldServeSeveralContextsInTurn() {
    for (int i = 0; i < 2; i++) {
      SparkConf conf = conf().set("spark.shuffle.useOldFetchProtocol", "true");
      try (JavaSparkContext spark = new JavaSparkContext(conf)) {
        assertThat(sumsByRemainder(spark)).hasSize(7);
      }
    }
  }

  @Test
  void shouldPublishCountersAsAMetricsSource() {
    try (JavaSparkContext spark = new JavaSparkContext(conf())) {
      assertThat(spark.isLocal()).isTrue();
      RdmaShuffleManager executor = new RdmaShuffleManager(SparkEnv.get().conf(), false);
      assertThat(SparkEnv.get().metricsSystem().getSourcesByName("rdma").size()).isOne();
      executor.stop();
    }
  }

  @Test
  void shouldLogAndCountNothingWhenTheModeIsOff() {
    try (CapturedLog log = new CapturedLog();
        JavaSparkContext spark =
            new JavaSparkContext(conf().set("spark.shuffle.rdma.mode", "off"))) {
      assertThat(sumsByRemainder(spark)).hasSize(7);
      assertThat(log.warnings()).isEmpty();
      assertThat(manager().counters()).doesNotContainKey("fallback.unavailable");
      assertThat(manager().blockStoreClient())
          .isSameAs(SparkEnv.get().blockManager().blockStoreClient());
    }
  }

  @Test
  void shouldRunInLocalModeWhenRdmaIsRequiredAndWarnThatNothingIsRemote() {
    try (CapturedLog log = new CapturedLog();
        JavaSparkContext spark =
            new JavaSparkContext(conf().set("spark.shuffle.rdma.mode", "required"))) {
      assertThat(sumsByRemainder(spark)).hasSize(7);
      assertThat(sumsByRemainder(spark)).hasSize(7);
      assertThat(log.warnings())
          .singleElement()
          .asString()
          .startsWith("RDMA is required, but in local mode");
    }
  }

  @Test
  void shouldRefuseABadSettingOnTheDriver() {
    SparkConf bad = conf().set("spark.shuffle.rdma.pinned.max", "17x");
    assertThatThrownBy(() -> new RdmaShuffleManager(bad, true))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("key=spark.shuffle.rdma.pinned.max value=17x");
  }

  @Test
  void shouldContinueWithoutRdmaWhenAnExecutorHasABadSetting() {
    SparkConf bad = conf().set("spark.shuffle.rdma.pinned.max", "17x");
    assertThat(new RdmaShuffleManager(bad, false).counters()).containsEntry("rdma.bytes.read", 0L);
  }

  @Test
  void shouldLogReplacementsOfSparkRdmaKeysOnce() {
    try (CapturedLog log = new CapturedLog()) {
      new RdmaShuffleManager(conf().set("spark.shuffle.rdma.recvQueueDepth", "1024"), true).stop();
      assertThat(log.warnings())
          .singleElement()
          .asString()
          .contains("recvQueueDepth", "not needed");
    }
  }

  private static SparkConf conf() {
    return new SparkConf(false)
        .setMaster("local[2]")
        .setAppName("manager")
        .set("spark.ui.enabled", "false")
        .set("spark.driver.host", "127.0.0.1")
        .set("spark.shuffle.manager", RdmaShuffleManager.class.getName());
  }

  private static RdmaShuffleManager manager() {
    return (RdmaShuffleManager) SparkEnv.get().shuffleManager();
  }

  private static Map<Integer, Integer> sumsByRemainder(JavaSparkContext spark) {
    return spark
        .parallelize(NUMBERS, 3)
        .mapToPair(number -> new Tuple2<>(number % 7, number))
        .reduceByKey(Integer::sum, 4)
        .collectAsMap();
  }
}
