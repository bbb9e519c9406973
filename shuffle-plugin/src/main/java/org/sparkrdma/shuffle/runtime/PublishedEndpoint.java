// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.runtime;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.sparkrdma.shuffle.directory.DirectoryClient;
import org.sparkrdma.shuffle.directory.Endpoint;

/**
 * The entry of one executor in the directory: its endpoint, or the reasons for its absence. Safe
 * for any thread.
 */
final class PublishedEndpoint {
  private static final Logger LOG = LoggerFactory.getLogger(PublishedEndpoint.class);

  /** Maximum wait of the first map tasks until this executor is in the directory. */
  private static final Duration PUBLISH_LIMIT = Duration.ofSeconds(5);

  private final DirectoryClient directory;
  private final String executorId;
  private final CountDownLatch published = new CountDownLatch(1);
  private final long createdNs = System.nanoTime();

  PublishedEndpoint(DirectoryClient directory, String executorId) {
    this.directory = directory;
    this.executorId = executorId;
  }

  /** Returns once peers can find this executor or {@link #end}, in the first seconds only. */
  void await() {
    try {
      long leftNs = PUBLISH_LIMIT.toNanos() - (System.nanoTime() - createdNs);
      if (!published.await(leftNs, TimeUnit.NANOSECONDS)) {
        LOG.debug("Endpoint not published in time; peers may not find this executor yet");
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /** Publishes the endpoint. If that fails (no new thread, for example), peers use TCP. */
  void publish(Endpoint endpoint) {
    try {
      var unused = directory.publish(endpoint).thenRun(published::countDown);
    } catch (Throwable e) {
      LOG.warn("Cannot publish the endpoint of this executor yet; its peers use TCP", e);
    }
  }

  /** Withdraws the endpoint. If that fails, peers try to connect, fail, and use TCP. */
  void withdraw(List<String> reasons) {
    try {
      var unused = directory.withdraw(executorId, reasons);
    } catch (Throwable e) {
      logNotWithdrawn(e);
    }
  }

  private static void logNotWithdrawn(Throwable failure) {
    try {
      LOG.warn(
          "Cannot withdraw the endpoint of this executor yet; connections to it fail", failure);
    } catch (Throwable e) {
      // The parts must close all the same.
    }
  }

  /** Ends all waits, because the executor has no RDMA. */
  void end() {
    published.countDown();
  }
}
