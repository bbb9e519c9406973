// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.tools;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class LineWrapTest {
  @ParameterizedTest
  @CsvSource({
    "10, 0, one two three four, 'one two|three four'",
    "9, 0, one two three four, 'one two|three|four'",
    "9, 2, one two three four, 'one two|  three|  four'",
    "3, 2, one two, 'one|  two'",
    "20, 2, '', ''",
    "6, 0, a longest b, 'a|longest|b'",
  })
  void shouldBreakAtBlanks(int columns, int indent, String text, String lines) {
    assertThat(new LineWrap(columns).wrap(text, indent)).isEqualTo(lines.replace("|", "\n"));
  }

  @Test
  void shouldBreakNothingWhereThereIsNoTerminal() {
    String text = "word ".repeat(1_000);
    assertThat(LineWrap.NONE.wrap(text, 9)).isEqualTo(text);
  }
}
