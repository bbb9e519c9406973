// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.settings;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class EditDistanceTest {
  @ParameterizedTest
  @CsvSource({"'','',0", "a,'',1", "kitten,sitting,3", "mode,mode,0", "port,ports,1"})
  void shouldCountInsertionsRemovalsAndReplacements(String left, String right, int distance) {
    assertThat(EditDistance.between(left, right)).isEqualTo(distance);
    assertThat(EditDistance.between(right, left)).isEqualTo(distance);
  }

  @Test
  void shouldPreferTheFirstByNameAmongEquallyNearKeys() {
    assertThat(EditDistance.nearest("b", List.of("c", "a"), 1)).contains("a");
  }

  @Test
  void shouldFindNothingBeyondTheMaximumDistance() {
    assertThat(EditDistance.nearest("bb", List.of("c", "a"), 1)).isEmpty();
  }
}
