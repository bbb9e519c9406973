/*
 * Licensed under the Apache License, Version 2.0 (the "License");
 * you may not use this file except in compliance with the License.
 * You may obtain a copy of the License at
 *
 *     http://www.apache.org/licenses/LICENSE-2.0
 *
 * Unless required by applicable law or agreed to in writing, software
 * distributed under the License is distributed on an "AS IS" BASIS,
 * WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
 * See the License for the specific language governing permissions and
 * limitations under the License.
 */
package org.sparkrdma.shuffle.serve;

import java.security.SecureRandom;
import java.time.Duration;
import java.util.OptionalLong;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.locks.LockSupport;
import java.util.function.LongSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.sparkrdma.memory.PinnedBudget;
import org.sparkrdma.shuffle.metrics.Counter;
import org.sparkrdma.shuffle.metrics.ShuffleCounters;
import org.sparkrdma.shuffle.output.MapOutputs;
import org.sparkrdma.shuffle.thread.Owner;
import org.sparkrdma.shuffle.wire.Located;
import org.sparkrdma.verbs.AccessFlag;
import org.sparkrdma.verbs.Device;
import org.sparkrdma.verbs.ProtectionDomain;

/**
 * Answers the LOCATEs of all peers.
 *
 * <p>One thread of the server owns windows, slots, leases and the cache of indexes; other threads
 * submit commands and never block. The thread sleeps until the next command or deadline. The
 * runtime constructs it, starts it, and closes it after the transport and before the protection
 * domain.
 *
 * <p>An answer may end early: because the message is full, because one answer has registered or
 * located {@value Placement#MAX_ANSWER_BYTES} bytes, or because the budget is full of leases, this
 * answer's own among them. It then has at least one piece, and the reader requests the rest again.
 */
public final class BlockServer implements AutoCloseable {
  /** Minimum length of an answer buffer: one piece with one checksum. */
  public static final int MIN_ANSWER_BYTES =
      Located.HEADER_BYTES + Located.PIECE_BYTES + Located.SUM_BYTES;

  private static final Logger LOGGER = LoggerFactory.getLogger(BlockServer.class);

  /** Maximum number of commands between two checks of the leases. */
  private static final int MAX_BATCH = 64;

  private static final long MAX_SLEEP_NS = Duration.ofHours(1).toNanos();

  private static final Duration CLOSE_TIMEOUT = Duration.ofSeconds(30);

  private final Owner owner = new Owner();
  private final LongSupplier nanoClock;
  private final ShuffleCounters counters;
  private final RegisteredFiles files;
  private final CopySlots slots;
  private final ServedOutputs outputs;
  private final Leases leases;
  private final Locator locator;
  private final IdleMemory idle;
  private final PinnedBudget budget;
  private final Thread thread = new Thread(this::run, "rdma-block-server");

  private final Queue<Runnable> commands = new ConcurrentLinkedQueue<>();
  private volatile boolean asleep;
  private volatile boolean closing;
  private volatile boolean ended;

  /**
   * @param device without {@link org.sparkrdma.verbs.device.Capability#FILE_REGIONS} no windows are
   *     registered, whatever the mode
   * @param domain of the queue pairs of all peers
   * @param expiry called once for each peer when one of its leases has expired
   * @param nanoClock as {@link System#nanoTime}
   */
  public BlockServer(
      ServeSettings settings,
      MapOutputs outputs,
      Device device,
      ProtectionDomain domain,
      PinnedBudget budget,
      ShuffleCounters counters,
      LeaseExpiryListener expiry,
      LongSupplier nanoClock) {
    this.nanoClock = nanoClock;
    this.counters = counters;
    // Half of the device's limit: pools and other processes need regions as well.
    int maxWindows = Math.max(1, device.info().limits().maxMemoryRegions() / 2);
    Set<AccessFlag> access = settings.fileAccess(device);
    this.files =
        new RegisteredFiles(
            settings.windowBytes(), maxWindows, access, domain, budget, counters, owner, nanoClock);
    if (settings.registersFiles(device)) {
      files.excludeDirectories(FileProbe.refusing(domain, outputs.directories(), access));
    }
    if (settings.mode() == ServeSettings.Mode.ODP && !settings.pagesOnDemand(device)) {
      LOGGER.warn(
          "spark.shuffle.rdma.serve=odp is served as auto: device {} does not page on demand",
          device.info().name());
    }
    this.slots =
        settings.mode() == ServeSettings.Mode.WINDOW || settings.slots() == 0
            ? null
            : new CopySlots(
                settings.slotBytes(), settings.slots(), device, domain, budget, files, owner);
    this.outputs =
        new ServedOutputs(
            outputs, files, counters, settings.indexCacheEntries(), settings.windowBytes());
    this.leases =
        new Leases(
            settings.lease(),
            files,
            owner,
            counters,
            expiry,
            peer -> new PeerShare(settings, budget.limitBytes()),
            new SecureRandom().nextLong());
    this.locator =
        new Locator(
            this.outputs,
            leases,
            new Placement(settings, device, files, slots, counters),
            outputs.checksumKind(),
            settings.computeSums(),
            counters,
            nanoClock);
    this.idle = new IdleMemory(settings, files, slots, counters);
    this.budget = budget;
    budget.onShortage(lengthBytes -> submit(() -> idle.makeRoom(lengthBytes)));
    thread.setDaemon(true);
  }

