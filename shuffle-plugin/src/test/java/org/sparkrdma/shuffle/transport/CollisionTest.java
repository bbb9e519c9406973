// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.transport;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.sparkrdma.shuffle.fetch.BlockRange;
import org.sparkrdma.shuffle.fetch.FetchHandler;
import org.sparkrdma.shuffle.metrics.Counter;

@Timeout(300)
class CollisionTest {
  private static final int ROUNDS = 1_000;

  @TempDir private Path directory;

  @Test
  void shouldServeBothEndsAfterAThousandCollisions() throws Exception {
    Random random = new Random(11);
    ExecutorService threads = Executors.newFixedThreadPool(2);
    try (TestExecutor one = start(1);
        TestExecutor two = start(-1)) {
      one.outputs().write(1, random, 3000);
      two.outputs().write(1, random, 3000);
      CyclicBarrier together = new CyclicBarrier(2);
      for (int round = 0; round < ROUNDS; round++) {
        Future<?> left = threads.submit(() -> fetchOnce(one, two, together));
        Future<?> right = threads.submit(() -> fetchOnce(two, one, together));
        left.get();
        right.get();
        breakConnections(one.transport());
        awaitDisconnected(one);
        awaitDisconnected(two);
      }
      assertThat(one.count(Counter.CONNECTIONS_ESTABLISHED)).isGreaterThanOrEqualTo(ROUNDS);
      // 956 on the loopback engine, 2026-11-24. Requests of the higher incarnation are refused.
      assertThat(two.count(Counter.CONNECTIONS_COLLIDED)).isPositive();
    } finally {
      threads.shutdown();
    }
  }

  /** siw loses the reason when a refusal and the end of the connection arrive together. */
  @Test
  void shouldUseTheConnectionOfAPeerWhoseRefusalLosesItsReason() throws Exception {
    List<BlockRange> blocks = List.of(new BlockRange(0, 1, 0, 1));
    CollectedBlocks collected = new CollectedBlocks(blocks);
    try (TestExecutor last = start(-1);
        HostileServer first = new HostileServer(1, new Refusing());
        HostilePeer sameAsFirst = new HostilePeer()) {
      FetchHandler.fetch(last.transport(), first.endpoint(), blocks, collected);
      sameAsFirst.connectAs(1, last.endpoint());
      first.reject();
      awaitOnlyAccepted(last.transport());

      sameAsFirst.confirm(last.endpoint());

      assertThat(last.count(Counter.CONNECTIONS_ESTABLISHED)).isEqualTo(1);
      assertThat(last.count(Counter.PEERS_QUARANTINED)).isZero();
    }
  }

  /** Waits until the executor's own attempt has ended. */
  private static void awaitOnlyAccepted(RdmaTransport transport) throws Exception {
    CompletableFuture<Integer> connections;
    do {
      CompletableFuture<Integer> size = new CompletableFuture<>();
      transport.agent.execute(() -> size.complete(transport.table.size()));
      connections = size;
    } while (connections.get(10, TimeUnit.SECONDS) > 1);
  }

  private static final class Refusing implements HostileServer.Script {
    @Override
    public boolean accepts() {
      return false;
    }

    @Override
    public void onLocate(HostileServer.Question question) {
      throw new IllegalStateException("no connection");
    }
  }

  /** Closes all connections as a network failure would. */
  private static void breakConnections(RdmaTransport transport) {
    transport.agent.execute(
        () -> {
          for (int i = 0; i < transport.table.size(); i++) {
            transport
                .table
                .get(i)
                .markBroken(BrokenConnection.connectionLost("broken by the test"));
          }
        });
  }

  private static void awaitDisconnected(TestExecutor executor) {
    while (executor.count(Counter.CONNECTIONS_CLOSED)
        < executor.count(Counter.CONNECTIONS_ESTABLISHED)) {
      LockSupport.parkNanos(100_000);
    }
  }

  private TestExecutor start(long incarnation) throws Exception {
    Path own = Files.createDirectory(directory.resolve("executor" + incarnation));
    return new TestExecutor(
        own, new TestExecutor.Options(incarnation).connectTimeout(Duration.ofSeconds(10)));
  }

  private static Void fetchOnce(TestExecutor reader, TestExecutor server, CyclicBarrier together)
      throws Exception {
    List<BlockRange> blocks = List.of(new BlockRange(0, 1, 0, 1));
    CollectedBlocks collected = new CollectedBlocks(blocks);
    together.await();
    FetchHandler.fetch(reader.transport(), server.endpoint(), blocks, collected);
    assertThat(collected.await().bytes(0)).isEqualTo(server.outputs().expected(blocks.get(0)));
    return null;
  }
}
