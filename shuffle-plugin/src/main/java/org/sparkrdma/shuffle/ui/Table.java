// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.ui;

/**
 * Writes a table with the style classes of Spark's own tables, which a click on a head sorts.
 * Confined to one thread.
 */
final class Table {
  private final StringBuilder html = new StringBuilder(1_024);

  /**
   * @param id of the element
   * @param heads names of columns
   */
  Table(String id, String... heads) {
    html.append("<table id=\"")
        .append(id)
        .append("\" class=\"table table-bordered table-sm table-striped sortable\"><thead><tr>");
    for (String head : heads) {
      html.append("<th>").append(Html.escape(head)).append("</th>");
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
