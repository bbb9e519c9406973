// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.driver;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.sparkrdma.shuffle.settings.ShuffleSettings;

/** The consequence for a job of an executor without RDMA, as the driver's WARN has it. */
@Timeout(60)
class DriverPartsTest {
  private static String consequence(Map<String, String> settings) {
    return DriverParts.withoutRdma(ShuffleSettings.of(settings));
  }

  @Test
  void shouldNameTcpOnlyWhenTheUserNamedNoEngine() {
    assertThat(consequence(Map.of())).isEqualTo("Its shuffle blocks use TCP");
  }

  @Test
  void shouldNameTheModeThatKeepsTasksOutOfExecutorsWithoutTheNamedEngine() {
    assertThat(consequence(Map.of("spark.shuffle.rdma.engine", "ibverbs")))
        .isEqualTo(
            "Its shuffle blocks use TCP. spark.shuffle.rdma.engine=ibverbs was set and cannot be"
                + " used there; with spark.shuffle.rdma.mode=required tasks run only in executors"
                + " with RDMA, and the job fails if there is none");
  }

  @Test
  void shouldSayWhereTasksRunWhenRdmaIsRequired() {
    assertThat(consequence(Map.of("spark.shuffle.rdma.mode", "required")))
        .isEqualTo(
            "Its tasks run in other executors with RDMA, and the job fails if there is none");
  }
}
