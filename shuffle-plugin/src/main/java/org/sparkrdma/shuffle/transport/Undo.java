package org.sparkrdma.shuffle.transport;

import java.util.ArrayDeque;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Closes what was made, last first, when making the rest has failed. Owned by one thread. */
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
        LOG.warn("cannot close after a failure", e);
      }
    }
  }
}
