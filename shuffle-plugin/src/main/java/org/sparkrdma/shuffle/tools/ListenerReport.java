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
 * @param seconds for which it answers
 * @param client the command for another host, with its arguments
 */
record ListenerReport(int port, List<String> addresses, int seconds, String client) {
  /** Advice that follows a reason against RDMA on this host. */
  static final String RUN_DOCTOR = "; run here: java -jar shuffle-plugin.jar doctor";

  private static final int SCHEMA = 1;

  String in(boolean json) {
    return json
        ? json()
        : "Listening at TCP port "
            + port
            + ", by RDMA at "
            + addresses
            + ", for "
            + seconds
            + " s. On another host: java -jar shuffle-plugin.jar "
            + client;
  }

  private String json() {
    Map<String, Object> all = new LinkedHashMap<>();
    all.put("schema", SCHEMA);
    all.put("usable", true);
    all.put("port", port);
    all.put("addresses", addresses);
    all.put("seconds", seconds);
    return Json.line(all);
  }

  /** The line where RDMA cannot be used, so that there is no answer. */
  static String unusable(boolean json, String reason) {
    String summary = "RDMA will not be used: " + reason + RUN_DOCTOR;
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
