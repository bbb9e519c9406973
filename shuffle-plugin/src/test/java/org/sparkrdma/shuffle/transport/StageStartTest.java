// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.transport;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.sparkrdma.shuffle.metrics.Counter;
import org.sparkrdma.shuffle.metrics.FallbackReason;
import org.sparkrdma.shuffle.pinned.MemoryShares;
import org.sparkrdma.verbs.cm.ConnectionEvent;

/** Executors that all read from each other at the start of a stage, in virtual time. */
@Tag("slow")
@Timeout(300)
class StageStartTest extends VirtualFixture {
  private static final int BLOCK_BYTES = 16 << 10;
  private static final int MAPS = 2;
  private static final int WAVES = 20;

  /** Pinned for messages and rings of both directions of a peer. */
  private static final long PEER_BYTES = 106 << 10;

  /** Pinned for the answers of all peers together. */
  private static final long ANSWER_BYTES =
      (long) MemoryShares.MAX_ANSWERS * MemoryShares.MESSAGE_BYTES;

  private final List<VirtualFetch> fetches = new ArrayList<>();
  private int answers;

  /** When each reader got its last answer, and how long it has waited in all waves. */
  private long[] answeredNs;

  private long[] waitedNs;

  private void start(int executors, String... settings) throws Exception {
    for (int i = 0; i < executors; i++) {
      fabric.start(executors, BLOCK_BYTES, settings);
    }
    answeredNs = new long[executors];
    waitedNs = new long[executors];
  }

  private void fetch(int reader, int server) {
    VirtualExecutor from = fabric.executors().get(server);
    VirtualExecutor by = fabric.executors().get(reader);
    fetches.add(
        new VirtualFetch(
            by,
            from.endpoint(),
            reader,
            MAPS,
            () -> {
              answers++;
              answeredNs[reader] = fabric.nowNs();
            }));
  }

  /** Tasks of all readers begin together, and all end; returns the part of the fetches by READ. */
  private double wave(Runnable fetchesOfAll) {
    fetches.clear();
    answers = 0;
    long sinceNs = fabric.nowNs();
    Arrays.fill(answeredNs, sinceNs);
    fetchesOfAll.run();
    awaitAnswers(30_000 * MS);
    for (int reader = 0; reader < waitedNs.length; reader++) {
      waitedNs[reader] += answeredNs[reader] - sinceNs;
    }
    return (double) fetches.stream().filter(VirtualFetch::isRead).count() / fetches.size();
  }

  /** The longest wait of a reader in all waves: with TCP none waits for connections. */
  private long longestWaitNs() {
    return Arrays.stream(waitedNs).max().orElseThrow();
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

  /** Some peers have no connection, and take turns in each wave of tasks. */
  @ParameterizedTest
  @CsvSource({"39,0.99", "38,0.99", "20,0.99"})
  void shouldLoseLittleInWavesOfTasksWithTooFewConnections(int connections, double most)
      throws Exception {
    start(41, "connections.max", Integer.toString(connections));
    long beganNs = fabric.nowNs();
    double read = 0;
    for (int wave = 0; wave < WAVES; wave++) {
      read += wave(this::fetchAll) / WAVES;
      fabric.run(2_000 * MS);
    }
    assertThat(read).as("by READ").isGreaterThan(most);
    assertThat(longestWaitNs()).isLessThanOrEqualTo(mayLoseNs(fabric.nowNs() - beganNs));
  }

  /**
   * On a card that takes a millisecond to create a queue pair: 2,500 of them take long. What waits
   * for them uses TCP after half a second, and they go on beside it.
   */
  @ParameterizedTest
  @CsvSource({"1024, 0.65, 0.8", "1250, 0.75, 0.98"})
  void shouldLoseLittleToTwelveHundredAndFiftyPeersAtTheFirstStages(
      int connections, double second, double third) throws Exception {
    start(1_251, "connections.max", Integer.toString(connections));
    fabric.createQueuePairsIn(of -> MS);
    assertThat(wave(this::fetchAllOfFirst)).as("at the first stage").isGreaterThan(0.15);
    fabric.run(5_000 * MS);
    assertThat(wave(this::fetchAllOfFirst)).as("at the second one").isGreaterThan(second);
    fabric.run(15_000 * MS);
    assertThat(wave(this::fetchAllOfFirst)).as("at the third one").isGreaterThan(third);
    assertThat(longestWaitNs()).isLessThanOrEqualTo(mayLoseNs(fabric.nowNs()));
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

  @ParameterizedTest
  @ValueSource(ints = {30, 100, 300, 1_000})
  void shouldPinAtMost106KibForEachPeer(int executors) throws Exception {
    start(executors);
    fetchAllOfFirst();
    awaitAnswers(5_000 * MS);
    assertAllAreRead();
    VirtualExecutor first = fabric.executors().get(0);
    int peers = executors - 1;
    assertThat(first.connections()).isEqualTo(2 * peers);
    assertThat(first.maxLinkBytes).isLessThanOrEqualTo(peers * PEER_BYTES + ANSWER_BYTES);
    assertThat(first.maxLinkBytes / peers)
        .isLessThanOrEqualTo(executors < 1_000 ? Long.MAX_VALUE : PEER_BYTES);
  }
}
