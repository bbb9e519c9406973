// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.tools;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * The line of a command that answers other hosts from now on, as text and as JSON.
 *
 * @param port its TCP port
 * @param addresses by RDMA
 */
record ListenerReport(int port, List<String> addresses) {
  private static final int SCHEMA = 1;

  String in(boolean json) {
    return json ? json() : "Listening at TCP port " + port + ", by RDMA at " + addresses;
  }

  private String json() {
    Map<String, Object> all = new LinkedHashMap<>();
    all.put("schema", SCHEMA);
    all.put("usable", true);
    all.put("port", port);
    all.put("addresses", addresses);
    return Json.line(all);
  }

  /** The line where RDMA cannot be used, so that there is no answer. */
  static String unusable(boolean json, String reason) {
    String summary = "RDMA will not be used: " + reason;
    if (!json) {
      return summary;
    }
    Map<String, Object> all = new LinkedHashMap<>();
    all.put("schema", SCHEMA);
    all.put("usable", false);
    all.put("summary", summary);
    return Json.line(all);
  }
}
