// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.transport;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;
import org.sparkrdma.memory.PinnedBudget;
import org.sparkrdma.shuffle.directory.Endpoint;
import org.sparkrdma.shuffle.directory.Endpoints;
import org.sparkrdma.shuffle.fetch.BlockRange;
import org.sparkrdma.shuffle.metrics.Counter;
import org.sparkrdma.shuffle.metrics.FallbackReason;

/** Connections of executors: used in both directions, refused, idle, or without room. */
class TransportConnectionsTest extends TransportFixture {
  /** Receive memory for two chunks, and too little for the messages of a connection. */
  @Test
  void shouldRefuseAPeerWithoutTheToken() throws Exception {
    TestExecutor reader = start(1);
    TestExecutor server = start(2);
    Endpoint endpoint = server.endpoint();
    Endpoint guessed =
        new Endpoint(
            endpoint.executorId(),
            endpoint.addresses(),
            endpoint.engine(),
            endpoint.protocol(),
            endpoint.incarnation(),
            new byte[Endpoint.TOKEN_BYTES]);
    CollectedBlocks collected = fetch(reader, guessed, List.of(block(1, 0, 1)));
    assertThat(collected.reason(0)).isEqualTo(FallbackReason.REFUSED);
    assertThat(server.count(Counter.CONNECTIONS_REFUSED)).isEqualTo(1);
  }

  @Test
  void shouldRefuseARequestForAnEarlierIncarnation() throws Exception {
    TestExecutor reader = start(1);
    TestExecutor old = start(2);
    Endpoint stale = old.endpoint();
    old.transport().close();
    TestExecutor now =
        start(new TestExecutor.Options(3).port(Endpoints.preferredAddress(stale).getPort()));
    CollectedBlocks collected = fetch(reader, stale, List.of(block(1, 0, 1)));
    assertThat(collected.reason(0)).isEqualTo(FallbackReason.REFUSED);
    assertThat(now.count(Counter.CONNECTIONS_REFUSED)).isPositive();
  }

  @Test
  void shouldQuarantineAPeerThatDoesNotListen() throws Exception {
    TestExecutor reader = start(new TestExecutor.Options(1).quarantine(Duration.ofMinutes(1)));
    TestExecutor gone = start(2);
    Endpoint endpoint = gone.endpoint();
    gone.transport().close();
    List<BlockRange> blocks = List.of(block(1, 0, 1));
    for (int fault = 0; fault < 2; fault++) {
      assertThat(fetch(reader, endpoint, blocks).reason(0))
          .isEqualTo(FallbackReason.CONNECT_FAILED);
    }
    assertThat(fetch(reader, endpoint, blocks).reason(0)).isEqualTo(FallbackReason.QUARANTINED);
  }

  @Test
  void shouldCloseAnIdleConnectionAndReconnect() throws Exception {
    TestExecutor reader = start(new TestExecutor.Options(1).idleTimeout(Duration.ofMillis(50)));
    TestExecutor server = start(2);
    server.outputs().write(1, random, 1000);
    List<BlockRange> blocks = List.of(block(1, 0, 1));
    assertRight(server, blocks, fetch(reader, server, blocks));
    awaitCount(reader, Counter.CONNECTIONS_CLOSED, 1);
    assertRight(server, blocks, fetch(reader, server, blocks));
    assertThat(reader.count(Counter.CONNECTIONS_ESTABLISHED)).isEqualTo(2);
  }

  /** Counters outlive the transport of an executor, which starts another one. */
  @Test
  void shouldCountTheConnectionsThatItsEndCloses() throws Exception {
    TestExecutor reader = start(1);
    TestExecutor server = start(2);
    server.outputs().write(1, random, 1000);
    List<BlockRange> blocks = List.of(block(1, 0, 1));
    assertRight(server, blocks, fetch(reader, server, blocks));
    assertThat(reader.counters().openConnections()).isEqualTo(1);
    reader.transport().close();
    assertThat(reader.counters().openConnections()).isZero();
  }

  @Test
  void shouldMakeRoomForANewPeerByClosingTheLongestIdleConnection() throws Exception {
    TestExecutor reader = start(new TestExecutor.Options(1).maxConnections(2));
    List<BlockRange> blocks = List.of(block(1, 0, 1));
    for (int i = 2; i < 6; i++) {
      TestExecutor server = start(i);
      server.outputs().write(1, random, 1000);
      assertRight(server, blocks, fetch(reader, server, blocks));
    }
    assertThat(reader.count(Counter.CONNECTIONS_CLOSED)).isGreaterThanOrEqualTo(2);
  }

  /** The server rejects, and the reader tries again. */
  @Test
  void shouldReadOnceThePeerHasMemoryForAConnection() throws Exception {
    TestExecutor reader = start(1);
    TestExecutor server = start(2);
    server.outputs().write(1, random, 1000);
    List<BlockRange> blocks = List.of(block(1, 0, 1));
    PinnedBudget.Grant all = takeAll(server);
    CollectedBlocks open = reader.fetch(server.endpoint(), blocks);
    awaitCount(server, Counter.CONNECTIONS_REFUSED, 2);
    all.close();
    assertRight(server, blocks, open.await());
    assertThat(reader.count(Counter.PEERS_QUARANTINED)).isZero();
  }

  @Test
  void shouldNotQuarantineAPeerWithoutRoomForAConnectionHere() throws Exception {
    TestExecutor reader = start(1);
    TestExecutor server = start(2);
    server.outputs().write(1, random, 1000);
    List<BlockRange> blocks = List.of(block(1, 0, 1));
    PinnedBudget.Grant all = takeAll(reader);
    for (int i = 0; i < 3; i++) {
      assertThat(fetch(reader, server, blocks).reason(0)).isEqualTo(FallbackReason.POOL_EMPTY);
    }
    all.close();
    assertRight(server, blocks, fetch(reader, server, blocks));
  }

  private static PinnedBudget.Grant takeAll(TestExecutor executor) {
    return executor.budget().tryGrant(executor.budget().availableBytes()).orElseThrow();
  }

  private static void awaitCount(TestExecutor executor, Counter counter, long atLeast) {
    for (int i = 0; i < 100_000 && executor.count(counter) < atLeast; i++) {
      LockSupport.parkNanos(100_000);
    }
    assertThat(executor.count(counter)).isGreaterThanOrEqualTo(atLeast);
  }
}
