// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.transport;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.sparkrdma.shuffle.metrics.FallbackReason;

/**
 * A device that takes long to create a queue pair, in virtual time: what is read and served over
 * connections that exist goes on meanwhile. The end of each test checks that nothing stays open.
 */
@Tag("slow")
class SlowQueuePairsTest extends VirtualFixture {
  private static final int BLOCK_BYTES = 64 << 10;
  private static final int NEW_PEERS = 30;
  private static final int MANY_PEERS = 300;

  /** What mlx5 cards take at most. */
  private static final long CREATION_NS = 3 * MS;

  private VirtualExecutor reader;
  private VirtualExecutor server;

  @BeforeEach
  void connect() throws Exception {
    reader = fabric.start(BLOCK_BYTES);
    server = fabric.start(BLOCK_BYTES);
    assertReads(reader, server.endpoint());
  }

  /** A task reads block after block; its longest wait for one. */
  private long longestReadNs(long lengthNs) {
    long endNs = fabric.nowNs() + lengthNs;
    long longestNs = 0;
    while (fabric.nowNs() < endNs) {
      long sinceNs = fabric.nowNs();
      VirtualFetch next = new VirtualFetch(reader, server.endpoint());
      fabric.runUntil(next::isAnswered, 1_000 * MS);
      assertThat(next.failures()).isEmpty();
      assertThat(next.isRead()).isTrue();
      longestNs = Math.max(longestNs, fabric.nowNs() - sinceNs);
      fabric.run(MS / 10);
    }
    return longestNs;
  }

  private static List<VirtualFetch> fetch(
      List<VirtualExecutor> readers, List<VirtualExecutor> servers) {
    List<VirtualFetch> all = new ArrayList<>();
    for (VirtualExecutor by : readers) {
      servers.forEach(from -> all.add(new VirtualFetch(by, from.endpoint())));
    }
    return all;
  }

  private void assertGoesOnWhile(List<VirtualFetch> connecting, long ofCreationNs) {
    assertThat(longestReadNs(2 * NEW_PEERS * CREATION_NS)).isLessThan(MS / 2);
    assertThat(connecting)
        .allMatch(fetch -> fetch.isRead() == (ofCreationNs != VirtualFabric.LOST));
  }

  /** The creation of their queue pairs takes long, or hangs. */
  @ParameterizedTest
  @ValueSource(longs = {CREATION_NS, VirtualFabric.LOST})
  void shouldReadWhileItConnectsToOthers(long creationNs) throws Exception {
    fabric.createQueuePairsIn(of -> of == reader ? creationNs : 0);
    assertGoesOnWhile(fetch(List.of(reader), servers(NEW_PEERS, BLOCK_BYTES)), creationNs);
  }

  @ParameterizedTest
  @ValueSource(longs = {CREATION_NS, VirtualFabric.LOST})
  void shouldServeWhileItAcceptsOthers(long creationNs) throws Exception {
    fabric.createQueuePairsIn(of -> of == server ? creationNs : 0);
    assertGoesOnWhile(fetch(servers(NEW_PEERS, BLOCK_BYTES), List.of(server)), creationNs);
  }

  /** The attempt ends before its queue pair is created. */
  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void shouldKeepNothingOfAConnectionThatEndsMeanwhile(boolean atServer) throws Exception {
    VirtualExecutor other = fabric.start(BLOCK_BYTES);
    VirtualExecutor slow = atServer ? server : reader;
    fabric.createQueuePairsIn(of -> of == slow ? 20_000 * MS : 0);
    VirtualExecutor by = atServer ? other : reader;
    VirtualExecutor from = atServer ? server : other;
    VirtualFetch fetch = new VirtualFetch(by, from.endpoint());
    fabric.run(19_000 * MS);
    assertThat(fetch.failures()).containsOnlyKeys(FallbackReason.CONNECT_FAILED);
    assertThat(slow.connections()).as("the device may still use its memory").isEqualTo(2);
    fabric.run(2_000 * MS);
    assertThat(slow.connections()).isEqualTo(1);
    fabric.createQueuePairsIn(of -> 0);
    VirtualFetch again = new VirtualFetch(by, from.endpoint());
    fabric.run(100 * MS);
    assertThat(again.isRead()).isTrue();
  }

  /** It reads from each of the others, and each of them from it. */
  @Test
  void shouldReadWhileAStageWithManyPeersStarts() throws Exception {
    List<VirtualExecutor> peers = servers(MANY_PEERS, BLOCK_BYTES);
    fabric.createQueuePairsIn(of -> CREATION_NS);
    fetch(List.of(reader), peers);
    fetch(peers, List.of(reader));
    assertThat(longestReadNs(1_000 * MS)).isLessThan(MS);
    fabric.run(5_000 * MS);
    assertThat(reader.connections()).isGreaterThan(MANY_PEERS / 2);
  }

  /** The firmware is busy. */
  @Test
  void shouldReadWhileQueuePairsOfManyPeersAreDestroyed() throws Exception {
    List<VirtualExecutor> peers = servers(16, BLOCK_BYTES);
    fetch(List.of(reader), peers);
    fabric.run(100 * MS);
    peers.forEach(fabric::end);
    fabric.beforeClose(() -> fabric.takeTime(100 * MS));
    assertThat(longestReadNs(500 * MS)).isLessThan(600 * MS);
    assertThat(reader.connections()).as("the test is still on").isGreaterThan(1);
    fabric.beforeClose(() -> {});
    fabric.run(1_000 * MS);
    assertThat(reader.connections()).isEqualTo(1);
  }

  /** A device that stalls says nothing about the peers to which it shall connect. */
  @Test
  void shouldNotQuarantinePeersForItsOwnSlowDevice() throws Exception {
    for (int i = 0; i < 2; i++) {
      VirtualExecutor other = fabric.start(BLOCK_BYTES);
      fabric.createQueuePairsIn(of -> of == reader ? 600 * MS : 0);
      VirtualFetch late = new VirtualFetch(reader, other.endpoint());
      fabric.run(700 * MS);
      assertThat(late.isAnswered()).as("over TCP").isTrue();
      fabric.createQueuePairsIn(of -> 0);
      VirtualFetch again = new VirtualFetch(reader, other.endpoint());
      fabric.run(100 * MS);
      assertThat(again.failures()).isEmpty();
      assertThat(again.isRead()).isTrue();
    }
  }
}
