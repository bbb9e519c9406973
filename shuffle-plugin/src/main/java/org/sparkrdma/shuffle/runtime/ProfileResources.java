// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.runtime;

import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The resources of this executor's ResourceProfile, which only the driver has in Spark's public
 * API. Asked for until the driver has answered once. Used by the runtime's thread.
 */
final class ProfileResources implements Supplier<Map<String, Long>> {
  private static final Logger LOG = LoggerFactory.getLogger(ProfileResources.class);

  private final Supplier<CompletableFuture<Map<String, Long>>> request;
  private Map<String, Long> known;

  /**
   * @param request asks the driver, which answers in bounded time or not at all
   */
  ProfileResources(Supplier<CompletableFuture<Map<String, Long>>> request) {
    this.request = request;
  }

  /** Waits for the driver, in bounded time; empty also when it does not answer. */
  @Override
  public Map<String, Long> get() {
    if (known == null) {
      try {
        known = request.get().get();
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      } catch (Throwable e) {
        // An Error too, such as a refused thread: the settings of the application are usable.
        LOG.info(
            "The driver does not name the ResourceProfile of this executor; the limit of pinned"
                + " memory follows the settings of the application",
            e);
      }
    }
    return known == null ? Map.of() : known;
  }
}
