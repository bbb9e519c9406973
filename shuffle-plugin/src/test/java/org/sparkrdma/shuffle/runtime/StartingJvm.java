// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.runtime;

import com.kenai.jffi.internal.StubLoader;
import java.time.Duration;
import java.util.List;
import org.apache.spark.SparkConf;
import org.apache.spark.SparkEnv;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.shuffle.IndexShuffleBlockResolver;
import org.sparkrdma.shuffle.metrics.ShuffleCounters;
import org.sparkrdma.shuffle.settings.ShuffleSettings;

/**
 * A process that starts RDMA as an executor does, with the engines and the settings that are the
 * default, and waits until it is up or off. Prints whether jffi's library is loaded, and the state.
 */
final class StartingJvm {
  private StartingJvm() {}

  public static void main(String[] args) {
    SparkConf conf =
        new SparkConf(false)
            .setMaster("local[1]")
            .setAppName("starting")
            .set("spark.ui.enabled", "false")
            .set("spark.driver.host", "127.0.0.1");
    try (JavaSparkContext spark = new JavaSparkContext(conf)) {
      SparkEnv env = SparkEnv.get();
      RdmaRuntime runtime =
          RdmaRuntime.of(
              env,
              (IndexShuffleBlockResolver) env.shuffleManager().shuffleBlockResolver(),
              ShuffleSettings.of(spark.getConf()),
              new ShuffleCounters(),
              List.of());
      runtime.start();
      awaitStart(runtime);
      System.out.println("loaded=" + StubLoader.isLoaded() + " state=" + runtime.state());
      runtime.close();
    }
  }

  private static void awaitStart(RdmaRuntime runtime) {
    try {
      runtime.require(Duration.ofSeconds(60));
    } catch (IllegalStateException e) {
      System.out.println("required: " + e.getMessage());
    }
  }
}
