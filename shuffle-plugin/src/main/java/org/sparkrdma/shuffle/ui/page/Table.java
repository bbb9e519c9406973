// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.ui.page;

import java.util.List;
import java.util.regex.Pattern;

/**
 * Writes a table with the style classes of Spark's own tables; a click on a head sorts it. Confined
 * to one thread.
 */
final class Table {
  private static final Pattern IPV4 = Pattern.compile("[0-9]{1,3}(\\.[0-9]{1,3}){3}:[0-9]{1,5}");
  private static final Pattern IPV6 = Pattern.compile("\\[[0-9a-f:.]{2,45}\\]:[0-9]{1,5}");

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

  /** Addresses with ports, separated by commas, one on each line. */
  Table addresses(String text) {
    html.append("<td>");
    String before = "";
    for (String address : text.split(", ", -1)) {
      html.append(before).append(address(address));
      before = "<br/>";
    }
    html.append("</td>");
    return this;
  }

  /**
   * An address of IPv4 does not break, one of IPv6 only after a colon within its brackets. Other
   * text breaks anywhere, so that it does not widen the table.
   */
  private static String address(String address) {
    String escaped = Html.escape(address);
    if (address.isEmpty()) {
      return "";
    }
    if (IPV4.matcher(address).matches()) {
      return "<span style=\"white-space:nowrap\">" + escaped + "</span>";
    }
    if (IPV6.matcher(address).matches()) {
      int end = escaped.indexOf(']');
      return escaped.substring(0, end).replace(":", ":<wbr/>") + escaped.substring(end);
    }
    return "<span style=\"overflow-wrap:anywhere\">" + escaped + "</span>";
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
