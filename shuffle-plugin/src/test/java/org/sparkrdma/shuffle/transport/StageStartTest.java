// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.transport;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.ObjectMapper;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.sparkrdma.shuffle.metrics.Counter;
import org.sparkrdma.shuffle.metrics.FallbackReason;
import org.sparkrdma.shuffle.pinned.MemoryShares;
import org.sparkrdma.verbs.cm.ConnectionEvent;

/** Executors that all read from each other at the start of a stage, in virtual time. */
@Timeout(300)
class StageStartTest extends VirtualFixture {
  private static final int BLOCK_BYTES = 16 << 10;
  private static final int MAPS = 2;

  /** Pinned for messages and rings of both directions of a peer. */
  private static final long PEER_BYTES = 106 << 10;

  /** Pinned for the answers of all peers together. */
  private static final long ANSWER_BYTES =
      (long) MemoryShares.MAX_ANSWERS * MemoryShares.MESSAGE_BYTES;

  private final List<VirtualFetch> fetches = new ArrayList<>();
  private int answers;

  private void start(int executors, String... settings) throws Exception {
    for (int i = 0; i < executors; i++) {
      fabric.start(executors, BLOCK_BYTES, settings);
    }
  }

  private void fetch(int reader, int server) {
    VirtualExecutor from = fabric.executors().get(server);
    VirtualExecutor by = fabric.executors().get(reader);
    fetches.add(new VirtualFetch(by, from.endpoint(), reader, MAPS, () -> answers++));
  }

  private void awaitAnswers(long maxNs) {
    int wanted = fetches.size() * MAPS;
    assertThat(fabric.runUntil(() -> answers == wanted, maxNs))
        .as("%d of %d blocks answered", answers, wanted)
        .isTrue();
  }

  /** Each from all others, which each reader takes in another order, as Spark does. */
  private void fetchAll() {
    int executors = fabric.executors().size();
    for (int reader = 0; reader < executors; reader++) {
      for (int i = 1; i < executors; i++) {
        fetch(reader, (reader + i) % executors);
      }
    }
  }

  /** The traffic of executor 0 when each reads from all others. */
  private void fetchAllOfFirst() {
    for (int i = 1; i < fabric.executors().size(); i++) {
      fetch(0, i);
      fetch(i, 0);
    }
  }

  private Map<FallbackReason, Integer> failures() {
    Map<FallbackReason, Integer> all = new EnumMap<>(FallbackReason.class);
    for (VirtualFetch fetch : fetches) {
      fetch.failures().forEach((reason, count) -> all.merge(reason, count, Integer::sum));
    }
    return all;
  }

  private long count(Counter counter) {
    return fabric.executors().stream().mapToLong(executor -> executor.count(counter)).sum();
  }

  private void assertAllAreRead() {
    assertThat(failures()).isEmpty();
    assertThat(fetches).allMatch(VirtualFetch::isRead);
    assertThat(count(Counter.PEERS_QUARANTINED)).isZero();
    assertThat(count(Counter.PROTOCOL_ERRORS)).isZero();
  }

  /** Half of the peers fit: connections that are idle make room for others. */
  @Test
  void shouldReadBlocksOfMorePeersThanConnections() throws Exception {
    start(30, "connections.max", "15");
    fetchAll();
    awaitAnswers(30_000 * MS);
    assertThat(count(Counter.PEERS_QUARANTINED)).isZero();
    for (VirtualExecutor executor : fabric.executors()) {
      assertThat(executor.connections()).isLessThanOrEqualTo(2 * 15);
    }
    assertThat(failures().keySet()).isSubsetOf(FallbackReason.CONNECT_FAILED);
    assertThat(fetches.stream().filter(VirtualFetch::isRead).count())
        .as("requests by READ")
        .isGreaterThan(fetches.size() * 9L / 10);
  }

  /** More readers come at once than may be unproven: the others are rejected, and come again. */
  @Test
  void shouldTryAgainWhenTooManyReadersComeAtOnce() throws Exception {
    start(100, "connections.max", "100");
    fabric.delayEvents((to, type) -> type == ConnectionEvent.Type.ESTABLISHED ? 20 * MS : 0);
    fetchAllOfFirst();
    awaitAnswers(5_000 * MS);
    assertThat(fabric.executors().get(0).count(Counter.CONNECTIONS_REFUSED)).isGreaterThan(20);
    assertAllAreRead();
  }

  /** The answers to some requests wait for buffers. */
  @Test
  void shouldProveMoreReadersAtOnceThanThereAreBuffersForAnswers() throws Exception {
    start(2 * MemoryShares.MAX_ANSWERS);
    fetchAllOfFirst();
    awaitAnswers(1_000 * MS);
    assertAllAreRead();
    assertThat(fabric.executors().get(0).count(Counter.CONNECTIONS_REFUSED)).isZero();
  }

  /** Figures of executor 0. */
  private record Figures(
      int executors,
      int connections,
      int requests,
      long refused,
      long linkBytes,
      long linkBytesPerPeer,
      double allBlocksMs) {}

  /** Its result is {@code target/growth.json}; nothing is timed. */
  @Test
  void shouldPinAtMost106KibForEachOfAThousandPeers() throws Exception {
    List<Figures> figures = new ArrayList<>();
    for (int executors : new int[] {30, 100, 300, 1_000}) {
      figures.add(measure(executors));
    }
    assertThat(figures.get(3).linkBytesPerPeer).isLessThanOrEqualTo(PEER_BYTES);
    Files.createDirectories(Path.of("target"));
    new ObjectMapper()
        .writerWithDefaultPrettyPrinter()
        .writeValue(Path.of("target/growth.json").toFile(), figures);
  }

  private Figures measure(int executors) throws Exception {
    renewFabric();
    fetches.clear();
    answers = 0;
    start(executors);
    fetchAllOfFirst();
    awaitAnswers(5_000 * MS);
    assertAllAreRead();
    VirtualExecutor first = fabric.executors().get(0);
    int peers = executors - 1;
    assertThat(first.connections()).isEqualTo(2 * peers);
    assertThat(first.maxLinkBytes()).isLessThanOrEqualTo(peers * PEER_BYTES + ANSWER_BYTES);
    return new Figures(
        executors,
        first.connections(),
        first.requests(),
        first.count(Counter.CONNECTIONS_REFUSED),
        first.maxLinkBytes(),
        first.maxLinkBytes() / peers,
        fabric.nowNs() / (double) MS);
  }
}
