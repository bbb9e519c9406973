// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.standin;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import java.util.function.Predicate;
import java.util.function.Supplier;
import org.apache.spark.network.shuffle.BlockStoreClient;
import org.apache.spark.storage.BlockManagerId;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.sparkrdma.shuffle.metrics.LogLimit;
import org.sparkrdma.shuffle.pinned.Mounts;
import org.sparkrdma.shuffle.wire.Locate;

/**
 * The directories of executors of this application that have ended, as the shuffle service of this
 * host names them. Answers are kept. After a failure it is not asked for a while. Safe for any
 * thread; never waits.
 *
 * <p>Spark's client may wait for two minutes until it is connected, and then without limit, so it
 * is called on a thread for such work; one executor a call, because one that the service does not
 * know fails the whole call.
 */
final class ServiceDirectories {
  /**
   * Pause of all questions after one that has failed: a service that is down is down for all, and
   * it logs each question for an executor that it does not know. Doubles until one is answered.
   */
  static final long FIRST_PAUSE_NS = Duration.ofSeconds(10).toNanos();

  private static final long MAX_PAUSE_NS = Duration.ofMinutes(5).toNanos();

  private static final Logger LOG = LoggerFactory.getLogger(ServiceDirectories.class);

  /** Executors whose directories are kept; of more, the earliest are asked for again. */
  static final int MAX_OWNERS = 5_000;

  /** Questions without an answer: peers may name any executor. */
  static final int MAX_OPEN = 1_000;

  private static final String PAUSED =
      "the shuffle service has failed and is not asked for a while";

  private final BlockStoreClient spark;
  private final Supplier<BlockManagerId> service;
  private final Predicate<Runnable> threads;
  private final Supplier<Mounts> mounts;
  private final List<Path> own;
  private final LongSupplier nanoClock;
  private final Duration timeout;
  private final LogLimit logLimit;

  /** By owner; guarded by this object. */
  private final Map<Integer, CompletableFuture<OwnerDirectories>> asked =
      new LinkedHashMap<>() {
        @Override
        protected boolean removeEldestEntry(
            Map.Entry<Integer, CompletableFuture<OwnerDirectories>> eldest) {
          return size() > MAX_OWNERS;
        }
      };

  /** Guarded by this object, as the next two. */
  private int open;

  private long failedNs;
  private long pauseNs;

  /**
   * @param spark Spark's own client
   * @param service where it is, on this host
   * @param threads runs work that may wait, one after the other; false when it takes no more
   * @param mounts the present ones of this process; read by these threads
   * @param own Spark's local directories of this executor
   * @param timeout of an answer
   */
  ServiceDirectories(
      BlockStoreClient spark,
      Supplier<BlockManagerId> service,
      Predicate<Runnable> threads,
      Supplier<Mounts> mounts,
      List<Path> own,
      LongSupplier nanoClock,
      Duration timeout) {
    this.spark = spark;
    this.service = service;
    this.threads = threads;
    this.mounts = mounts;
    this.own = List.copyOf(own);
    this.nanoClock = nanoClock;
    this.timeout = timeout;
    this.logLimit = new LogLimit(nanoClock);
  }

  /**
   * Finds the directories of an owner, as a {@link Locate} names it.
   *
   * @return fails when the service does not know it, or does not answer in time
   */
  synchronized CompletableFuture<OwnerDirectories> find(int owner) {
    CompletableFuture<OwnerDirectories> known = asked.get(owner);
    if (known != null && !known.isCompletedExceptionally()) {
      return known;
    }
    if (isPaused()) {
      return CompletableFuture.failedFuture(new IOException(PAUSED));
    }
    CompletableFuture<OwnerDirectories> answer =
        new CompletableFuture<OwnerDirectories>()
            .orTimeout(timeout.toMillis(), TimeUnit.MILLISECONDS);
    asked.put(owner, answer);
    open++;
    var unused = answer.whenComplete((found, failure) -> onEnd(failure == null));
    if (open > MAX_OPEN || !threads.test(() -> ask(owner, answer))) {
      answer.completeExceptionally(new IOException("too many questions, or the executor stops"));
    }
    return answer;
  }

  private synchronized boolean isPaused() {
    return pauseNs > 0 && nanoClock.getAsLong() - failedNs < pauseNs;
  }

  /** Questions that fail in a pause were asked before it. */
  private synchronized void onEnd(boolean answered) {
    open--;
    if (answered) {
      pauseNs = 0;
    } else if (!isPaused()) {
      pauseNs = Math.min(Math.max(2 * pauseNs, FIRST_PAUSE_NS), MAX_PAUSE_NS);
      failedNs = nanoClock.getAsLong();
    }
  }

  private void ask(int owner, CompletableFuture<OwnerDirectories> answer) {
    if (isPaused()) {
      answer.completeExceptionally(new IOException(PAUSED));
    }
    if (answer.isDone()) {
      // Those before have taken all of its time.
      return;
    }
    String executorId = Locate.executorId(owner);
    try {
      BlockManagerId at = service.get();
      CompletableFuture<Map<String, String[]>> named = new CompletableFuture<>();
      spark.getHostLocalDirs(at.host(), at.port(), new String[] {executorId}, named);
      String[] names =
          named.orTimeout(timeout.toMillis(), TimeUnit.MILLISECONDS).join().get(executorId);
      OwnerDirectories found = new OwnerDirectories(List.of(names), disks(names));
      if (names.length == 0) {
        throw new IOException("it has no directories");
      }
      if (!answer.complete(found)) {
        keepLate(owner, found);
      }
    } catch (Exception | LinkageError e) {
      // Spark throws checked exceptions, too, and an answer without the executor has no names.
      logLimit
          .next(service)
          .ifPresent(
              omitted ->
                  LOG.info(
                      "The shuffle service does not name the directories of executor {}, which has"
                          + " ended, so its blocks are not served by READ here, and the service is"
                          + " not asked for a while: {}{}",
                      executorId,
                      String.valueOf(e.getCause() == null ? e : e.getCause()),
                      omitted));
      answer.completeExceptionally(e);
    }
  }

  private synchronized void keepLate(int owner, OwnerDirectories found) {
    asked.put(owner, CompletableFuture.completedFuture(found));
    pauseNs = 0;
  }

  /** For each directory an own one on its mount: several there have each a part. */
  private List<Integer> disks(String... names) {
    Mounts now = mounts.get();
    List<Mounts.Mount> ofOwn = own.stream().map(now::holding).toList();
    List<Integer> disks = new ArrayList<>();
    for (String name : names) {
      Mounts.Mount mount = now.holding(Path.of(name));
      List<Integer> same = new ArrayList<>();
      for (int i = 0; i < ofOwn.size(); i++) {
        if (ofOwn.get(i).equals(mount)) {
          same.add(i);
        }
      }
      disks.add(same.isEmpty() ? -1 : same.get(disks.size() % same.size()));
    }
    return disks;
  }
}
