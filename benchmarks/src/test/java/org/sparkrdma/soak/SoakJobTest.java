// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.soak;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.apache.spark.SparkConf;
import org.apache.spark.api.java.JavaSparkContext;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import scala.Tuple2;

@Tag("slow")
@Timeout(240)
class SoakJobTest {
  private static JavaSparkContext start() {
    return new JavaSparkContext(
        new SparkConf(false)
            .setMaster("local[2]")
            .setAppName("soak")
            .set("spark.ui.enabled", "false")
            .set("spark.driver.host", "127.0.0.1")
            .set("spark.sql.shuffle.partitions", "6")
            .set("spark.serializer", "org.apache.spark.serializer.KryoSerializer"));
  }

  @Test
  void shouldAcceptAKnownAnswerAndReportOthers() throws Exception {
    try (JavaSparkContext spark = start()) {
      assertThat(SoakJob.JOIN.run(spark, 5)).isEmpty();
      assertThat(
              SoakJob.compare(
                  spark.parallelize(List.of(new Tuple2<>(3L, 0L), new Tuple2<>(4L, 1L))), 7))
          .contains("right=7 wrong=1 expected=7");
      assertThat(SoakJob.compare(spark.parallelize(List.of(new Tuple2<>(3L, 0L))), 4))
          .contains("right=3 wrong=0 expected=4");
    }
  }
}
