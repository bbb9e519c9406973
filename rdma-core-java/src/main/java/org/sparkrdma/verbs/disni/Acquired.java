// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.disni;

import java.io.IOException;
import java.util.ArrayDeque;
import java.util.Deque;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The native objects that an unfinished creation has acquired. Closing it, on the creating thread,
 * releases them in reverse order, unless {@link #keep} was called before: then they belong to the
 * object that was created. A failed release is logged, so that the creation's own failure reaches
 * the caller.
 */
final class Acquired implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(Acquired.class);

  private final Deque<Release> releases = new ArrayDeque<>();

  /** Releases one object. */
  @FunctionalInterface
  interface Release {
    void run() throws IOException;
  }

  void add(Release release) {
    releases.push(release);
  }

  /** The created object releases everything from now on. */
  void keep() {
    releases.clear();
  }

  @Override
  public void close() {
    while (!releases.isEmpty()) {
      Release release = releases.pop();
      try {
        release.run();
      } catch (IOException | RuntimeException e) {
        LOG.error("Native object of a failed creation was not released", e);
      }
    }
  }
}
