// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.transport;

import java.time.Duration;
import java.util.concurrent.Executor;
import java.util.concurrent.ThreadFactory;
import java.util.function.Function;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.sparkrdma.shuffle.fetch.DirectoryQueues;
import org.sparkrdma.shuffle.thread.TaskThreads;

/**
 * The threads that verify and deliver blocks, and those that write them to disk. All of the first
 * kind and one of the second live from the start to the close, so that the agent can hand over its
 * work also when the system refuses further threads. The transport starts and closes them.
 * Thread-safe.
 */
final class DeliveryThreads implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(DeliveryThreads.class);

  private static final Duration MAX_IDLE = Duration.ofSeconds(10);

  private final TaskThreads delivery;
  private final TaskThreads diskWrite;

  /**
   * @param count number of those that deliver
   */
  DeliveryThreads(int count) {
    this(count, TaskThreads::named);
  }

  /**
   * @param factories creates threads with a name
   */
  DeliveryThreads(int count, Function<String, ThreadFactory> factories) {
    delivery = new TaskThreads(factories.apply("rdma-delivery"), count, count, MAX_IDLE);
    diskWrite =
        new TaskThreads(
            factories.apply("rdma-disk-write"), 1, DirectoryQueues.MAX_THREADS, MAX_IDLE);
  }

  /**
   * Starts those that live until the close.
   *
   * @throws org.sparkrdma.shuffle.thread.ThreadShortageException when the system refuses one; the
   *     caller closes this
   */
  void start() {
    delivery.start();
    diskWrite.start();
  }

  Executor delivery() {
    return delivery;
  }

  Executor diskWrite() {
    return diskWrite;
  }

  /** Takes no more work; the threads end when theirs is done. */
  @Override
  public void close() {
    delivery.close();
    diskWrite.close();
  }

  /** Whether all threads have ended. */
  boolean haveEnded() {
    return delivery.hasEnded() && diskWrite.hasEnded();
  }

  /**
   * Waits for the end of all threads.
   *
   * @return false when interrupted
   */
  boolean await(Duration limit) {
    try {
      if (!delivery.await(limit) || !diskWrite.await(limit)) {
        LOG.warn(
            "Delivery threads did not end within {} s after the transport stopped",
            limit.toSeconds());
      }
      return true;
    } catch (InterruptedException e) {
      return false;
    }
  }
}
