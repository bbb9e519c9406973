// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.guest;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;

/** The page of the guest matrix, of which only {@link MatrixPage} may change the text. */
class MatrixPageTest {
  @Test
  void shouldHaveTheTextAndTheCellsOfItsGenerator() throws IOException {
    String page = Files.readString(Path.of("..", "docs", "guest-matrix.md"));

    assertThat(page).startsWith(MatrixReport.HEAD).contains(MatrixReport.FOOT + LostMessage.HEAD);
    assertThat(MatrixCell.all())
        .isNotEmpty()
        .allSatisfy(
            cell -> assertThat(page).contains("\n| " + String.join(" | ", cell.values()) + " | "));
    assertThat(LostMessage.values())
        .allSatisfy(
            lost -> assertThat(page).contains("\n| " + String.join(" | ", lost.columns()) + " | "));
  }
}
