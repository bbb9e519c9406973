// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.launch;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ProgressLineTest {
  @Test
  void shouldReadBackItsOwnLines() {
    ProgressLine line = new ProgressLine("sum up", 3, 10, "tasks");
    assertThat(ProgressLine.parse(line.toString())).contains(line);
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "@progress", "@progress 1 2 tasks", "hello to all of you"})
  void shouldPassOverOtherLines(String line) {
    assertThat(ProgressLine.parse(line)).isEmpty();
  }
}
