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
package org.sparkrdma.shuffle.directory;

import java.util.ArrayList;
import java.util.List;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Answers the directory's messages on the driver.
 *
 * <pre>
 *   [PUBLISH, endpoint]       → Boolean: taken
 *   [CHANGES, since version]  → [version, endpoints, ids of executors that are gone]
 * </pre>
 *
 * <p>Lists and the JDK's types only, see {@link EndpointCodec}. Safe for any thread.
 */
final class DirectoryService {
  static final String PUBLISH = "publish";
  static final String CHANGES = "changes";

  private static final Logger log = LoggerFactory.getLogger(DirectoryService.class);
  private static final int MAX_REMEMBERED = 10_000;

  private final EndpointTable table = new EndpointTable(MAX_REMEMBERED);

  /**
   * @throws IllegalArgumentException when the message is none of the above
   */
  synchronized Object answer(Object message) {
    List<?> request = EndpointCodec.list(message, 2);
    String kind = EndpointCodec.name(request.get(0));
    return switch (kind) {
      case PUBLISH -> publish(EndpointCodec.decode(request.get(1)));
      case CHANGES -> changes(EndpointCodec.as(Long.class, request.get(1)));
      default -> throw new IllegalArgumentException("no such message: kind=" + kind);
    };
  }

  /** The executor is gone. */
  synchronized void remove(String executorId) {
    table.remove(executorId);
  }

  private Boolean publish(Endpoint endpoint) {
    boolean taken = table.publish(endpoint);
    if (!taken) {
      log.warn("a second RDMA endpoint of one executor is not believed: {}", endpoint);
    }
    return taken;
  }

  private List<Object> changes(long since) {
    ArrayList<Object> endpoints = new ArrayList<>();
    ArrayList<Object> gone = new ArrayList<>();
    for (EndpointTable.Entry entry : table.changesAfter(since).values()) {
      entry
          .endpoint()
          .ifPresentOrElse(
              endpoint -> endpoints.add(EndpointCodec.encode(endpoint)),
              () -> gone.add(entry.executorId()));
    }
    return new ArrayList<>(List.of(table.version(), endpoints, gone));
  }
}
