// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.directory;

import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.ObjLongConsumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The records that this executor publishes, each later than the one before. Only the latest is
 * retried. The directory's thread calls the driver; everything else is safe for any thread.
 */
final class RecordPublisher {
  static final long FIRST_RETRY_MS = 50;
  static final long LAST_RETRY_MS = 5_000;

  private static final Logger LOG = LoggerFactory.getLogger(RecordPublisher.class);

  private final DriverCall driver;
  private final ObjLongConsumer<Runnable> thread;
  private final long publisher = new SecureRandom().nextLong();
  private long lastEpoch;

  /**
   * @param thread runs a task on the directory's thread after a number of milliseconds
   */
  RecordPublisher(DriverCall driver, ObjLongConsumer<Runnable> thread) {
    this.driver = driver;
    this.thread = thread;
  }

  /** Same as {@link DirectoryClient#publish}. */
  CompletableFuture<Boolean> publish(Endpoint endpoint) {
    return publish(ExecutorRecord.available(endpoint, publisher, nextEpoch()));
  }

  /** Same as {@link DirectoryClient#withdraw}. */
  CompletableFuture<Boolean> withdraw(String executorId, List<String> reasons) {
    return publish(ExecutorRecord.unavailable(executorId, reasons, publisher, nextEpoch()));
  }

  private synchronized long nextEpoch() {
    return ++lastEpoch;
  }

  private synchronized boolean isLatest(ExecutorRecord record) {
    return record.epoch() == lastEpoch;
  }

  private CompletableFuture<Boolean> publish(ExecutorRecord record) {
    CompletableFuture<Boolean> taken = new CompletableFuture<>();
    thread.accept(() -> tryToPublish(record, taken, FIRST_RETRY_MS), 0);
    return taken;
  }

  private void tryToPublish(ExecutorRecord record, CompletableFuture<Boolean> taken, long retryMs) {
    try {
      Object answer =
          driver.ask(
              new ArrayList<>(List.of(DirectoryService.PUBLISH, RecordCodec.encode(record))));
      taken.complete(RecordCodec.as(Boolean.class, answer));
    } catch (Throwable e) {
      if (isLatest(record)) {
        LOG.debug("Driver did not accept the RDMA endpoint; retrying in {} ms", retryMs, e);
        thread.accept(
            () -> tryToPublish(record, taken, Math.min(2 * retryMs, LAST_RETRY_MS)), retryMs);
      } else {
        taken.complete(false);
      }
    }
  }
}
