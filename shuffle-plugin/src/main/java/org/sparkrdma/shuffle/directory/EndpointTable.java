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

import java.util.ArrayDeque;
import java.util.HashMap;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Optional;
import java.util.TreeMap;

/**
 * What the driver knows: each executor's endpoint, or that it is gone, under the version at which
 * that was learnt. Not safe for several threads; owned by the {@link DirectoryService}.
 */
final class EndpointTable {
  private final int maxRemembered;
  private final NavigableMap<Long, Entry> byVersion = new TreeMap<>();
  private final Map<String, Long> versions = new HashMap<>();
  private final ArrayDeque<String> gone = new ArrayDeque<>();
  private long version;

  /** Of one executor; the endpoint is empty when it is gone. */
  record Entry(String executorId, Optional<Endpoint> endpoint) {}

  /**
   * @param maxRemembered most executors that are remembered as gone
   */
  EndpointTable(int maxRemembered) {
    this.maxRemembered = maxRemembered;
  }

  /** Version of the latest change; 0 before the first. */
  long version() {
    return version;
  }

  /** What changed after a version, oldest first; a view. */
  NavigableMap<Long, Entry> changesAfter(long since) {
    return byVersion.tailMap(since, false);
  }

  /**
   * Takes an endpoint in. An executor's id is never used again, so a second start under the same id
   * is not believed.
   *
   * @return false when it is refused; true also when it is known already
   */
  boolean publish(Endpoint endpoint) {
    Long known = versions.get(endpoint.executorId());
    if (known != null) {
      return byVersion
          .get(known)
          .endpoint()
          .filter(earlier -> earlier.incarnation() == endpoint.incarnation())
          .isPresent();
    }
    put(endpoint.executorId(), Optional.of(endpoint));
    return true;
  }

  /** The executor is gone, whether it had published or not. */
  void remove(String executorId) {
    Long known = versions.get(executorId);
    if (known != null && byVersion.get(known).endpoint().isEmpty()) {
      return;
    }
    if (known != null) {
      byVersion.remove(known);
    }
    put(executorId, Optional.empty());
    gone.add(executorId);
    if (gone.size() > maxRemembered) {
      byVersion.remove(versions.remove(gone.remove()));
    }
  }

  private void put(String executorId, Optional<Endpoint> endpoint) {
    version++;
    versions.put(executorId, version);
    byVersion.put(version, new Entry(executorId, endpoint));
  }
}
