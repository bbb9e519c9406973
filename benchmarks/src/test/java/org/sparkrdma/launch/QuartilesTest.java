// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.launch;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;

class QuartilesTest {
  @Test
  void shouldInterpolateBetweenValues() {
    Quartiles quartiles = Quartiles.of(List.of(4.0, 1.0, 2.0, 3.0), Double::doubleValue);
    assertThat(quartiles).isEqualTo(new Quartiles(2.5, 1.75, 3.25));
    assertThat(quartiles.format(1)).isEqualTo("2.5 (1.8..3.3)");
  }

  @Test
  void shouldTakeTheValuesThemselvesWhereTheyFit() {
    assertThat(Quartiles.of(List.of(5.0, 1.0, 3.0, 2.0, 4.0), Double::doubleValue))
        .isEqualTo(new Quartiles(3, 2, 4));
    assertThat(Quartiles.of(List.of(7.0), Double::doubleValue)).isEqualTo(new Quartiles(7, 7, 7));
  }
}
