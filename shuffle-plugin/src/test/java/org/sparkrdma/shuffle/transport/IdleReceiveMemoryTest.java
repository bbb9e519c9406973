// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.transport;

import static org.assertj.core.api.Assertions.assertThat;

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
import org.sparkrdma.shuffle.metrics.FallbackReason;

/** Deregistration of receive memory after a stage that has used much of it; virtual time. */
@Timeout(60)
class IdleReceiveMemoryTest {
  private static final int BLOCKS = 128;
  private static final int BLOCK_BYTES = 4 << 20;
  private static final long FILLED_BYTES = (long) BLOCKS * BLOCK_BYTES;
  private static final Duration IDLE_TIMEOUT = Duration.ofMinutes(1);

  @TempDir private Path directory;
  private final VirtualFabric fabric = new VirtualFabric();
  private final List<ManagedBuffer> held = new ArrayList<>();
  private VirtualExecutors executors;
  private VirtualExecutor reader;
  private VirtualExecutor server;

  @BeforeEach
  void start() throws Exception {
    executors = new VirtualExecutors(fabric, directory, 2, 4L << 30, 16, 1, BLOCK_BYTES);
    reader = executors.get(0);
    server = executors.get(1);
  }

  @AfterEach
  void close() {
    executors.close();
  }

  /** Holds what it gets. */
  private final class Holder implements FetchHandler {
    @Override
    public void onFetched(int index, ManagedBuffer buffer) {
      held.add(buffer.retain());
    }

    @Override
    public void onFailed(int index, FallbackReason reason, String detail) {
      throw new IllegalStateException(reason + " " + detail);
    }
  }

  @Test
  void shouldDeregisterAFewRegionsInAnIterationOfTheAgent() {
    List<BlockRange> blocks =
        IntStream.range(0, BLOCKS).mapToObj(map -> new BlockRange(0, map, 0, 1)).toList();
    reader.fetch(server.endpoint(), blocks, new Holder());
    assertThat(fabric.runUntil(() -> held.size() == BLOCKS, Duration.ofSeconds(10).toNanos()))
        .isTrue();
    assertThat(reader.receiveBytes()).isGreaterThanOrEqualTo(FILLED_BYTES);
    held.forEach(ManagedBuffer::release);

    long limitNs = fabric.nowNs() + 2 * IDLE_TIMEOUT.plusSeconds(1).toNanos();
    assertThat(fabric.runUntil(() -> reader.receiveBytes() == 0, limitNs))
        .as("all idle memory is deregistered")
        .isTrue();

    assertThat(reader.maxDeregistrations()).isEqualTo(ControlBuffers.MAX_TRIMMED);
  }
}
