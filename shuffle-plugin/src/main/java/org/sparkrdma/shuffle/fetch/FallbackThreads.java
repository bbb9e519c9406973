// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.fetch;

import java.util.ArrayDeque;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.sparkrdma.shuffle.metrics.FallbackReason;
import org.sparkrdma.shuffle.thread.ThreadShortageException;

/**
 * Fetches the blocks that RDMA could not, after all, through Spark's own client, on a bounded
 * number of threads. Blocks for which it is known at once are fetched by the {@code
 * RdmaBlockClient}.
 *
 * <p>Spark's client connects on its caller's thread, for minutes where a host does not answer, and
 * may ask the driver whether the executor is alive. So each address uses one thread at a time, and
 * no other thread waits here. One that takes long leaves its slot to another address, whose thread
 * is started for it and ends when there is no work. Requests to an address are issued in order.
 * Blocks that fail while their request is queued join it. The runtime starts and closes it. Safe
 * for any thread.
 */
public final class FallbackThreads implements FetchRequest.Fallback, AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(FallbackThreads.class);

  /** Maximum number of addresses in work, but for those that take long. */
  static final int THREADS = 16;

  /** Maximum number of threads: the executors of a rack may all not answer. */
  static final int MAX_THREADS = 256;

  /**
   * An address that is in work for longer keeps no slot from others. So one behind as many dead
   * ones as there are threads waits for less than two seconds.
   */
  static final long SLOW_NS = TimeUnit.MILLISECONDS.toNanos(100);

  private final Consumer<FetchRequest> recheck;
  private final LongSupplier nanoClock;
  private final Consumer<Thread> starter;

  /** Queued work by address, while there is some; guarded by this object, as all below. */
  private final Map<String, ArrayDeque<Runnable>> waiting = new HashMap<>();

  /** Addresses with queued requests that no thread works for, in order. */
  private final ArrayDeque<String> ready = new ArrayDeque<>();

  /** Addresses that a thread works for, with the time at which it began. */
  private final Map<String, Long> inWork = new HashMap<>();

  private int threads;

  /** Number of threads so far, for their names. */
  private int started;

  /** Threads that wait for work. */
  private int idle;

  /** Whether the system has refused the last thread, and when. */
  private boolean refused;

  private long refusedNs;

  private boolean closed;

  /**
   * @param recheck receives a request whose endpoint may be outdated
   */
  public FallbackThreads(Consumer<FetchRequest> recheck) {
    this(recheck, System::nanoTime, ThreadShortageException::start);
  }

  FallbackThreads(
      Consumer<FetchRequest> recheck, LongSupplier nanoClock, Consumer<Thread> starter) {
    this.recheck = recheck;
    this.nanoClock = nanoClock;
    this.starter = starter;
  }

  /**
   * Starts as many threads as there are slots.
   *
   * @throws ThreadShortageException when the system refuses one; those that were started end with
   *     the close
   */
  public synchronized void start() {
    while (threads < THREADS) {
      startOne();
    }
  }

  private void startOne() {
    Thread thread = new Thread(this::work, "rdma-tcp-" + (started + 1));
    thread.setDaemon(true);
    starter.accept(thread);
    threads++;
    started++;
  }

  /** One more waits for a slot of an address that takes long. */
  private void tryStartAnother() {
    refused = true;
    refusedNs = nanoClock.getAsLong();
    try {
      startOne();
      refused = false;
    } catch (ThreadShortageException e) {
      LOG.debug("Fetching over TCP on {} threads", threads, e);
    }
  }

  @Override
  public void fetch(FetchRequest request, int[] blocks, FallbackReason reason, String detail) {
    try {
      request.report(blocks.length, reason, detail);
      if (reason.suggestsAChange()) {
        recheck.accept(request);
      }
    } finally {
      // Nobody else asks for them, also where a log has no room on its disk.
      fetchFailed(request, blocks, !reason.isWithoutRdma());
    }
  }

  private void fetchFailed(FetchRequest request, int[] blocks, boolean fallback) {
    if (request.addFailed(blocks)) {
      Runnable work = () -> request.fetchFailedByTcp(fallback);
      if (!tryRun(request.peer().hostPort(), work)) {
        // The executor stops. Each block needs an answer all the same.
        work.run();
      }
    }
  }

  /**
   * Runs work that may wait, after what is queued for the same address.
   *
   * @return false after the close
   */
  public synchronized boolean tryRun(String address, Runnable work) {
    if (closed) {
      return false;
    }
    ArrayDeque<Runnable> queue = waiting.get(address);
    if (queue == null) {
      queue = new ArrayDeque<>();
      waiting.put(address, queue);
      if (!inWork.containsKey(address)) {
        ready.add(address);
        notify();
      }
    }
    queue.add(work);
    if (refused && !ready.isEmpty() && nanoClock.getAsLong() - refusedNs >= SLOW_NS) {
      tryStartAnother();
    }
    return true;
  }

  private void work() {
    String address = null;
    while (true) {
      Runnable next;
      synchronized (this) {
        address = nextAddress(address);
        if (address == null) {
          return;
        }
        ArrayDeque<Runnable> queue = waiting.get(address);
        next = queue.poll();
        if (queue.isEmpty()) {
          waiting.remove(address);
        }
      }
      try {
        next.run();
      } catch (Exception | LinkageError e) {
        LOG.error("Spark's fetcher threw an exception when it received a result", e);
      }
      // One that Spark's client has kept would fail what this thread delivers next.
      Thread.interrupted();
    }
  }

  /**
   * Waits for an address with a queued request, which then belongs to the caller.
   *
   * @param done that the caller has worked for; null for none
   * @return null when the thread ends: after the close, or when enough others wait
   */
  private String nextAddress(String done) {
    if (done != null) {
      inWork.remove(done);
      if (waiting.containsKey(done)) {
        ready.add(done);
      }
    }
    long slotNs = slotNs();
    while (ready.isEmpty() || slotNs > 0) {
      if (ready.isEmpty() && (closed || idle >= THREADS)) {
        threads--;
        return null;
      }
      idle++;
      try {
        // Until another thread notifies it, or an address is slow.
        wait(ready.isEmpty() ? 0 : TimeUnit.NANOSECONDS.toMillis(slotNs) + 1);
      } catch (InterruptedException e) {
        // Only the close ends a thread.
      }
      idle--;
      slotNs = slotNs();
    }
    String address = ready.poll();
    inWork.put(address, nanoClock.getAsLong());
    if (idle > 0) {
      notify();
    } else if (threads < MAX_THREADS && threads >= THREADS) {
      tryStartAnother();
    }
    return address;
  }

  /** Time until an address can be worked for; not more than 0 when one can now. */
  private long slotNs() {
    long nowNs = nanoClock.getAsLong();
    int quick = 0;
    long oldestNs = 0;
    for (long beganNs : inWork.values()) {
      long ageNs = nowNs - beganNs;
      if (ageNs < SLOW_NS) {
        quick++;
        oldestNs = Math.max(oldestNs, ageNs);
      }
    }
    return quick < THREADS ? 0 : SLOW_NS - oldestNs;
  }

  /** The threads end after all queued requests; later ones are issued on their caller's thread. */
  @Override
  public synchronized void close() {
    closed = true;
    notifyAll();
  }
}
