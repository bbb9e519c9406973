// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.cluster;

import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.net.HttpURLConnection;
import java.net.URL;

/** The Master's state, from its web page in JSON. */
final class MasterPage {
  static final int NO_ANSWER = -1;
  private static final int TIMEOUT_MS = 5_000;

  private final URL address;
  private final ObjectMapper json = new ObjectMapper();

  MasterPage(URL address) {
    this.address = address;
  }

  /** Number of Workers that the Master counts as alive, or {@link #NO_ANSWER}. */
  int aliveWorkers() {
    try {
      var connection = (HttpURLConnection) address.openConnection();
      connection.setConnectTimeout(TIMEOUT_MS);
      connection.setReadTimeout(TIMEOUT_MS);
      try (var body = connection.getInputStream()) {
        return json.readTree(body).path("aliveworkers").asInt(NO_ANSWER);
      }
    } catch (IOException e) {
      return NO_ANSWER;
    }
  }
}
