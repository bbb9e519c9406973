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
 * The entry of one executor in the directory: its endpoint, or the reasons for its absence. It
 * keeps the last entry, so that one that could not be handed over is repeated. Safe for any thread.
 */
final class PublishedEndpoint {
  private static final Logger LOG = LoggerFactory.getLogger(PublishedEndpoint.class);

  /** Maximum wait of the first map tasks until this executor is in the directory. */
  private static final Duration PUBLISH_LIMIT = Duration.ofSeconds(5);

  private final DirectoryClient directory;
  private final String executorId;
  private final CountDownLatch published = new CountDownLatch(1);
  private final long createdNs = System.nanoTime();

  /** The last entry: an endpoint, or null and the reasons. */
  private Endpoint endpoint;

  private List<String> reasons = List.of();

  /** Whether the directory's client has the last entry. */
  private boolean handedOver = true;

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
  synchronized void publish(Endpoint own) {
    endpoint = own;
    handOver();
  }

  /** Withdraws the endpoint. If that fails, peers try to connect, fail, and use TCP. */
  synchronized void withdraw(List<String> why) {
    endpoint = null;
    reasons = why;
    handOver();
  }

  /**
   * Hands the last entry over again where that has failed. Called each second until the driver has
   * it. Never throws.
   *
   * @return whether the driver has it
   */
  synchronized boolean retry() {
    try {
      if (handedOver) {
        return directory.retry();
      }
      tryToHandOver();
    } catch (Throwable e) {
      // No memory, or no thread: the next call repeats it.
    }
    return false;
  }

  private void handOver() {
    handedOver = false;
    try {
      tryToHandOver();
    } catch (Throwable e) {
      logFailure(e);
    }
  }

  private void tryToHandOver() {
    if (endpoint != null) {
      var unused = directory.publish(endpoint).thenRun(published::countDown);
    } else {
      var unused = directory.withdraw(executorId, reasons);
    }
    handedOver = true;
  }

  private void logFailure(Throwable failure) {
    try {
      if (endpoint != null) {
        LOG.warn("Cannot publish the endpoint of this executor yet; its peers use TCP", failure);
      } else {
        LOG.warn(
            "Cannot withdraw the endpoint of this executor yet; connections to it fail", failure);
      }
    } catch (Throwable e) {
      // The parts must close all the same.
    }
  }

  /** Ends all waits, because the executor has no RDMA. */
  void end() {
    published.countDown();
  }
}