  /** Starts the thread; once. */
  public void start() {
    thread.start();
  }

  /**
   * Answers a LOCATE later. Any thread; after {@link #close}, at once and with BUSY for all.
   *
   * @throws IllegalArgumentException when the answer's buffer has not {@link #MIN_ANSWER_BYTES}
   */
  public void locate(LocateCall call) {
    if (call.answer().capacity() < MIN_ANSWER_BYTES) {
      throw new IllegalArgumentException(
          "answer buffer too short: lengthBytes="
              + call.answer().capacity()
              + " min="
              + MIN_ANSWER_BYTES);
    }
    submit(() -> locator.locate(call));
  }

  /** Releases leases of a peer. Any thread. The array belongs to the server from now on. */
  public void release(long peer, long[] leaseIds) {
    submit(() -> releaseLeases(peer, leaseIds));
  }

  /**
   * The queue pair of a peer is destroyed: its leases end. Any thread. No LOCATE of this peer may
   * follow; each connection has a number of its own.
   */
  public void peerGone(long peer) {
    submit(() -> leases.peerGone(peer));
  }

  /**
   * Unregisters a shuffle: its windows without leases are deregistered at once, the others when
   * their leases end. Any thread. To be called after the shuffle's files are gone, so that a late
   * LOCATE finds nothing to register again.
   *
   * @param done run when its last window is deregistered, at the latest when its last lease ends;
   *     on the server's thread, must not block
   */
  public void unregisterShuffle(int shuffleId, Runnable done) {
    submit(
        () -> {
          PendingUnregistration pending = new PendingUnregistration(done);
          outputs.unregister(shuffleId, pending);
          pending.onOutputGone();
        });
  }

  private void releaseLeases(long peer, long[] leaseIds) {
    for (long leaseId : leaseIds) {
      if (!leases.release(peer, leaseId)) {
        counters.increment(Counter.PROTOCOL_ERRORS);
      }
    }
  }

  private void submit(Runnable command) {
    commands.add(command);
    if (asleep) {
      LockSupport.unpark(thread);
    }
    if (ended) {
      drain();
    }
  }

  private void run() {
    owner.take();
    try {
      while (!closing) {
        if (doWork() == 0) {
          sleep();
        }
      }
    } finally {
      // Also after an Error: every call is answered and all memory is deregistered.
      shutDown();
    }
  }

  private void sleep() {
    asleep = true;
    if (commands.isEmpty() && !closing) {
      long nowNs = nanoClock.getAsLong();
      long sleepNs =
          Math.min(until(leases.nextDeadlineNs(), nowNs), until(idle.nextDeadlineNs(), nowNs));
      LockSupport.parkNanos(this, sleepNs);
    }
    asleep = false;
  }

  private static long until(OptionalLong deadlineNs, long nowNs) {
    return deadlineNs.isEmpty() ? MAX_SLEEP_NS : deadlineNs.getAsLong() - nowNs;
  }

  /**
   * Executes a batch of commands and removes expired leases.
   *
   * <p>Synchronized because after the end of the server's thread callers execute their commands
   * themselves.
   *
   * @return number of executed commands
   */
  synchronized int doWork() {
    int done = 0;
    Runnable command = commands.poll();
    while (command != null) {
      guarded(command);
      done++;
      command = done < MAX_BATCH ? commands.poll() : null;
    }
    long nowNs = nanoClock.getAsLong();
    guarded(() -> leases.expire(nowNs));
    guarded(() -> idle.release(nowNs));
    return done;
  }

  private static void guarded(Runnable command) {
    try {
      command.run();
    } catch (Throwable e) {
      // Everything, also an Error and undeclared exceptions of Scala code: the next command is
      // another peer's.
      LOGGER.warn("command of the block server failed; the next one is executed", e);
    }
  }

  private synchronized void drain() {
    while (doWork() > 0) {
      // More commands may have been submitted.
    }
  }

  private synchronized void shutDown() {
    if (ended) {
      return;
    }
    budget.onShortage(lengthBytes -> {});
    drain();
    locator.stop();
    leases.close();
    outputs.close();
    if (slots != null) {
      slots.close();
    }
    owner.release();
    ended = true;
    drain();
  }

  /**
   * Executes the submitted commands, then deregisters everything, leased or not: from then on a
   * peer's READ fails. Returns when that is done, or with a warning after 30 seconds. A second
   * close does nothing.
   */
  @Override
  public void close() {
    closing = true;
    if (thread.getState() == Thread.State.NEW) {
      shutDown();
      return;
    }
    LockSupport.unpark(thread);
    try {
      thread.join(CLOSE_TIMEOUT.toMillis());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      // The thread ends by itself.
    }
    if (thread.isAlive()) {
      LOGGER.warn(
          "block server did not stop within 30 s; its memory stays registered, closing continues");
    }
  }
}
