// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.benchmarks.tera;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.apache.spark.SparkConf;
import org.apache.spark.api.java.JavaSparkContext;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.sparkrdma.launch.ProgressLine;

@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class TaskProgressTest {
  private static final CountDownLatch STARTED = new CountDownLatch(1);
  private static final CountDownLatch GO_ON = new CountDownLatch(1);

  @Test
  void shouldCountTasksOfJobsThatOverlapTogether() throws Exception {
    SparkConf conf =
        new SparkConf(false)
            .setMaster("local[2]")
            .setAppName("progress")
            .set("spark.ui.enabled", "false")
            .set("spark.driver.host", "127.0.0.1");
    List<ProgressLine> lines = new CopyOnWriteArrayList<>();
    try (JavaSparkContext spark = new JavaSparkContext(conf)) {
      spark.sc().addSparkListener(new TaskProgress(lines::add));
      var first =
          spark
              .parallelize(List.of(1), 1)
              .foreachAsync(
                  one -> {
                    STARTED.countDown();
                    GO_ON.await();
                  });
      assertThat(STARTED.await(30, TimeUnit.SECONDS)).isTrue();

      spark.parallelize(List.of(1, 2), 2).count();
      GO_ON.countDown();
      first.get(30, TimeUnit.SECONDS);
      spark.sc().listenerBus().waitUntilEmpty(10_000);
      spark.parallelize(List.of(1), 1).count();
      spark.sc().listenerBus().waitUntilEmpty(10_000);
    }
    assertThat(lines)
        .extracting(ProgressLine::done, ProgressLine::total)
        .containsExactly(
            tuple(0, 1),
            tuple(0, 3),
            tuple(1, 3),
            tuple(2, 3),
            tuple(3, 3),
            tuple(0, 1),
            tuple(1, 1));
  }
}
