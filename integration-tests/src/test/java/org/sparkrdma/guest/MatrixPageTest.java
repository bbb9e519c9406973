// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.guest;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.NullNode;
import com.fasterxml.jackson.databind.node.TextNode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
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

  @Test
  void shouldKeepARowUntilItIsStartedAgainOrChanged() {
    String row = "| ci | 6.12 | READ 1 |  | 6.12.117, 17, 4c4fbd11f6, 2026-11-25 |";

    assertThat(row(row, "6.12", null)).isEqualTo(row + "\n");
    assertThat(row(row, "6.12", NullNode.instance)).isEqualTo("| ci | 6.12 | not run |  |  |\n");
    assertThat(row(row, "6.1", null)).isEqualTo("| ci | 6.1 | not run |  |  |\n");
    assertThat(row(row, "6.12", TextNode.valueOf("READ 2")))
        .isEqualTo("| ci | 6.12 | READ 2 |  | now |\n");
  }

  private static String row(String before, String kernel, JsonNode result) {
    return MatrixPage.row(
        List.of("# Guest matrix", before),
        List.of("ci", kernel),
        result,
        MatrixPage.OF_CELL,
        node -> List.of(node.asText(), "", "now"));
  }
}
