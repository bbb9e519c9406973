// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.read;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.IntStream;
import org.apache.spark.HashPartitioner;
import org.apache.spark.SparkConf;
import org.apache.spark.SparkEnv;
import org.apache.spark.TaskContext;
import org.apache.spark.api.java.JavaFutureAction;
import org.apache.spark.api.java.JavaPairRDD;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.scheduler.SparkListener;
import org.apache.spark.scheduler.SparkListenerTaskEnd;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.sparkrdma.shuffle.RdmaShuffleManager;
import scala.Tuple2;

/** In one process every block is local, so this tests only the reader itself. */
@Tag("slow")
@Timeout(180)
class RdmaShuffleReaderTest {
  private static final List<Integer> NUMBERS = IntStream.range(0, 4_000).boxed().toList();
  private static final CountDownLatch READING = new CountDownLatch(1);
  private static final AtomicInteger READ = new AtomicInteger();

  @Test
  void shouldReturnTheSameRecordsAndMetricsAsSparksReader() {
    Map<String, Object> sparks = answers(conf().set("spark.shuffle.rdma.mode", "off"));
    assertThat(answers(conf())).isEqualTo(sparks);
  }

  @Test
  void shouldStopReadingWhenTheTaskIsKilled() throws InterruptedException {
    CountDownLatch ended = new CountDownLatch(2);
    try (JavaSparkContext spark = new JavaSparkContext(conf())) {
      spark
          .sc()
          .addSparkListener(
              new SparkListener() {
                @Override
                public void onTaskEnd(SparkListenerTaskEnd end) {
                  ended.countDown();
                }
              });
      JavaFutureAction<Long> counting =
          spark
              .parallelizePairs(List.of(new Tuple2<>(1, 1), new Tuple2<>(2, 2)), 1)
              .partitionBy(new HashPartitioner(1))
              .filter(
                  pair -> {
                    READ.incrementAndGet();
                    READING.countDown();
                    while (!TaskContext.get().isInterrupted()) {
                      Thread.onSpinWait();
                    }
                    return true;
                  })
              .countAsync();
      READING.await();
      counting.cancel(true);
      ended.await();
      assertThat(READ).hasValue(1);
    }
  }

  private static SparkConf conf() {
    return new SparkConf(false)
        .setMaster("local[2]")
        .setAppName("reader")
        .set("spark.ui.enabled", "false")
        .set("spark.driver.host", "127.0.0.1")
        .set("spark.shuffle.manager", RdmaShuffleManager.class.getName())
        .set("spark.shuffle.rdma.engine", "soft")
        .set("spark.shuffle.rdma.pinned.max", "64m");
  }

  private static JavaPairRDD<Integer, Integer> pairs(JavaSparkContext spark) {
    return spark.parallelize(NUMBERS, 4).mapToPair(i -> new Tuple2<>((i * 7_919) % 997, i));
  }

  /** Every kind of shuffle, and Spark's metrics. */
  private static Map<String, Object> answers(SparkConf conf) {
    Map<String, Object> answers = new TreeMap<>();
    AtomicLong recordsRead = new AtomicLong();
    AtomicLong blocksRead = new AtomicLong();
    try (JavaSparkContext spark = new JavaSparkContext(conf)) {
      spark
          .sc()
          .addSparkListener(
              new SparkListener() {
                @Override
                public void onTaskEnd(SparkListenerTaskEnd end) {
                  var metrics = end.taskMetrics().shuffleReadMetrics();
                  recordsRead.addAndGet(metrics.recordsRead());
                  blocksRead.addAndGet(metrics.totalBlocksFetched());
                }
              });
      JavaPairRDD<Integer, Integer> pairs = pairs(spark);
      answers.put("combined on both sides", pairs.reduceByKey(Integer::sum, 3).collectAsMap());
      answers.put(
          "combined on the reduce side",
          pairs.groupByKey(3).mapValues(RdmaShuffleReaderTest::sum).collectAsMap());
      answers.put("sorted", pairs.sortByKey(true, 3).keys().collect());
      answers.put(
          "sorted inside partitions",
          pairs.repartitionAndSortWithinPartitions(new HashPartitioner(3)).keys().collect());
      answers.put("as they come", pairs.repartition(3).values().reduce(Integer::sum));
      answers.put("joined", pairs.join(pairs.mapValues(i -> i + 1), 3).count());
      boolean ours =
          ((RdmaShuffleManager) SparkEnv.get().shuffleManager())
              .counters().keySet().stream().noneMatch(label -> label.startsWith("fallback."));
      assertThat(ours).isTrue();
    }
    answers.put("records read", recordsRead.get());
    answers.put("blocks read", blocksRead.get());
    return answers;
  }

  private static int sum(Iterable<Integer> numbers) {
    int sum = 0;
    for (int number : numbers) {
      sum += number;
    }
    return sum;
  }
}
