// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.driver;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.apache.spark.SparkConf;
import org.apache.spark.SparkEnv;
import org.apache.spark.api.java.JavaSparkContext;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.sparkrdma.shuffle.LocalSpark;
import org.sparkrdma.shuffle.directory.DirectoryClient;
import org.sparkrdma.shuffle.directory.DriverDirectory;
import org.sparkrdma.shuffle.links.MissingLinks;
import org.sparkrdma.shuffle.settings.ShuffleSettings;
import org.sparkrdma.shuffle.thread.ControlThread;

/** Executors that end without an event of Spark. */
@Timeout(60)
class DriverPartsTest {
  private static final Duration WAIT = Duration.ofSeconds(30);

  private final ControlThread control = new ControlThread();

  /** The executor has ended, and Spark has dropped the event. */
  @Test
  void shouldRemoveAnExecutorFromTheDirectoryWithoutAnEvent() {
    SparkConf conf = LocalSpark.conf(1);
    MissingLinks missing = new MissingLinks();
    try (JavaSparkContext spark = new JavaSparkContext(conf);
        DriverParts parts = new DriverParts(conf, ShuffleSettings.defaults(), List.of(), missing);
        DriverDirectory directory =
            new DriverDirectory(
                spark.getConf(), SparkEnv.get().rpcEnv(), "", (id, values) -> true, missing);
        DirectoryClient client = new DirectoryClient(SparkEnv.get(), WAIT, control)) {
      client.withdraw("7", List.of("no device")).join();
      assertThat(directory.executors()).containsExactly("7");
      parts.look(() -> Map.of("8", "host"), directory, Optional.empty());
      parts.look(
          () -> {
            throw new IllegalStateException("Spark does not answer");
          },
          directory,
          Optional.empty());
      assertThat(directory.executors()).containsExactly("7");
      parts.look(() -> Map.of("8", "host"), directory, Optional.empty());
      assertThat(directory.executors()).isEmpty();
    } finally {
      control.shutdownNow();
    }
  }
}
