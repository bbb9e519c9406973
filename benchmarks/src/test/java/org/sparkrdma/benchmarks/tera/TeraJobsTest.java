// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.benchmarks.tera;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import org.apache.spark.SparkConf;
import org.apache.spark.api.java.JavaSparkContext;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.sparkrdma.launch.ProgressLine;

@Tag("slow")
@Timeout(120)
class TeraJobsTest {
  private static final long RECORDS = 10_007;

  @TempDir private Path directory;

  @Test
  void shouldSortTheGeneratedRecordsAndLoseNone() throws Exception {
    SparkConf conf =
        new SparkConf(false)
            .setMaster("local[2]")
            .setAppName("tera")
            .set("spark.ui.enabled", "false")
            .set("spark.driver.host", "127.0.0.1")
            .set("spark.serializer", "org.apache.spark.serializer.KryoSerializer");
    ByteArrayOutputStream printed = new ByteArrayOutputStream();
    try (JavaSparkContext spark = new JavaSparkContext(conf)) {
      ShuffleReadTotals totals = new ShuffleReadTotals();
      spark.sc().addSparkListener(totals);
      spark
          .sc()
          .addSparkListener(
              new TaskProgress(new PrintStream(printed, true, StandardCharsets.UTF_8)));
      spark.sc().setJobDescription("test job");

      TeraGen.write(spark, path("in"), RECORDS, 3);
      TeraSort.sort(spark, path("in"), path("out"), 4);
      var input = TeraValidate.summarize(spark, path("in"));
      var output = TeraValidate.summarize(spark, path("out"));

      assertThat(input.records()).isEqualTo(RECORDS);
      assertThat(input.disorder()).isPresent();
      assertThat(output.records()).isEqualTo(RECORDS);
      assertThat(output.disorder()).isEmpty();
      assertThat(output.checksum()).isEqualTo(input.checksum());
      spark.sc().listenerBus().waitUntilEmpty(10_000);
      assertThat(totals.localBytes()).isPositive();
      assertThat(totals.remoteBytes()).isZero();
    }
    List<ProgressLine> steps =
        printed
            .toString(StandardCharsets.UTF_8)
            .lines()
            .map(ProgressLine::parse)
            .flatMap(Optional::stream)
            .toList();
    assertThat(steps)
        .contains(
            new ProgressLine("test job", 0, 3, "tasks"),
            new ProgressLine("test job", 3, 3, "tasks"),
            new ProgressLine("test job", 7, 7, "tasks"));
  }

  private String path(String name) {
    return "file:" + directory.resolve(name);
  }
}
