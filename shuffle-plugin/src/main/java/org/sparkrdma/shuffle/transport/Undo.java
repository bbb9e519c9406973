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
package org.sparkrdma.shuffle.transport;

import java.util.ArrayDeque;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Closes resources in reverse order when a later step of a start failed. Owned by one thread. */
final class Undo implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(Undo.class);

  private final ArrayDeque<AutoCloseable> made = new ArrayDeque<>();

  <T extends AutoCloseable> T push(T resource) {
    made.push(resource);
    return resource;
  }

  @Override
  public void close() {
    while (!made.isEmpty()) {
      try {
        made.pop().close();
      } catch (Exception e) {
        LOG.warn("Cannot close a resource after a failed start", e);
      }
    }
  }
}
