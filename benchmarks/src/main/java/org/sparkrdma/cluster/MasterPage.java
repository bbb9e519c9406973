/*
 * Licensed under the Apache License, Version 2.0 (the "License");
 * you may not use this file except in compliance with the License.
 * You may obtain a copy of the License at
 *
 *     http://www.apache.org/licenses/LICENSE-2.0
 *
 * Unless required by applicable law or agreed to in writing, software
 * distributed under the License is distributed on an "AS IS" BASIS,
 * WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
 * See the License for the specific language governing permissions and
 * limitations under the License.
 */
package org.sparkrdma.cluster;

import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.net.HttpURLConnection;
import java.net.URL;

/** The Master's state, as its web page tells it in JSON. */
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
