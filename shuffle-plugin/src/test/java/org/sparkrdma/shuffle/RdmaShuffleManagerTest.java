// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.InputStream;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.apache.spark.HashPartitioner;
import org.apache.spark.SparkConf;
import org.apache.spark.SparkEnv;
import org.apache.spark.api.java.JavaRDD;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.rdd.ShuffledRDD;
import org.apache.spark.serializer.DeserializationStream;
import org.apache.spark.serializer.JavaSerializer;
import org.apache.spark.serializer.JavaSerializerInstance;
import org.apache.spark.serializer.SerializerInstance;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import scala.Tuple2;
import scala.reflect.ClassTag;
import scala.reflect.ClassTag$;

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

  /** In local mode a job fails with its first task, so no attempt fails here. */
  @ParameterizedTest
  @ValueSource(strings = {"newInstance", "deserializeStream"})
  void shouldGoOnWithSparksReaderWhereAMethodIsMissing(String place) {
    BrokenSerializer.place = place;
    try (CapturedLog log = new CapturedLog();
        JavaSparkContext spark = new JavaSparkContext(conf())) {
      JavaRDD<Integer> read = readByBrokenSerializer(spark);
      for (int i = 0; i < 2; i++) {
        assertThat(read.collect()).containsExactlyInAnyOrderElementsOf(NUMBERS);
      }
      assertThat(log.warnings())
          .singleElement()
          .asString()
          .contains("its shuffle reads use TCP: Spark 4.2.0", "NoSuchMethodError: gone");
    }
  }

  /** Another attempt may then read all of them: no record is given twice. */
  @Test
  void shouldFailTheAttemptWhereAMethodIsFoundMissingAfterARecord() {
    BrokenSerializer.place = "readKey";
    try (JavaSparkContext spark = new JavaSparkContext(conf())) {
      JavaRDD<Integer> read = readByBrokenSerializer(spark);
      assertThatThrownBy(read::collect).hasMessageContaining("NoSuchMethodError: gone");
      assertThat(read.collect()).containsExactlyInAnyOrderElementsOf(NUMBERS);
    }
  }

  private static JavaRDD<Integer> readByBrokenSerializer(JavaSparkContext spark) {
    ClassTag<Integer> tag = ClassTag$.MODULE$.apply(Integer.class);
    var pairs = spark.parallelize(NUMBERS, 3).mapToPair(number -> new Tuple2<>(number, number));
    ShuffledRDD<Integer, Integer, Integer> shuffled =
        new ShuffledRDD<>(pairs.rdd(), new HashPartitioner(4), tag, tag, tag);
    return shuffled.setSerializer(new BrokenSerializer()).toJavaRDD().map(Tuple2::_2);
  }

  /** Fails in the plug-in's reader only, as where Spark lacks a method. */
  public static final class BrokenSerializer extends JavaSerializer {
    private static volatile String place;

    private static void failIn(String method) {
      boolean isOurs =
          StackWalker.getInstance()
              .walk(
                  frames ->
                      frames
                          .map(StackWalker.StackFrame::getClassName)
                          .filter(
                              name ->
                                  name.matches(
                                      ".*(RdmaShuffle|BlockStoreShuffle|Record)(Reader|Iterator)"))
                          .findFirst()
                          .filter(name -> name.startsWith("org.sparkrdma"))
                          .isPresent());
      if (isOurs && method.equals(place)) {
        throw new NoSuchMethodError("gone");
      }
    }

    @Override
    public SerializerInstance newInstance() {
      failIn("newInstance");
      return new JavaSerializerInstance(100, true, getClass().getClassLoader()) {
        @Override
        public DeserializationStream deserializeStream(InputStream stream) {
          failIn("deserializeStream");
          DeserializationStream read = super.deserializeStream(stream);
          return new DeserializationStream() {
            private int keys;

            @Override
            public <T> T readKey(ClassTag<T> type) {
              if (keys++ > 0) {
                failIn("readKey");
              }
              return readObject(type);
            }

            @Override
            public <T> T readObject(ClassTag<T> type) {
              return read.readObject(type);
            }

            @Override
            public void close() {
              read.close();
            }
          };
        }
      };
    }
  }

  @Test
  void shouldRefuseABadSettingOnTheDriver() {
    SparkConf bad = conf().set("spark.shuffle.rdma.pinned.max", "17x");
    bad.set("spark.shuffle.rdma.pined.max", "1g");
    assertThatThrownBy(() -> new RdmaShuffleManager(bad, true))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("key=spark.shuffle.rdma.pinned.max value=17x")
        .hasMessageContaining("unknown setting: key=spark.shuffle.rdma.pined.max");
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
    return LocalSpark.conf(2).set("spark.shuffle.manager", RdmaShuffleManager.class.getName());
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
