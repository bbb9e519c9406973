// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.ui.page;

import java.util.List;

/**
 * Writes a table with the style classes of Spark's own tables; a click on a head sorts it. Confined
 * to one thread.
 */
final class Table {
  private final StringBuilder html = new StringBuilder(1_024);

  /**
   * @param id of the element
   * @param heads names of columns, with an explanation after a {@code |}
   */
  Table(String id, List<String> heads) {
    html.append("<table id=\"")
        .append(id)
        .append("\" class=\"table table-bordered table-sm table-striped sortable\"><thead><tr>");
    for (String head : heads) {
      String[] parts = head.split("\\|", 2);
      html.append("<th");
      if (parts.length > 1) {
        html.append(" title=\"").append(Html.escape(parts[1])).append('"');
      }
      html.append('>').append(Html.escape(parts[0])).append("</th>");
    }
    html.append("</tr></thead><tbody>");
  }

  Table beginRow() {
    html.append("<tr>");
    return this;
  }

  Table endRow() {
    html.append("</tr>");
    return this;
  }

  Table text(String text) {
    html.append("<td>").append(Html.escape(text)).append("</td>");
    return this;
  }

  /** A text that may break at any character, so that it does not widen the table. */
  Table breakable(String text) {
    html.append("<td style=\"overflow-wrap:anywhere\">").append(Html.escape(text)).append("</td>");
    return this;
  }

  /** A number with its text, sorted by the number. */
  Table number(long number, String text) {
    html.append("<td style=\"text-align:right\" sorttable_customkey=\"")
        .append(number)
        .append("\">")
        .append(Html.escape(text))
        .append("</td>");
    return this;
  }

  Table number(long number) {
    return number(number, Long.toString(number));
  }

  Table bytes(long bytes) {
    return number(bytes, Html.bytes(bytes));
  }

  String end() {
    return html.append("</tbody></table>").toString();
  }
}
