// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.serve;

import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.sparkrdma.memory.PinnedBudget;
import org.sparkrdma.shuffle.metrics.Counter;
import org.sparkrdma.shuffle.metrics.ShuffleCounters;
import org.sparkrdma.shuffle.output.MapOutputs;
import org.sparkrdma.shuffle.pinned.SystemFiles;
import org.sparkrdma.shuffle.settings.ServeSettings;
import org.sparkrdma.shuffle.wire.ChecksumKind;
import org.sparkrdma.shuffle.wire.Locate;
import org.sparkrdma.shuffle.wire.Located;
import org.sparkrdma.shuffle.wire.MalformedMessageException;
import org.sparkrdma.verbs.AccessFlag;
import org.sparkrdma.verbs.Device;

/**
 * Answers the LOCATEs of all peers. The agent owns all of its state: the caches of indexes, windows
 * and copies, the leases, and the LOCATEs that wait.
 *
 * <p>A LOCATE whose blocks are in the caches is answered before {@link #locate} returns. What is
 * missing is loaded by {@link DiskThreads}, whose results come back to the agent as commands and go
 * into the caches. A LOCATE that waits is answered when nothing is missing, or at its deadline,
 * which is half of the reader's time-out, with what there is; the rest uses TCP. Registration and
 * deregistration never run on the agent.
 *
 * <p>The transport creates it, starts it, calls {@link #doWork} in each turn of the agent, and
 * closes it after the agent has ended and before the protection domain. Methods are confined to the
 * agent unless they say otherwise.
 */
public final class BlockServer {
  /** Minimum length of an answer buffer: one extent with one checksum. */
  public static final int MIN_ANSWER_BYTES =
      Located.HEADER_BYTES + Located.EXTENT_BYTES + Located.SUM_BYTES;

  private static final Logger LOG = LoggerFactory.getLogger(BlockServer.class);
  private static final long NS_PER_MS = 1_000_000;

  private final PinnedBudget budget;
  private final ShuffleCounters counters;
  private final Consumer<Runnable> agent;
  private final LongSupplier nanoClock;
  private final long idleNs;
  private final DiskWork.Workers workers;
  private final DiskWork work;
  private final FileWindows windows;

  /** Null when nothing is copied. */
  private final CopyPool copies;

  private final IndexCache outputs;
  private final Leases leases;
  private final AnswerWriter writer;

  /** LOCATEs that were suspended, until they are answered or dropped. */
  private final Set<OpenLocate> waiting = new LinkedHashSet<>();

  /** Largest number of bytes that others lack since the last command to make room; 0 for none. */
  private final AtomicLong lackedBytes = new AtomicLong();

  /** No deadline is earlier. */
  private long nextDeadlineNs;

  private boolean stopped;

  public BlockServer(ServerParameters parameters) {
    this(parameters, new DiskThreads(parameters.outputs().disks()), new SystemFiles(Path.of("/")));
  }

  /**
   * @param workers run by a test
   * @param systemFiles of this machine; other ones in tests
   */
  BlockServer(ServerParameters server, DiskWork.Workers workers, SystemFiles systemFiles) {
    ServeSettings settings = server.settings();
    MapOutputs source = server.outputs();
    Device device = server.device().device();
    this.budget = server.device().budget();
    this.counters = server.counters();
    this.agent = server.agent();
    this.nanoClock = server.device().nanoClock();
    this.idleNs = settings.idle().toNanos();
    this.workers = workers;
    this.work = new DiskWork(workers, agent, this::onLoaded);
    this.nextDeadlineNs = nanoClock.getAsLong();
    ServingBudget memory = new ServingBudget(budget, work);
    Set<AccessFlag> access = settings.fileAccess(device);
    this.windows =
        new FileWindows(
            settings.windowBytes(),
            // Half of the device's limit: pools and other processes need regions as well.
            Math.max(1, device.info().limits().maxMemoryRegions() / 2),
            access,
            FileProbe.copiedDirectories(server, systemFiles, access),
            source,
            server.device(),
            memory,
            work,
            counters);
    this.copies =
        settings.mode() == ServeSettings.Mode.WINDOW || settings.copies() == 0
            ? null
            : new CopyPool(
                settings.copyBytes(), settings.copies(), server.device(), memory, windows, work);
    boolean recorded = source.checksumKind() != Located.NO_CHECKSUM;
    int checksumKind =
        settings.computeSums() && !recorded ? ChecksumKind.CRC32C_KIND : source.checksumKind();
    this.outputs =
        new IndexCache(
            source, work, settings.indexCacheEntries(), settings.windowBytes(), checksumKind);
    this.leases =
        new Leases(
            settings.lease(), settings.connectionLeases(), counters, new SecureRandom().nextLong());
    this.writer =
        new AnswerWriter(
            outputs,
            windows,
            copies,
            settings.registersFiles(device),
            checksumKind,
            settings.computeSums(),
            counters);
    if (settings.mode() == ServeSettings.Mode.ODP && !settings.pagesOnDemand(device)) {
      LOG.warn(
          "spark.shuffle.rdma.serve=odp is served as auto: device {} does not page on demand",
          device.info().name());
    }
    budget.onShortage(this::onShortage);
  }

