// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.spark;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.apache.spark.SparkConf;
import org.apache.spark.network.netty.SparkTransportConf;
import org.apache.spark.network.util.TransportConf;
import org.junit.jupiter.api.Test;
import scala.Option;

class ShuffleTransportConfTest {
  private final SparkConf conf =
      new SparkConf(false)
          .set("spark.storage.memoryMapThreshold", "7m")
          .set("spark.shuffle.io.lazyFD", "false")
          .set("spark.shuffle.io.retryWait", "3s");

  @Test
  void shouldReadTheSameSettingsAsSpark() {
    TransportConf ours = ShuffleTransportConf.of(conf);
    TransportConf sparks =
        SparkTransportConf.fromSparkConf(conf, "shuffle", 1, Option.empty(), Option.empty());

    assertThat(ours.getModuleName()).isEqualTo(sparks.getModuleName());
    assertThat(List.of(ours.memoryMapBytes(), ours.lazyFileDescriptor(), ours.ioRetryWaitTimeMs()))
        .isEqualTo(
            List.of(
                sparks.memoryMapBytes(), sparks.lazyFileDescriptor(), sparks.ioRetryWaitTimeMs()))
        .isEqualTo(List.of(7 << 20, false, 3_000));
    assertThat(ours.maxIORetries()).isEqualTo(sparks.maxIORetries());
    assertThat(ours.get("spark.unset", "default")).isEqualTo("default");
  }

  @Test
  void shouldNotChangeWhenTheApplicationsConfigurationDoes() {
    TransportConf ours = ShuffleTransportConf.of(conf);
    conf.set("spark.storage.memoryMapThreshold", "9m");
    assertThat(ours.memoryMapBytes()).isEqualTo(7 << 20);
  }
}
