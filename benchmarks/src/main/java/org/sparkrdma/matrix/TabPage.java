// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.matrix;

import com.fasterxml.jackson.annotation.JsonIgnore;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The content of the tab "RDMA shuffle", from its HTML.
 *
 * @param engines engine of each executor
 * @param devices device of each executor
 * @param bytesByRead that the executors have received by READ
 */
public record TabPage(List<String> engines, List<String> devices, long bytesByRead) {
  private static final String TITLE = "RDMA shuffle";

  /** Executor, host and state, then engine, device and the rest. */
  private static final Pattern ROW =
      Pattern.compile(
          "<tr>(?:<td>[^<]*</td>){3}<td>([^<]*)</td><td>([^<]*)</td>(.*?)</tr>", Pattern.DOTALL);

  private static final Pattern NUMBER = Pattern.compile("sorttable_customkey=\"(\\d+)\"");

  /** Index of the bytes by READ, after pinned memory, connections and quarantines. */
  private static final int BYTES_BY_READ = 3;

  /** Whether a page of an application has a link to the tab. */
  static boolean isLinkedFrom(String html) {
    return html.contains(">" + TITLE + "</a>");
  }

  /** Empty when it is another page. */
  static Optional<TabPage> parse(String html) {
    int begin = html.indexOf("id=\"rdma-executors\"");
    if (begin < 0) {
      return Optional.empty();
    }
    String table = html.substring(begin, html.indexOf("</table>", begin));
    List<String> engines = new ArrayList<>();
    List<String> devices = new ArrayList<>();
    long bytes = 0;
    for (Matcher row = ROW.matcher(table); row.find(); ) {
      engines.add(row.group(1));
      devices.add(row.group(2));
      List<Long> numbers =
          NUMBER
              .matcher(row.group(3))
              .results()
              .map(number -> Long.valueOf(number.group(1)))
              .toList();
      bytes += numbers.size() > BYTES_BY_READ ? numbers.get(BYTES_BY_READ) : 0;
    }
    return Optional.of(new TabPage(engines, devices, bytes));
  }

  /** Whether every executor uses this engine, and so many bytes came by READ. */
  @JsonIgnore
  boolean shows(String engine, long bytes) {
    return !engines.isEmpty() && engines.stream().allMatch(engine::equals) && bytesByRead == bytes;
  }
}
