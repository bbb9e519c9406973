// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.transport;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.RandomAccessFile;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import org.apache.spark.network.buffer.ManagedBuffer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.sparkrdma.shuffle.fetch.BlockRange;
import org.sparkrdma.shuffle.fetch.FetchHandler;
import org.sparkrdma.shuffle.metrics.Counter;
import org.sparkrdma.shuffle.metrics.FallbackReason;

/** Connections that make room for others, on executors that may have one each, in virtual time. */
@Timeout(60)
class EvictionTest {
  private static final int BLOCK_BYTES = 16 << 20;
  private static final long MS = Duration.ofMillis(1).toNanos();
  private static final long LIMIT_NS = Duration.ofSeconds(1).toNanos();

  @TempDir private Path directory;
  private final VirtualFabric fabric = new VirtualFabric();
  private final List<VirtualExecutor> executors = new ArrayList<>();
  private final List<FallbackReason> failures = new ArrayList<>();
  private VirtualExecutor server;
  private VirtualExecutor first;
  private VirtualExecutor second;

  @BeforeEach
  void start() throws Exception {
    Path file = directory.resolve("outputs.data");
    try (RandomAccessFile outputs = new RandomAccessFile(file.toFile(), "rw")) {
      outputs.setLength(2L * BLOCK_BYTES);
    }
    for (int i = 0; i < 3; i++) {
      executors.add(new VirtualExecutor(fabric, i, 1L << 30, 1, file, 2, BLOCK_BYTES));
    }
    server = executors.get(0);
    first = executors.get(1);
    second = executors.get(2);
  }

  @AfterEach
  void close() {
    executors.forEach(VirtualExecutor::close);
  }

  /** Blocks that a reader fetches from the server. */
  private final class Fetch implements FetchHandler {
    private final int count;
    private int answered;

    Fetch(VirtualExecutor reader, int count) {
      this.count = count;
      List<BlockRange> blocks =
          IntStream.range(0, count).mapToObj(map -> new BlockRange(0, map, 0, 1)).toList();
      reader.fetch(server.endpoint(), blocks, this);
    }

    /** Runs until all blocks are answered. */
    void await() {
      assertThat(fabric.runUntil(this::isAnswered, fabric.nowNs() + LIMIT_NS)).isTrue();
    }

    boolean isAnswered() {
      return answered == count;
    }

    @Override
    public void onFetched(int index, ManagedBuffer buffer) {
      answered++;
    }

    @Override
    public void onFailed(int index, FallbackReason reason, String detail) {
      answered++;
      failures.add(reason);
    }
  }

  private void pass(long milliseconds) {
    long untilNs = fabric.nowNs() + milliseconds * MS;
    assertThat(fabric.runUntil(() -> fabric.nowNs() >= untilNs, LIMIT_NS)).isTrue();
  }

  /** The device of the server carries READs out without its process. */
  @Test
  void shouldNotCloseAConnectionWhosePeerReads() {
    Fetch large = new Fetch(first, 16);
    pass(15);
    assertThat(large.isAnswered()).as("16 blocks of 16 MiB at 100 Gb/s in 15 ms").isFalse();
    Fetch other = new Fetch(second, 1);
    large.await();
    assertThat(first.count(Counter.CONNECTIONS_ESTABLISHED)).isEqualTo(1);
    assertThat(first.count(Counter.CONNECTIONS_CLOSED)).isZero();
    other.await();
    assertThat(failures).isEmpty();
  }

  @Test
  void shouldCloseAnIdleConnectionForANewOne() {
    new Fetch(first, 1).await();
    pass(20);
    new Fetch(second, 1).await();
    pass(1);
    assertThat(failures).isEmpty();
    assertThat(first.count(Counter.CONNECTIONS_CLOSED)).isEqualTo(1);
    assertThat(server.count(Counter.CONNECTIONS_REFUSED)).isZero();
  }

  /** The request is on the way while the server closes the connection. */
  @Test
  void shouldAskAgainForABlockWhoseConnectionMadeRoom() {
    new Fetch(first, 1).await();
    new Fetch(second, 1);
    assertThat(fabric.runUntil(() -> server.count(Counter.CONNECTIONS_CLOSED) == 1, LIMIT_NS))
        .isTrue();
    assertThat(first.count(Counter.CONNECTIONS_CLOSED)).as("before it knows").isZero();
    new Fetch(first, 1).await();
    assertThat(failures).isEmpty();
    assertThat(first.count(Counter.CONNECTIONS_ESTABLISHED)).isEqualTo(2);
    assertThat(first.count(Counter.PEERS_QUARANTINED)).isZero();
  }

  @Test
  void shouldUseTcpSoonWhenNoConnectionMayMakeRoom() {
    Fetch busy = new Fetch(first, 2);
    pass(1);
    long beginNs = fabric.nowNs();
    Fetch other = new Fetch(second, 1);
    while (!other.isAnswered()) {
      Fetch next = new Fetch(first, 2);
      busy.await();
      busy = next;
    }
    busy.await();
    assertThat(failures).containsExactly(FallbackReason.PEER_BUSY);
    assertThat(fabric.nowNs() - beginNs).isBetween(100 * MS, 400 * MS);
    assertThat(second.count(Counter.PEERS_QUARANTINED)).isZero();
  }
}