  /** Starts the threads of the disks; once, before the agent. */
  public void start() {
    workers.start();
  }

  /**
   * Answers a LOCATE, at once if its blocks are in the caches; otherwise suspends it until it can
   * be answered.
   *
   * @throws IllegalArgumentException when the answer's buffer has not {@link #MIN_ANSWER_BYTES}
   */
  public void locate(OpenLocate locate) {
    if (locate.answer().capacity() < MIN_ANSWER_BYTES) {
      throw new IllegalArgumentException(
          "answer buffer too short: lengthBytes=" + locate.answer().capacity());
    }
    long nowNs = nanoClock.getAsLong();
    if (locate.isNew() && !decode(locate, nowNs)) {
      return;
    }
    if (stopped || (locate.isNew() && leases.isFull(locate.connection()))) {
      if (!stopped) {
        counters.increment(Counter.PEERS_LIMITED);
      }
      writer.refuseAll(locate, Located.Kind.BUSY, nowNs);
    } else {
      writer.write(locate, nowNs);
    }
    if (locate.loading() > 0) {
      waiting.add(locate);
      wakeAt(locate.deadlineNs());
      locate.suspend();
    } else {
      answer(locate, nowNs);
    }
  }

  /** Decodes a LOCATE, and releases its leases; returns false when it is malformed. */
  private boolean decode(OpenLocate locate, long nowNs) {
    try {
      Locate request = locate.decode();
      for (int i = 0; i < request.leaseCount(); i++) {
        if (!leases.release(locate.connection(), request.leaseId(i), nowNs)) {
          throw new MalformedMessageException("release of another peer's lease: lease=" + i);
        }
      }
      return true;
    } catch (MalformedMessageException e) {
      counters.increment(Counter.PROTOCOL_ERRORS);
      locate.malformed(e.getMessage());
      return false;
    }
  }

  private void answer(OpenLocate locate, long nowNs) {
    Leases.Lease lease = locate.lease();
    int lengthBytes;
    if (lease.isEmpty()) {
      lengthBytes = writer.finish(0, 0);
    } else {
      leases.grant(lease, nowNs);
      wakeAt(lease.deadlineNs());
      long remainingMs = (lease.deadlineNs() - nowNs) / NS_PER_MS;
      lengthBytes =
          writer.finish(lease.id(), (int) Math.max(0, Math.min(Integer.MAX_VALUE, remainingMs)));
    }
    waiting.remove(locate);
    locate.endWait(nowNs);
    locate.answered(lengthBytes);
  }

  /** A thread of a disk has loaded an entry: its LOCATEs may go on. */
  private void onLoaded(CacheEntry entry, Exception failure) {
    long nowNs = nanoClock.getAsLong();
    for (CacheEntry.Waiter waiter : entry.finish(failure, nowNs)) {
      OpenLocate locate = waiter.locate();
      locate.onLoaded(entry, waiter.wantedBytes());
      if (locate.isWaiting() && (entry instanceof CachedOutput || entry.isFailed())) {
        // An index shows what is missing next, and a failure may have an alternative.
        writer.load(locate, waiter.block(), nowNs);
      }
      if (locate.isWaiting() && locate.loading() == 0) {
        locate.resume();
      }
    }
  }

  /**
   * Releases a lease of a peer.
   *
   * @return false when it is another peer's, which is counted
   */
  public boolean release(long connection, long leaseId) {
    boolean own = leases.release(connection, leaseId, nanoClock.getAsLong());
    if (!own) {
      counters.increment(Counter.PROTOCOL_ERRORS);
    }
    return own;
  }

  /**
   * Whether a lease of a peer has expired: its connection must end. Its leased memory stays
   * registered until {@link #onConnectionGone}.
   */
  public boolean hasExpiredLease(long connection) {
    return leases.hasExpired(connection);
  }

  /**
   * The queue pair of a peer is destroyed: its leases end, and its LOCATEs are dropped, whose
   * buffers the server uses no more. Each connection has a number of its own.
   */
  public void onConnectionGone(long connection) {
    long nowNs = nanoClock.getAsLong();
    Iterator<OpenLocate> all = waiting.iterator();
    while (all.hasNext()) {
      OpenLocate locate = all.next();
      if (locate.connection() == connection) {
        all.remove();
        locate.drop(nowNs);
        counters.increment(Counter.LOCATES_DROPPED);
      }
    }
    leases.onConnectionGone(connection, nowNs);
  }

