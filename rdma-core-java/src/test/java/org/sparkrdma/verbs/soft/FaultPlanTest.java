// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.soft;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Operations that a plan makes fail. */
class FaultPlanTest {
  private static List<Integer> fires(String plan, FaultPlan.Kind kind, int count) {
    FaultPlan parsed = FaultPlan.parse(plan);
    List<Integer> fired = new ArrayList<>();
    for (int i = 1; i <= count; i++) {
      if (parsed.fires(kind)) {
        fired.add(i);
      }
    }
    return fired;
  }

  @Test
  void shouldFireTheSameTimesForTheSameSeed() {
    List<Integer> first = fires("read-error%0.1,seed=7", FaultPlan.Kind.READ_ERROR, 1000);
    assertThat(first).hasSizeBetween(50, 200);
    assertThat(fires("read-error%0.1,seed=7", FaultPlan.Kind.READ_ERROR, 1000)).isEqualTo(first);
    assertThat(fires("read-error%0.1,seed=8", FaultPlan.Kind.READ_ERROR, 1000)).isNotEqualTo(first);
  }

  @Test
  void shouldDelayByTheDurationGiven() {
    FaultPlan plan = FaultPlan.parse("delay@2:1.5ms");
    assertThat(plan.delayNs()).isZero();
    assertThat(plan.delayNs()).isEqualTo(1_500_000);
    assertThat(plan.delayNs()).isZero();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "read-error",
        "read-error@0",
        "read-error@-1",
        "invalid@1",
        "hang@1:5ms",
        "delay@1",
        "delay@1:5",
        "read-error%1.5",
        "read-error%",
        "hang@1,,hang@2",
        "seed=x",
        ",",
        "hang @1"
      })
  void shouldRejectAnInvalidPlan(String text) {
    assertThatThrownBy(() -> FaultPlan.parse(text)).isInstanceOf(IllegalArgumentException.class);
  }
}
