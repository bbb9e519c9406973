// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.read;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.spark.HashPartitioner;
import org.apache.spark.SparkConf;
import org.apache.spark.TaskContext;
import org.apache.spark.api.java.JavaFutureAction;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.scheduler.SparkListener;
import org.apache.spark.scheduler.SparkListenerTaskEnd;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.sparkrdma.shuffle.LocalSpark;
import org.sparkrdma.shuffle.RdmaShuffleManager;
import scala.Tuple2;

/** In one process every block is local, so this tests only the reader itself. */
@Tag("slow")
@Timeout(180)
class RdmaShuffleReaderTest {
  private static final CountDownLatch READING = new CountDownLatch(1);
  private static final AtomicInteger READ = new AtomicInteger();

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
    return LocalSpark.conf(2)
        .set("spark.shuffle.manager", RdmaShuffleManager.class.getName())
        .set("spark.shuffle.rdma.engine", "soft")
        .set("spark.shuffle.rdma.pinned.max", "64m");
  }
}
