// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.serve;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicLong;
import org.sparkrdma.memory.PinnedBudget;
import org.sparkrdma.shuffle.metrics.Counter;
import org.sparkrdma.shuffle.metrics.ShuffleCounters;
import org.sparkrdma.shuffle.settings.ServeSettings;

/**
 * A server in virtual time with two disks. Disk 0, with shuffle {@value #FAST}, works at once; disk
 * 1, with shuffle {@value #SLOW}, when the test runs its jobs. Each block has 1,000 bytes. Closing
 * ends all peers and checks for leaks.
 */
final class TwoDisks implements AutoCloseable {
  static final int FAST = 1;
  static final int SLOW = 2;
  static final Duration TIMEOUT = Duration.ofSeconds(30);
  static final LoadLimits LIMITS = LoadLimits.of(TIMEOUT);

  private static final int MAPS = 8;

  final FakeDomain domain = new FakeDomain();
  final FakeMapOutputs outputs;
  final BlockServer server;

  /** Jobs of disk 1. */
  final ConcurrentLinkedQueue<Runnable> jobs = new ConcurrentLinkedQueue<>();

  private final AtomicLong nowNs = new AtomicLong(Long.MAX_VALUE - 1_000_000);
  private final PinnedBudget budget = new PinnedBudget(1 << 30, FakeDomain.PAGE);
  private final ShuffleCounters counters = new ShuffleCounters();
  private final Set<Long> peers = ConcurrentHashMap.newKeySet();

  TwoDisks(Path folder, ServeSettings settings) throws IOException {
    outputs = DiskServers.outputsOnTwoDisks(folder, MAPS, FAST, SLOW);
    server =
        DiskServers.of(
            outputs,
            domain,
            budget,
            counters,
            TIMEOUT,
            nowNs::get,
            settings,
            List.of(
                new DiskQueue(Runnable::run, DiskServers.THREADS, nowNs::get),
                new DiskQueue(jobs::add, DiskServers.THREADS, nowNs::get)));
  }

  long count(Counter counter) {
    return counters.value(counter);
  }

  /** Time passes, and the server's thread does what is due. */
  void pass(long ns) {
    skip(ns);
    while (server.doWork() > 0) {
      // Until nothing is left to do.
    }
  }

  /** Time passes, and the server's thread does not notice. */
  void skip(long ns) {
    nowNs.addAndGet(ns);
  }

  /** Requests a block of each of these shuffles, for peer 1. */
  DiskCall ask(int... shuffles) {
    return locate(new DiskCall(1, shuffles));
  }

  /** Requests a block of a shuffle. */
  DiskCall askAs(long peer, int shuffle) {
    return locate(new DiskCall(peer, shuffle));
  }

  DiskCall locate(DiskCall call) {
    submit(call);
    pass(0);
    return call;
  }

  /** The server receives a LOCATE, which waits for its thread. */
  void submit(DiskCall call) {
    peers.add(call.peer());
    server.locate(call);
  }

  /** The connection of a request ends. */
  void endConnection(DiskCall call) {
    call.close();
    server.onPeerGone(call.peer());
    pass(OpenLocates.CHECK_NS);
  }

  /** Runs all jobs of disk 1. */
  void runJobs() {
    for (Runnable job = jobs.poll(); job != null; job = jobs.poll()) {
      job.run();
    }
    pass(0);
  }

  @Override
  public void close() {
    peers.forEach(server::onPeerGone);
    DiskServers.closeWithoutLeases(server, () -> pass(0), FAST, SLOW);
    domain.close();
    budget.close();
  }
}
