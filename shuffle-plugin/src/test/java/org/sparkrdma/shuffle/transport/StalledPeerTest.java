// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.transport;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.sparkrdma.shuffle.metrics.Counter;
import org.sparkrdma.shuffle.metrics.FallbackReason;

/** A reader some of whose peers answer while READs from them make no progress, in virtual time. */
@Timeout(60)
class StalledPeerTest {
  private static final int BLOCK_BYTES = 256 << 10;
  private static final long MS = VirtualFabric.MS;
  private static final long LIMIT_NS = Duration.ofSeconds(90).toNanos();

  private VirtualFabric fabric = new VirtualFabric();
  private final List<VirtualFetch> fetches = new ArrayList<>();
  private VirtualExecutor reader;

  @AfterEach
  void close() {
    fabric.close();
  }

  private void start(int servers, int blockBytes, String... settings) throws Exception {
    fabric.close();
    fabric = new VirtualFabric();
    fetches.clear();
    for (int i = 0; i <= servers; i++) {
      fabric.start(blockBytes, settings);
    }
    reader = fabric.executors().get(0);
  }

  private VirtualExecutor server(int number) {
    return fabric.executors().get(number);
  }

  private VirtualFetch fetch(int server, int blocks) {
    VirtualFetch fetch = new VirtualFetch(reader, server(server).endpoint(), 0, blocks, () -> {});
    fetches.add(fetch);
    return fetch;
  }

  private void awaitAnswers(long maxNs) {
    assertThat(fabric.runUntil(() -> fetches.stream().allMatch(VirtualFetch::isAnswered), maxNs))
        .isTrue();
  }

  private ReadWindow window() throws Exception {
    return new ObjectWalk()
        .from(reader.transport()).stream()
            .filter(TransportContext.class::isInstance)
            .map(TransportContext.class::cast)
            .filter(context -> context.self() == reader.endpoint())
            .findFirst()
            .orElseThrow()
            .window();
  }

  /** All deadlines are over, so no connection has work. */
  private void assertIdle() throws Exception {
    fabric.run(20_000 * MS);
    assertThat(window().postedBytes()).isZero();
    assertThat(new ObjectWalk().from(reader.transport()))
        .filteredOn(object -> object instanceof ReadConnection open && open.isUsable())
        .noneMatch(connection -> ((ReadConnection) connection).isBusy());
  }

  @Test
  void shouldReadFromOthersBesideAPeerWhoseReadsHang() throws Exception {
    start(3, BLOCK_BYTES, "reads.bytes.max", "1m");
    fabric.delayReads(from -> from == server(1) ? VirtualFabric.LOST : 0);
    VirtualFetch hanging = fetch(1, 64);
    fabric.run(10 * MS);
    VirtualFetch one = fetch(2, 64);
    VirtualFetch other = fetch(3, 64);
    fabric.run(1_500 * MS);
    assertThat(one.isRead()).isTrue();
    assertThat(other.isRead()).isTrue();
    assertThat(hanging.read() + hanging.failures().size()).as("its time is not over").isZero();

    awaitAnswers(LIMIT_NS);
    assertThat(hanging.failures()).containsOnlyKeys(FallbackReason.TIMEOUT);
    fabric.run(10 * MS);
    assertThat(reader.count(Counter.CONNECTIONS_CLOSED)).as("of the hanging one").isOne();
    assertIdle();
  }

  /** Each has progress, but the window has room too seldom; some READs of a block are posted. */
  @Test
  void shouldSendReadsThatWereNeverPostedToTcpWithoutAFault() throws Exception {
    start(
        4, 4 * BLOCK_BYTES, "reads.bytes.max", "768k", "pool.max", "36m", "request.timeout", "15s");
    fabric.delayReads(from -> 900 * MS);
    for (int i = 1; i <= 4; i++) {
      fetch(i, 8);
    }
    awaitAnswers(LIMIT_NS);
    assertThat(fetches.get(0).read()).isBetween(1, 7);
    assertThat(fetches).allMatch(fetch -> fetch.failures().containsKey(FallbackReason.TIMEOUT));

    fabric.delayReads(from -> 0);
    fetches.clear();
    for (int i = 2; i <= 4; i++) {
      // They need the memory of all that failed but of READs in flight.
      fetch(i, 11);
    }
    awaitAnswers(5_000 * MS);
    assertThat(fetches).allMatch(VirtualFetch::isRead);
    assertThat(reader.count(Counter.CONNECTIONS_CLOSED)).isZero();
    assertIdle();
  }

  /** READs from the first two peers are well, others take up to 4 s each or hang. */
  @Test
  void shouldReleaseEachByteOfTheWindowOnce() throws Exception {
    for (int seed = 1; seed <= 40; seed++) {
      Random random = new Random(seed);
      int blockBytes = 1 + random.nextInt(random.nextBoolean() ? 10_000 : 1 << 20);
      long maxBytes = BLOCK_BYTES * (1L + random.nextInt(8));
      String timeout = (1 + random.nextInt(6)) + "s";
      String window = Long.toString(maxBytes);
      start(6, blockBytes, "reads.bytes.max", window, "request.timeout", timeout);
      ReadWindow posted = window();
      fabric.delayReads(
          from -> {
            assertThat(posted.postedBytes()).isBetween(1L, maxBytes);
            boolean well = from == server(1) || from == server(2) || random.nextInt(8) > 0;
            long delayNs = random.nextInt(8) == 0 ? VirtualFabric.LOST : random.nextInt(4_000) * MS;
            return well ? 0 : delayNs;
          });
      for (int i = 0; i < 20; i++) {
        int server = 1 + i % 6;
        int blocks = 1 + random.nextInt(200);
        fabric.at(random.nextInt(10_000) * MS, () -> fetch(server, blocks));
      }
      fabric.run(10_000 * MS);
      awaitAnswers(LIMIT_NS);
      for (int i = 1; i <= 2; i++) {
        assertThat(server(i).count(Counter.CONNECTIONS_CLOSED)).as("seed %d", seed).isZero();
      }
      assertIdle();
    }
  }
}
