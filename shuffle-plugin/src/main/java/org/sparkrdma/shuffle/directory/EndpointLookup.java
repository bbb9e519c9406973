// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.directory;

import java.util.Optional;
import java.util.concurrent.CompletableFuture;

/** Finds executors' endpoints. Safe for any thread; never blocks. */
@FunctionalInterface
public interface EndpointLookup {
  /**
   * Finds the endpoint of an executor; empty when it has none or the directory does not answer in
   * time.
   *
   * @return already complete when the answer is known; else completed on the directory's thread,
   *     which must not be blocked, and never exceptionally
   */
  CompletableFuture<Optional<Endpoint>> find(String executorId);

  /**
   * Called when an endpoint does not answer: queries the directory for changes, at most every few
   * seconds.
   */
  default void recheck() {}
}
