// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.transport;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.sparkrdma.shuffle.fetch.BlockRange;
import org.sparkrdma.shuffle.fetch.FirstFetch;
import org.sparkrdma.shuffle.metrics.Counter;
import org.sparkrdma.shuffle.metrics.FallbackReason;
import org.sparkrdma.shuffle.settings.ServeSettings;
import org.sparkrdma.shuffle.thread.ThreadShortageException;
import org.sparkrdma.shuffle.transport.TestExecutor.Options;
import org.sparkrdma.verbs.VerbsException;

/** Two transports or more of one JVM, at the seam of fetch and serve. */
class RdmaTransportTest extends TransportFixture {
  private static List<BlockRange> blocksOf(long map, int count) {
    List<BlockRange> blocks = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      blocks.add(block(map, i, i + 1));
    }
    return blocks;
  }

  private static void assertRead(TestExecutor server, CollectedBlocks result) throws Exception {
    assertRight(server, result.blocks(), result.await());
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void shouldReadBlocksOfManySizes(boolean agentPosts) throws Exception {
    Options options = new Options(2);
    TestExecutor server = start(1);
    TestExecutor reader = start(agentPosts ? options.agentPosts() : options);
    server
        .outputs()
        .write(7, new Random(1), 0, 1, 100, 4096, 65_536, 65_537, 1 << 20, (5 << 20) + 3);
    for (int round = 0; round < 3; round++) {
      assertRead(server, reader.fetch(server.endpoint(), blocksOf(7, 8)));
      assertRead(server, reader.fetch(server.endpoint(), List.of(block(7, 0, 8))));
      assertRead(server, reader.fetch(server.endpoint(), List.of(block(7, 3, 4))));
    }
    assertThat(reader.connections()).isEqualTo(1);
    assertThat(server.connections()).isEqualTo(1);
  }

  /** The leak checks look at what is left. */
  @ParameterizedTest
  @ValueSource(ints = {0, 1})
  void shouldLeaveNothingWhenTheSystemRefusesOneOfItsThreads(int allowed) {
    List<Thread> started = new ArrayList<>();
    Options options =
        new Options(1)
            .starts(
                thread -> {
                  if (started.size() == allowed) {
                    OutOfMemoryError refusal =
                        new OutOfMemoryError("unable to create native thread");
                    throw ThreadShortageException.of(thread.getName(), refusal);
                  }
                  thread.start();
                  started.add(thread);
                });
    assertThatThrownBy(() -> start(options)).isInstanceOf(ThreadShortageException.class);
    assertThat(started).hasSize(allowed).noneMatch(Thread::isAlive);
  }

  @Test
  void shouldUseADeviceThatCannotLimitAccessOnlyOnATrustedFabric() throws Exception {
    Options untrusted = new Options(1).on(LimitedEngine.over(TestEngine.load(Map.of())));
    assertThatThrownBy(() -> start(untrusted.untrusted()))
        .isInstanceOf(VerbsException.class)
        .hasMessageContaining("cannot change the access of its connected queue pairs")
        .hasMessageContaining("spark.shuffle.rdma.fabric.trusted=true");
    start(new Options(2).on(LimitedEngine.over(TestEngine.load(Map.of()))).trusted());
  }

  /**
   * As a new executor does; it counts as a LOCATE that it served, and in nothing that it read. Both
   * ends of the connection are closed at once.
   */
  @Test
  void shouldAnswerItself() throws Exception {
    TestExecutor server = start(1);
    TestExecutor reader = start(2);
    server.outputs().write(7, new Random(1), 4096);
    FirstFetch.begin(reader.transport(), reader.endpoint());
    while (reader.count(Counter.LOCATES_SERVED) == 0 || reader.connections() > 0) {
      Thread.onSpinWait();
    }
    assertRead(server, reader.fetch(server.endpoint(), blocksOf(7, 1)));
    assertThat(reader.count(Counter.RDMA_BLOCKS_READ)).isEqualTo(1);
    for (FallbackReason reason : FallbackReason.values()) {
      assertThat(reader.count(reason)).as(reason.label()).isZero();
    }
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void shouldReadMoreBlocksThanALocateNames(boolean agentPosts) throws Exception {
    Options options = new Options(2);
    int[] lengths = new Random(5).ints(1_000, 0, 3_000).toArray();
    TestExecutor server = start(1);
    TestExecutor reader = start(agentPosts ? options.agentPosts() : options);
    server.outputs().write(3, new Random(2), lengths);
    List<CollectedBlocks> results = new ArrayList<>();
    for (int i = 0; i < 5; i++) {
      results.add(reader.fetch(server.endpoint(), blocksOf(3, lengths.length)));
    }
    for (CollectedBlocks result : results) {
      assertRead(server, result);
    }
  }

  /** Copies of the first blocks fill all buffers of the server until their lease ends. */
  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void shouldReadARequestThatIsLargerThanAllCopyBuffers(boolean agentPosts) throws Exception {
    Options options = new Options(2);
    int[] lengths = new Random(5).ints(120, 240_000, 260_000).toArray();
    lengths[7] = 5 << 20;
    TestExecutor server = start(new Options(1).mode(ServeSettings.Mode.COPY));
    TestExecutor reader = start(agentPosts ? options.agentPosts() : options);
    server.outputs().write(3, new Random(2), lengths);
    server.outputs().write(4, new Random(3), lengths);
    // Both are known, so that the first request takes all buffers.
    assertRead(server, reader.fetch(server.endpoint(), List.of(block(3, 0, 1), block(4, 0, 1))));
    CollectedBlocks first = reader.fetch(server.endpoint(), blocksOf(3, lengths.length));
    CollectedBlocks second = reader.fetch(server.endpoint(), blocksOf(4, lengths.length));
    assertRead(server, first);
    assertThat(second.await().reasons().keySet()).isSubsetOf("peer-busy");
  }

  @Test
  void shouldSendBlocksThatTheServerDoesNotHaveToTcp() throws Exception {
    TestExecutor server = start(1);
    TestExecutor reader = start(2);
    server.outputs().write(1, new Random(1), 1_000);
    CollectedBlocks result =
        reader.fetch(server.endpoint(), List.of(block(9, 0, 1), block(1, 0, 1))).await();
    assertThat(result.reason(0)).isEqualTo(FallbackReason.PEER_UNKNOWN_BLOCK);
    assertThat(result.bytes(1)).isEqualTo(server.outputs().expected(block(1, 0, 1)));
  }

  @Test
  void shouldSendBlocksToTcpWhenTheServerEndsWhileTheyAreRead() throws Exception {
    TestExecutor reader = start(new Options(2).connectTimeout(Duration.ofMillis(500)));
    TestExecutor server = start(1);
    int[] lengths = new Random(3).ints(200, 100_000, 300_000).toArray();
    server.outputs().write(1, new Random(1), lengths);
    assertRead(server, reader.fetch(server.endpoint(), List.of(block(1, 0, 1))));
    CollectedBlocks result = reader.fetch(server.endpoint(), blocksOf(1, 200));
    close(server);
    result.await();
    for (int i = 0; i < 200; i++) {
      if (result.wasRead(i)) {
        assertThat(result.bytes(i)).isEqualTo(server.outputs().expected(block(1, i, i + 1)));
      }
    }
  }

  @Test
  void shouldSettleEachOpenBlockOnceWhenItCloses() throws Exception {
    TestExecutor server = start(1);
    int[] lengths = new Random(3).ints(400, 10_000, 100_000).toArray();
    server.outputs().write(1, new Random(1), lengths);
    TestExecutor reader = start(2);
    List<CollectedBlocks> results = new ArrayList<>();
    for (int i = 0; i < 3; i++) {
      results.add(reader.fetch(server.endpoint(), blocksOf(1, 400)));
    }
    close(reader);
    for (CollectedBlocks result : results) {
      result.await();
    }
    CollectedBlocks late = reader.fetch(server.endpoint(), blocksOf(1, 1)).await();
    assertThat(late.reason(0)).isEqualTo(FallbackReason.STOPPED);
  }
}
