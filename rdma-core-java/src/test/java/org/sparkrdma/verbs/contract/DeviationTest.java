// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.contract;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.sparkrdma.verbs.device.TransportType;

class DeviationTest {
  @Test
  void shouldAllowACardNoDeviationOfTheSoftDrivers() {
    assertThat(Deviation.ofDevice("rxe", TransportType.INFINIBAND)).isEqualTo(Deviation.OF_ROCE);
    assertThat(Deviation.ofDevice("siw", TransportType.IWARP)).isEqualTo(Deviation.OF_IWARP);
    assertThat(Deviation.ofDevice("mlx5_core", TransportType.INFINIBAND)).isEmpty();
    assertThat(Deviation.ofDevice("cxgb4", TransportType.IWARP))
        .contains(Deviation.RECEIVER_MUST_BE_READY)
        .doesNotContain(Deviation.REMOTE_READ_IS_NOT_CHECKED)
        .isSubsetOf(Deviation.OF_IWARP);
  }
}
