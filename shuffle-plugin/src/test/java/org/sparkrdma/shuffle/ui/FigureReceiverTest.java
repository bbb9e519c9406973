// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.ui;

import static org.assertj.core.api.Assertions.assertThat;

import com.codahale.metrics.Gauge;
import java.util.List;
import java.util.Map;
import org.apache.spark.SparkConf;
import org.apache.spark.SparkEnv;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.metrics.source.Source;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.sparkrdma.shuffle.LocalSpark;

/** Metrics of an application on the driver. */
@Timeout(60)
class FigureReceiverTest {
  private static final Map<String, Object> FIGURES =
      Map.of("state", "up", "read", 5L, "highest", 4_096L, "fallback.timeout", 2L);

  @Test
  void shouldCollectFiguresWhenTheQueryOfTheHostsFails() {
    try (JavaSparkContext spark = new JavaSparkContext(conf())) {
      FigureReceiver monitor =
          FigureReceiver.start(
                  spark.sc(),
                  () -> {
                    throw new LinkageError("another version of Spark");
                  },
                  List.of(),
                  executorId -> false,
                  false)
              .orElseThrow();
      monitor.report("7", FIGURES);
      assertThat(gauge("bytes.read").getValue()).isEqualTo(5L);
    }
  }

  private static SparkConf conf() {
    return LocalSpark.conf(2);
  }

  private static Gauge<?> gauge(String name) {
    Source source =
        SparkEnv.get().metricsSystem().getSourcesByName("rdma.application").iterator().next();
    return source.metricRegistry().getGauges().get(name);
  }
}
