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
  void shouldNameTcpUnlessRdmaIsRequired() {
    assertThat(consequence(Map.of())).isEqualTo("Its shuffle blocks use TCP");
    assertThat(consequence(Map.of("spark.shuffle.rdma.mode", "required")))
        .isEqualTo("Its tasks fail, because spark.shuffle.rdma.mode=required");
  }
}
