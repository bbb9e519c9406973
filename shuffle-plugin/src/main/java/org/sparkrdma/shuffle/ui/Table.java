// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.ui;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;
import java.util.function.ToLongFunction;

/**
 * A table with the style classes of Spark's own, which a click on a heading sorts. Each column has
 * its meaning as a tooltip of its heading. Confined to one thread.
 *
 * @param <R> what a row shows
 */
final class Table<R> {
  /** Rows of a table when nobody has asked for all. */
  static final int ROWS = 50;

  private static final String NUMBER = " class=\"rdma-number\"";

  private final String id;
  private final StringBuilder headings = new StringBuilder();
  private final List<Function<R, String>> cells = new ArrayList<>();

  /**
   * @param id of the element
   */
  Table(String id) {
    this.id = id;
  }

  /** A column of text. */
  Table<R> text(String heading, String meaning, Function<R, String> text) {
    return html(heading, meaning, row -> Html.escape(text.apply(row)));
  }

  /** A column of HTML. */
  Table<R> html(String heading, String meaning, Function<R, String> html) {
    return column(heading, meaning, "", row -> "<td>" + html.apply(row) + "</td>");
  }

  /** A column of HTML that is sorted by a number. */
  Table<R> number(String heading, String meaning, ToLongFunction<R> key, Function<R, String> html) {
    String begin = "<td" + NUMBER + " sorttable_customkey=\"";
    return column(
        heading,
        meaning,
        NUMBER,
        row -> begin + key.applyAsLong(row) + "\">" + html.apply(row) + "</td>");
  }

  /** A column of numbers. */
  Table<R> number(String heading, String meaning, ToLongFunction<R> number) {
    return number(heading, meaning, number, row -> Long.toString(number.applyAsLong(row)));
  }

  /** A column of numbers of bytes. */
  Table<R> bytes(String heading, String meaning, ToLongFunction<R> bytes) {
    return number(heading, meaning, bytes, row -> Html.bytes(bytes.applyAsLong(row)));
  }

  private Table<R> column(String heading, String meaning, String style, Function<R, String> cell) {
    headings
        .append("<th" + style + " title=\"" + Html.escape(meaning) + "\">")
        .append(Html.escape(heading) + "</th>");
    cells.add(cell);
    return this;
  }

  /**
   * The table.
   *
   * @param all whether it shows all rows; else the first ones, and how many there are
   */
  String html(List<R> rows, boolean all) {
    int shown = all ? rows.size() : Math.min(ROWS, rows.size());
    StringBuilder html = new StringBuilder(1_024);
    if (shown < rows.size()) {
      html.append("<p>" + shown + " of " + rows.size() + " are shown. ")
          .append("<a href=\"?all=true#" + id + "\">Show all</a></p>");
    }
    html.append("<table id=\"" + id + "\" class=\"table table-bordered table-sm table-striped")
        .append(" sortable\"><thead><tr>" + headings + "</tr></thead><tbody>");
    for (R row : rows.subList(0, shown)) {
      html.append("<tr>");
      cells.forEach(cell -> html.append(cell.apply(row)));
      html.append("</tr>");
    }
    return html.append("</tbody></table>").toString();
  }
}
