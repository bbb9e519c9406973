/*
 * Licensed under the Apache License, Version 2.0 (the "License");
 * you may not use this file except in compliance with the License.
 * You may obtain a copy of the License at
 *
 *     http://www.apache.org/licenses/LICENSE-2.0
 *
 * Unless required by applicable law or agreed to in writing, software
 * distributed under the License is distributed on an "AS IS" BASIS,
 * WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
 * See the License for the specific language governing permissions and
 * limitations under the License.
 */
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
  void shouldTakeTheFirstByNameOfEquallyNearOnes() {
    assertThat(EditDistance.nearest("b", List.of("c", "a"))).isEqualTo("a");
  }
}
