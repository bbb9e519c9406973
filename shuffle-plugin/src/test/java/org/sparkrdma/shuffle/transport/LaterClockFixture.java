// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.transport;

import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;
import org.sparkrdma.shuffle.address.TestAddresses;
import org.sparkrdma.shuffle.directory.Endpoint;
import org.sparkrdma.shuffle.directory.Endpoints;
import org.sparkrdma.shuffle.fetch.BlockRange;
import org.sparkrdma.shuffle.fetch.FetchHandler;
import org.sparkrdma.shuffle.metrics.Counter;
import org.sparkrdma.shuffle.wire.Located;

/** Executors whose clock a test can set to a later time, and peers that answer nothing. */
abstract class LaterClockFixture extends TransportFixture {
  static final List<BlockRange> BLOCKS = List.of(new BlockRange(0, 1, 0, 1));

  final AtomicLong laterNs = new AtomicLong();
  private volatile LongSupplier clock = System::nanoTime;

  @Override
  TestExecutor start(TestExecutor.Options options) throws Exception {
    return super.start(options.nanoClock(() -> clock.getAsLong() + laterNs.get()));
  }

  /** Time passes only by {@link #laterNs} from now on, also when this machine is busy. */
  final void stopClock() {
    long nowNs = System.nanoTime();
    clock = () -> nowNs;
  }

  /** Time passes while the agent of the reader runs; the clock is stopped. */
  final void pass(TestExecutor reader, Duration time) {
    long stepNs = ConnectionAttempts.MAX_STEP_NS;
    for (long leftNs = time.toNanos(); leftNs > 0; leftNs -= stepNs) {
      laterNs.addAndGet(stepNs);
      // A turn reads the time at its beginning, so the present one may have the time before.
      TransportAgent agent = reader.transport().agent;
      long turns = agent.allIterations();
      while (agent.allIterations() < turns + 2) {
        connections(reader);
      }
    }
  }

  static CollectedBlocks fetch(TestExecutor reader, Endpoint peer) throws Exception {
    return startFetch(reader, peer).await();
  }

  static void awaitConnection(TestExecutor reader) {
    while (reader.count(Counter.CONNECTIONS_ESTABLISHED) == 0) {
      Thread.onSpinWait();
    }
  }

  /** Accepts no request before {@link HostileServer#acceptHeld}. */
  static class Silent implements HostileServer.Script {
    @Override
    public boolean accepts() {
      return false;
    }

    @Override
    public void onLocate(HostileServer.Question question) {
      question.answer().byTcp(0, Located.Kind.UNKNOWN).send(0);
    }
  }

  static CollectedBlocks startFetch(TestExecutor reader, Endpoint peer) {
    CollectedBlocks collected = new CollectedBlocks(BLOCKS);
    FetchHandler.fetch(reader.transport(), peer, BLOCKS, collected);
    return collected;
  }

  static void awaitRequests(HostileServer server, int count) {
    while (server.heldRequests() < count) {
      Thread.onSpinWait();
    }
  }

  /** Number of connections and attempts, after the commands given so far. */
  static int connections(TestExecutor executor) {
    CompletableFuture<Integer> answer = new CompletableFuture<>();
    executor.transport().agent.execute(() -> answer.complete(executor.transport().table.size()));
    return answer.join();
  }

  static InetSocketAddress at(Endpoint real, int port) {
    return new InetSocketAddress(Endpoints.preferredAddress(real).getAddress(), port);
  }

  static Endpoint moved(Endpoint real, int port) {
    return new Endpoint(
        real.executorId(),
        TestAddresses.listener(at(real, port)),
        real.engine(),
        real.protocol(),
        real.incarnation(),
        real.token());
  }
}