  /**
   * Unregisters a shuffle: its windows that nothing holds are deregistered at once, the others when
   * their leases end. Any thread. To be called after the shuffle's files are gone, so that a late
   * LOCATE finds nothing to register again.
   */
  public void unregisterShuffle(int shuffleId) {
    agent.accept(() -> outputs.unregister(shuffleId));
  }

  /** Others lack pinned memory, perhaps thousands of times a second. Any thread. */
  private void onShortage(long lengthBytes) {
    if (lackedBytes.getAndAccumulate(lengthBytes, Math::max) == 0) {
      agent.accept(this::makeRoom);
    }
  }

  private void makeRoom() {
    long neededBytes = lackedBytes.getAndSet(0);
    if (budget.takeRefusal()) {
      // The device has no room, whatever the budget could grant.
      long evictedBytes = 0;
      int lastBytes = 1;
      while (evictedBytes < neededBytes && lastBytes > 0) {
        lastBytes = windows.evictOldest();
        evictedBytes += lastBytes;
      }
    }
    long copiedBytes = copies == null ? 0 : copies.idleBytes();
    long idleBytes = windows.idleBytes() + copiedBytes + work.closingBytes();
    if (!budget.couldGrant(neededBytes, idleBytes)) {
      return;
    }
    while (!budget.couldGrant(neededBytes, work.closingBytes()) && windows.evictOldest() > 0) {
      // Each eviction adds to the bytes that are closed.
    }
    if (copies != null && !budget.couldGrant(neededBytes, work.closingBytes())) {
      copies.closeIdle();
    }
  }

  /**
   * Does what is due: answers LOCATEs at their deadlines, expires leases, frees idle memory. To be
   * called in each turn of the agent.
   *
   * @return number of LOCATEs whose time is over
   */
  public int doWork(long nowNs) {
    if (nowNs - nextDeadlineNs < 0) {
      return 0;
    }
    nextDeadlineNs = nowNs + idleNs;
    int answered = answerOverdue(nowNs);
    leases.expire(nowNs);
    windows.returnIdleSince(nowNs - idleNs);
    wakeForIdle(windows.oldestIdle());
    if (copies != null) {
      copies.returnIdleSince(nowNs - idleNs);
      wakeForIdle(copies.oldestIdle());
    }
    wakeAt(leases.nextDeadlineNs(nextDeadlineNs));
    return answered;
  }

  private int answerOverdue(long nowNs) {
    List<OpenLocate> overdue = new ArrayList<>();
    for (OpenLocate locate : waiting) {
      if (!locate.isWaiting()) {
        continue;
      }
      if (nowNs - locate.deadlineNs() >= 0) {
        overdue.add(locate);
      } else {
        wakeAt(locate.deadlineNs());
      }
    }
    for (OpenLocate locate : overdue) {
      counters.increment(Counter.LOCATES_OVERLOADED);
      locate.resume();
    }
    return overdue.size();
  }

  private void wakeForIdle(CachedRange oldest) {
    if (oldest != null) {
      wakeAt(oldest.idleSinceNs() + idleNs);
    }
  }

  private void wakeAt(long deadlineNs) {
    if (deadlineNs - nextDeadlineNs < 0) {
      nextDeadlineNs = deadlineNs;
    }
  }

  /** Time at which {@link #doWork} may have something to do, as that of the clock. */
  public long nextDeadlineNs() {
    return nextDeadlineNs;
  }

  /**
   * Ends the threads and deregisters everything, leased or not: from then on a peer's READ fails.
   * After the end of the agent. After a false result another call goes on.
   *
   * @param limit of the wait for a disk that hangs
   * @param drain runs the commands that the agent has not run
   * @return false when a thread of a disk has not ended, and memory stays registered
   */
  public boolean close(Duration limit, Runnable drain) {
    stopped = true;
    budget.onShortage(lengthBytes -> {});
    if (!workers.close(limit)) {
      LOG.warn(
          "Threads for a disk or deregistration did not stop in time; memory stays registered until"
              + " its disk or the device returns: limitMs={}",
          limit.toMillis());
      return false;
    }
    // The threads have ended: from now on memory is closed at once, that of the drain included.
    work.closeAtOnce();
    drain.run();
    long nowNs = nanoClock.getAsLong();
    for (OpenLocate locate : waiting) {
      locate.drop(nowNs);
    }
    waiting.clear();
    leases.close(nowNs);
    outputs.close();
    if (copies != null) {
      copies.closeIdle();
    }
    return true;
  }
}
