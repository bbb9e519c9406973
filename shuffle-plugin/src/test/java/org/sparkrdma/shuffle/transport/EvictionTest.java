// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.transport;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.sparkrdma.shuffle.address.NetworkAddress;
import org.sparkrdma.shuffle.directory.Endpoint;
import org.sparkrdma.shuffle.fetch.WaitBudget;
import org.sparkrdma.shuffle.fetch.WaitBudgets;
import org.sparkrdma.shuffle.metrics.Counter;

/** Connections that make room for others, on executors with few of them, in virtual time. */
class EvictionTest extends VirtualFixture {
  private static final int BLOCK_BYTES = 16 << 20;
  private static final int BLOCKS = 16;

  private VirtualExecutor start(int connections) throws Exception {
    return fabric.start(BLOCK_BYTES, "connections.max", Integer.toString(connections));
  }

  @Test
  void shouldEndTheConnectionThatWasIdleLongest() throws Exception {
    VirtualExecutor reader = start(2);
    Endpoint one = start(2).endpoint();
    Endpoint other = start(2).endpoint();
    Endpoint third = start(2).endpoint();
    assertReads(reader, one);
    fabric.run(50 * MS);
    assertReads(reader, other);
    fabric.run(50 * MS);
    assertReads(reader, one);
    fabric.run(50 * MS);

    assertReads(reader, third);

    fabric.run(50 * MS);
    assertThat(fabric.executors().get(1).connections()).isEqualTo(1);
    assertThat(fabric.executors().get(2).connections()).as("idle longest").isZero();
    assertThat(reader.connections()).isEqualTo(2);
    assertThat(reader.count(Counter.PEERS_QUARANTINED)).isZero();
  }

  @Test
  void shouldNotEndAConnectionWithOpenReads() throws Exception {
    VirtualExecutor reader = start(1);
    Endpoint one = start(1).endpoint();
    Endpoint other = start(1).endpoint();
    VirtualFetch large = new VirtualFetch(reader, one, 0, BLOCKS, () -> {});
    fabric.run(15 * MS);
    assertThat(large.isAnswered()).as("16 blocks of 16 MiB at 100 Gb/s in 15 ms").isFalse();
    VirtualFetch next = new VirtualFetch(reader, other);
    fabric.runUntil(large::isAnswered, 1_000 * MS);
    assertThat(large.isRead()).isTrue();
    assertThat(reader.count(Counter.CONNECTIONS_ESTABLISHED)).isEqualTo(1);
    fabric.runUntil(next::isAnswered, 2_000 * MS);
    assertThat(next.isRead()).isTrue();
    assertThat(reader.count(Counter.PEERS_QUARANTINED)).isZero();
  }

  /** Each search visits all connections. */
  @Test
  void shouldSearchOnceInAMillisecondForRoomHoweverManyPeersWaitForIt() throws Exception {
    VirtualExecutor reader = start(1);
    AtomicInteger searches = new AtomicInteger();
    Map<Long, FetchConnection> established =
        new ConcurrentHashMap<>() {
          @Override
          public Collection<FetchConnection> values() {
            searches.incrementAndGet();
            return super.values();
          }
        };
    AgentResources shared = reader.transport().shared();
    List<NetworkAddress> addresses = List.of(new NetworkAddress(reader.address, 8));
    ConnectAttempts attempts =
        new FetchPeers(shared, reader.manager, addresses, established).attempts();
    WaitBudget budget = WaitBudgets.ofReader(1);
    for (int i = 0; i < 1_000; i++) {
      attempts.add(new Peer(reader.endpoint(), new PeerHealth(budget, budget)), 0);
    }
    for (long nowNs = 0; nowNs < 20 * MS; nowNs += MS / 10) {
      attempts.connect(nowNs);
    }
    assertThat(reader.connections()).isOne();
    assertThat(searches.get()).isBetween(10, 20);
  }

  /** Else a reader waits until the other's connection has been idle for minutes, and uses TCP. */
  @Test
  void shouldEndTheIdleConnectionOfAnotherReader() throws Exception {
    VirtualExecutor server = start(1);
    VirtualExecutor one = start(1);
    VirtualExecutor other = start(1);
    for (int round = 0; round < 5; round++) {
      for (VirtualExecutor reader : List.of(one, other)) {
        VirtualFetch fetch = new VirtualFetch(reader, server.endpoint());
        assertThat(fabric.runUntil(fetch::isAnswered, 1_000 * MS)).isTrue();
        assertThat(fetch.isRead()).isTrue();
        fabric.run(50 * MS);
        assertThat(server.connections()).isEqualTo(1);
      }
    }
    assertThat(server.count(Counter.CONNECTIONS_REFUSED)).isBetween(9L, 30L);
    for (VirtualExecutor reader : List.of(one, other)) {
      assertThat(reader.count(Counter.PEERS_QUARANTINED)).isZero();
    }
  }

  @Test
  void shouldNotEndAConnectionFromWhichAnotherReaderReads() throws Exception {
    VirtualExecutor server = start(1);
    VirtualExecutor one = start(1);
    VirtualExecutor other = start(1);
    VirtualFetch large = new VirtualFetch(one, server.endpoint(), 0, BLOCKS, () -> {});
    fabric.run(15 * MS);
    VirtualFetch next = new VirtualFetch(other, server.endpoint());
    fabric.runUntil(large::isAnswered, 1_000 * MS);
    assertThat(large.isRead()).isTrue();
    assertThat(one.count(Counter.CONNECTIONS_ESTABLISHED)).isEqualTo(1);
    assertThat(fabric.runUntil(next::isAnswered, 2_000 * MS)).isTrue();
    assertThat(next.isRead()).isTrue();
  }
}
