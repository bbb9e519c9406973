// SPDX-License-Identifier: Apache-2.0
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
