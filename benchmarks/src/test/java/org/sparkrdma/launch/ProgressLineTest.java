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
package org.sparkrdma.launch;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ProgressLineTest {
  @Test
  void shouldReadBackWhatItPrints() {
    ProgressLine line = new ProgressLine("sum up", 3, 10, "tasks");
    assertThat(ProgressLine.parse(line.toString())).contains(line);
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "@progress", "@progress 1 2 tasks", "hello to all of you"})
  void shouldPassOverOtherLines(String line) {
    assertThat(ProgressLine.parse(line)).isEmpty();
  }
}
