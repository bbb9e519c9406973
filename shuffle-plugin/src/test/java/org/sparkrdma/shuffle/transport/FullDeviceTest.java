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
import org.sparkrdma.shuffle.metrics.Counter;
import org.sparkrdma.shuffle.metrics.FallbackReason;

/**
 * A device that registers no more regions, although the pinned budget could grant more memory; in
 * virtual time.
 */
@Timeout(60)
class FullDeviceTest {
  private static final int BLOCK_BYTES = 1 << 20;
  private static final int MAPS = 64;
  private static final long MS = Duration.ofMillis(1).toNanos();

  /** Maximum time that a block waits for memory. */
  private static final long MAX_WAIT_NS = 30 * MS;

  @TempDir private Path directory;
  private final VirtualFabric fabric = new VirtualFabric();
  private VirtualExecutors executors;
  private VirtualExecutor full;
  private VirtualExecutor other;

  @BeforeEach
  void start() throws Exception {
    executors = new VirtualExecutors(fabric, directory, 2, 1L << 30, 16, 1, BLOCK_BYTES);
    full = executors.get(0);
    other = executors.get(1);
  }

  @AfterEach
  void close() {
    executors.close();
  }

  /** Counts the answers of blocks. */
  private static final class Answers implements FetchHandler {
    private final List<FallbackReason> failures = new ArrayList<>();
    private int fetched;

    @Override
    public void onFetched(int index, ManagedBuffer buffer) {
      fetched++;
    }

    @Override
    public void onFailed(int index, FallbackReason reason, String detail) {
      failures.add(reason);
    }
  }

  private Answers fetch(VirtualExecutor reader, VirtualExecutor server, int maps, long limitNs) {
    Answers answers = new Answers();
    List<BlockRange> blocks =
        IntStream.range(0, maps).mapToObj(map -> new BlockRange(0, map, 0, 1)).toList();
    reader.fetch(server.endpoint(), blocks, answers);
    assertThat(
            fabric.runUntil(
                () -> answers.fetched + answers.failures.size() == maps, fabric.nowNs() + limitNs))
        .isTrue();
    return answers;
  }

  private void pass(long durationNs) {
    long untilNs = fabric.nowNs() + durationNs;
    fabric.runUntil(() -> fabric.nowNs() >= untilNs, untilNs + MS);
  }

  @Test
  void shouldReadBlocksWithTheRegionsOfIdleWindows() {
    assertThat(fetch(other, full, MAPS, 1_000 * MS).failures).isEmpty();
    pass(20 * MS);
    assertThat(full.count(Counter.WINDOWS_REGISTERED)).isBetween(MAPS / 2L, (long) MAPS);
    full.device().limitRegions(full.device().regions());

    Answers answers = fetch(full, other, 16, MAX_WAIT_NS + 10 * MS);

    assertThat(answers.failures).isEmpty();
    assertThat(answers.fetched).as("by READ").isEqualTo(16);
    assertThat(full.count(Counter.WINDOWS_EVICTED)).isBetween(4L, MAPS / 2L);
    assertThat(full.device().refusals()).as("registrations tried").isBetween(1, 10);
  }
}
