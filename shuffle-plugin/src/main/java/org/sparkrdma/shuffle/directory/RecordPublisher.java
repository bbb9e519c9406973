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
 * tried, and retried: by the directory's thread, and by {@link #retry} where there was no memory to
 * schedule that; of each record at most one try is queued or runs. The directory's thread calls the
 * driver; everything else is safe for any thread.
 */
final class RecordPublisher {
  static final long FIRST_RETRY_MS = 50;
  static final long LAST_RETRY_MS = 5_000;

  private static final Logger LOG = LoggerFactory.getLogger(RecordPublisher.class);

  private final DriverCall driver;
  private final ObjLongConsumer<Runnable> thread;
  private final long publisher = new SecureRandom().nextLong();
  private long lastEpoch;

  /** The last that was published, whether or not the driver has it; null before the first. */
  private Attempt latest;

  /** Tries to publish a record, again and again. */
  private final class Attempt {
    private final ExecutorRecord record;
    private final CompletableFuture<Boolean> taken = new CompletableFuture<>();
    private final QueuedWork tries = new QueuedWork(thread, this::tryOnce);

    /** Confined to the directory's thread. */
    private long retryMs = FIRST_RETRY_MS;

    Attempt(ExecutorRecord record) {
      this.record = record;
    }

    /** Returns the time until the next try. */
    private long tryOnce() {
      if (taken.isDone()) {
        return QueuedWork.NOT_AGAIN;
      }
      if (!isLatest(this)) {
        // While no thread could be started, several may have been queued.
        taken.complete(false);
        return QueuedWork.NOT_AGAIN;
      }
      try {
        Object answer =
            driver.ask(
                new ArrayList<>(List.of(DirectoryService.PUBLISH, RecordCodec.encode(record))));
        taken.complete(RecordCodec.as(Boolean.class, answer));
        return QueuedWork.NOT_AGAIN;
      } catch (Throwable e) {
        if (isLatest(this)) {
          return nextDelayMs(e);
        }
        taken.complete(false);
        return QueuedWork.NOT_AGAIN;
      }
    }

    private long nextDelayMs(Throwable failure) {
      long delayMs = retryMs;
      retryMs = Math.min(2 * retryMs, LAST_RETRY_MS);
      try {
        LOG.debug("Driver did not accept the RDMA endpoint; retrying in {} ms", delayMs, failure);
      } catch (Throwable e) {
        // The retry follows without the line.
      }
      return delayMs;
    }
  }

  /**
   * @param thread runs a task on the directory's thread after a number of milliseconds; may throw
   *     any Error
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

  private CompletableFuture<Boolean> publish(ExecutorRecord record) {
    Attempt attempt = new Attempt(record);
    setLatest(attempt);
    attempt.tries.queue(0);
    return attempt.taken;
  }

  private synchronized void setLatest(Attempt attempt) {
    latest = attempt;
  }

  private synchronized boolean isLatest(Attempt attempt) {
    return latest == attempt;
  }

  private synchronized Attempt latest() {
    return latest;
  }

  /** Same as {@link DirectoryClient#retry}. */
  boolean retry() {
    Attempt attempt = latest();
    if (attempt == null || attempt.taken.isDone()) {
      return true;
    }
    attempt.tries.queue(0);
    return false;
  }
}
