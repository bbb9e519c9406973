// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.runtime;

import java.io.FileInputStream;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import javax.crypto.Mac;
import org.apache.spark.SparkConf;
import org.apache.spark.SparkEnv;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.shuffle.IndexShuffleBlockResolver;
import org.sparkrdma.shuffle.LocalSpark;
import org.sparkrdma.shuffle.links.MissingLinks;
import org.sparkrdma.shuffle.metrics.ShuffleCounters;
import org.sparkrdma.shuffle.runtime.RuntimeStatus.State;
import org.sparkrdma.shuffle.settings.ShuffleSettings;

/**
 * A process that starts RDMA as an executor does while it has so many file descriptors free as its
 * argument says, frees them when RDMA is off, and waits until RDMA is up. Prints the states.
 */
final class FewDescriptorsJvm {
  private FewDescriptorsJvm() {}

  public static void main(String[] args) throws Exception {
    SparkConf conf = LocalSpark.conf(1).set("spark.shuffle.rdma.engine", "soft");
    try (JavaSparkContext spark = new JavaSparkContext(conf)) {
      SparkEnv env = SparkEnv.get();
      RdmaRuntime runtime =
          RdmaRuntime.of(
              env,
              (IndexShuffleBlockResolver) env.shuffleManager().shuffleBlockResolver(),
              ShuffleSettings.of(spark.getConf()),
              new ShuffleCounters(),
              List.of(),
              new MissingLinks());
      List<FileInputStream> held = takeAllBut(Integer.parseInt(args[0]));
      runtime.start();
      List<String> first = runtime.awaitStart(Duration.ofSeconds(60));
      for (FileInputStream each : held) {
        each.close();
      }
      System.out.println("first state=" + runtime.state() + " " + first);
      while (runtime.state() != State.UP) {
        Thread.onSpinWait();
      }
      System.out.println("then state=UP mac=" + Mac.getInstance("HmacSHA256").getAlgorithm());
      runtime.close();
    }
  }

  /** The limit of this process is low. */
  private static List<FileInputStream> takeAllBut(int free) throws IOException {
    List<FileInputStream> held = new ArrayList<>();
    try {
      while (true) {
        held.add(new FileInputStream("/dev/null"));
      }
    } catch (IOException e) {
      for (int i = 0; i < free; i++) {
        held.remove(held.size() - 1).close();
      }
      return held;
    }
  }
}
