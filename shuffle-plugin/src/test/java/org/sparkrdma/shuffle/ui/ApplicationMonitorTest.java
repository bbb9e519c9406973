// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.ui;

import static org.assertj.core.api.Assertions.assertThat;

import com.codahale.metrics.Gauge;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import org.apache.spark.SparkConf;
import org.apache.spark.SparkEnv;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.metrics.source.Source;
import org.apache.spark.scheduler.SparkListener;
import org.apache.spark.scheduler.SparkListenerEvent;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.sparkrdma.shuffle.CapturedLog;
import org.sparkrdma.shuffle.LocalSpark;

/** Metrics and summary of an application on the driver, with and without pages of Spark. */
@Timeout(60)
class ApplicationMonitorTest {
  private static final Map<String, Object> FIGURES =
      Map.of("state", "up", "read", 5L, "highest", 4_096L, "fallback.timeout", 2L);

  @Test
  void shouldHaveMetricsAndASummaryWhereSparkHasNoPages() {
    Events events = new Events();
    assertThat(linesOf(events, false))
        .containsExactly(
            "Shuffle of this application: "
                + "readBytes=5 copiedBytes=0 tcpBytes=0 localBytes=0 broadcastBytes=0 fallbackBlocks=2 quarantines=0"
                + " fallbacks={timeout=2} highestPinnedBytes=4096 notes=[a note]");
    assertThat(events.posted).as("no History Server of Spark 3.5 reads them").isEmpty();
  }

  @Test
  void shouldPostEventsWhereSparkHasPages() {
    Events events = new Events();
    assertThat(linesOf(events, true)).hasSize(1);
    assertThat(events.posted).isNotEmpty();
  }

  /** Log of an application in which one executor has reported. */
  private static List<String> linesOf(Events events, boolean hasPages) {
    try (CapturedLog log = CapturedLog.fromInfo("org.sparkrdma.shuffle.ui")) {
      try (JavaSparkContext spark = new JavaSparkContext(conf())) {
        spark.sc().addSparkListener(events);
        ApplicationMonitor monitor =
            ApplicationMonitor.start(
                    spark.sc(),
                    () -> Map.of("7", "host-a"),
                    List.of("a note"),
                    executorId -> false,
                    hasPages)
                .orElseThrow();
        monitor.report("7", FIGURES);
        assertThat(gauge("bytes.read").getValue()).isEqualTo(5L);
        assertThat(gauge("blocks.fallback").getValue()).isEqualTo(2L);
      }
      return log.warnings();
    }
  }

  @Test
  void shouldCollectFiguresWhenTheQueryOfTheHostsFails() {
    try (JavaSparkContext spark = new JavaSparkContext(conf())) {
      ApplicationMonitor monitor =
          ApplicationMonitor.start(
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

  /** Collects the events of the plug-in. */
  private static final class Events extends SparkListener {
    private final List<SparkListenerEvent> posted = Collections.synchronizedList(new ArrayList<>());

    @Override
    public void onOtherEvent(SparkListenerEvent event) {
      if (event instanceof RdmaShuffleEvent) {
        posted.add(event);
      }
    }
  }
}
