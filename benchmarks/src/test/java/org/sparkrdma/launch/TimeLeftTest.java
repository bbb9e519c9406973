// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.launch;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class TimeLeftTest {
  private long nowNs = 77;

  @Test
  void shouldEstimateFromTheStepsThatAreDone() {
    TimeLeft time = new TimeLeft(4, () -> nowNs);
    assertThat(time.estimate()).isEmpty();

    nowNs += TimeUnit.SECONDS.toNanos(30);
    time.onStepDone();
    assertThat(time.estimate()).isEqualTo(", about 90 s left");

    nowNs += TimeUnit.SECONDS.toNanos(270);
    time.onStepDone();
    assertThat(time.estimate()).isEqualTo(", about 5 min left");
  }

  @Test
  void shouldEstimateNothingAfterTheLastStep() {
    TimeLeft time = new TimeLeft(1, () -> nowNs);
    time.onStepDone();
    assertThat(time.done()).isEqualTo(1);
    assertThat(time.estimate()).isEmpty();
  }
}
