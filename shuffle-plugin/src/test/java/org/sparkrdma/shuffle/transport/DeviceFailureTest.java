// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.transport;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.sparkrdma.shuffle.fetch.BlockRange;
import org.sparkrdma.shuffle.metrics.Counter;
import org.sparkrdma.shuffle.transport.DeviceFailure.Effect;
import org.sparkrdma.shuffle.transport.DeviceFailure.When;
import org.sparkrdma.verbs.VerbsException;

/**
 * Calls of a device fail or are slow, and its events are lost or come unasked, while blocks are
 * fetched. In every case each block is answered once, with the right bytes if it was read; later
 * blocks are read again, unless RDMA has stopped; agents are idle then, also where RDMA has
 * stopped; nothing is left.
 */
@Tag("slow")
class DeviceFailureTest extends ScriptedExecutors {
  private static final int BYTES = 100_000;

  /** From the failure to the last answer; the connect time-out is 1 s. */
  private static final Duration BOUND = Duration.ofSeconds(20);

  static Stream<DeviceFailure> failures() {
    return DeviceFailure.all();
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("failures")
  void shouldAnswerEveryBlockOnce(DeviceFailure failure) throws Exception {
    library.limit("odp", 1);
    if (failure.when() == When.FROM_THE_START) {
      failure.script().accept(library);
    }
    TestExecutor reader = start(1, options -> reader(options, failure.effect()));
    TestExecutor server = start(2, options -> options.mode(failure.serve()));
    int[] partitions = IntStream.generate(() -> BYTES).limit(10).toArray();
    server.outputs().write(1, new Random(1), partitions);
    server.outputs().write(2, new Random(2), partitions);
    if (failure.when() == When.CONNECTED || failure.when() == When.CONNECTED_OTHER_OUTPUT) {
      awaitReads(reader, server, List.of(new BlockRange(0, 1, 0, 1)));
    }
    int mapId = failure.when() == When.CONNECTED_OTHER_OUTPUT ? 2 : 1;
    List<BlockRange> blocks =
        IntStream.range(1, 10).mapToObj(i -> new BlockRange(0, mapId, i, i + 1)).toList();

    if (failure.when() != When.FROM_THE_START) {
      failure.script().accept(library);
    }
    long startNs = System.nanoTime();
    CollectedBlocks collected = fetch(reader, server, blocks);
    Duration duration = Duration.ofNanos(System.nanoTime() - startNs);

    assertThat(library.hits()).as("the script took effect").isPositive();
    for (int i = 0; i < blocks.size(); i++) {
      if (!collected.failed(i)) {
        assertThat(collected.bytes(i)).isEqualTo(server.outputs().expected(blocks.get(i)));
      }
    }
    System.out.printf("%s: %s of %d%n", failure, collected.reasons(), blocks.size());
    assertThat(List.of(failure.reasons().split(" "))).containsAll(collected.reasons().keySet());
    assertThat(duration).isLessThan(BOUND);
    if (failure.effect().allByTcp()) {
      assertThat(collected.reasons().values().stream().mapToLong(Long::longValue).sum())
          .isEqualTo(blocks.size());
    }
    if (failure.effect().stops()) {
      while (reader.losses().isEmpty() && server.losses().isEmpty()) {
        Thread.onSpinWait();
      }
      assertAgentsIdle();
      if (failure.effect() == Effect.STOPS_UNLESS_TRUSTED) {
        assertThat(reader.losses() + " " + server.losses()).contains("does not change the access");
        requireStartOnATrustedFabricOnly(blocks);
      }
      return;
    }
    requireEffect(failure.effect(), reader);
    library.reset();
    awaitReads(reader, server, blocks);
    while (failure.effect() == Effect.RECONNECTS
        && (openConnections(reader) != 1 || openConnections(server) != 1)) {
      Thread.onSpinWait();
    }
    assertThat(reader.losses()).isEmpty();
    assertThat(server.losses()).isEmpty();
    assertAgentsIdle();
  }

  private static long openConnections(TestExecutor end) {
    return end.count(Counter.CONNECTIONS_ESTABLISHED) - end.count(Counter.CONNECTIONS_CLOSED);
  }

  private void requireStartOnATrustedFabricOnly(List<BlockRange> blocks) throws Exception {
    closeAllWithoutLeaks();
    library.reset();
    // The kernel's own access of a new connection, which nothing changes.
    library.limit("kept_access", 1);
    assertThatThrownBy(() -> start(3))
        .isInstanceOf(VerbsException.class)
        .hasMessageContaining("spark.shuffle.rdma.fabric.trusted=true");
    TestExecutor reader = start(4, TestExecutor.Options::trusted);
    TestExecutor server = start(5, TestExecutor.Options::trusted);
    server.outputs().write(1, new Random(1), IntStream.generate(() -> BYTES).limit(10).toArray());
    awaitReads(reader, server, blocks);
  }

  /** Only a case in which memory is short leaves blocks without memory. */
  private static TestExecutor.Options reader(TestExecutor.Options options, Effect effect) {
    return options
        .pinned(256L << 20, effect == Effect.WAITS ? 1 << 20 : 4 << 20)
        .connectTimeout(Duration.ofSeconds(1));
  }

  private static void requireEffect(Effect effect, TestExecutor reader) {
    long closed = reader.count(Counter.CONNECTIONS_CLOSED);
    long quarantines = reader.count(Counter.PEERS_QUARANTINED);
    switch (effect) {
      case GOES_ON, REPEATS -> assertThat(closed + quarantines).isZero();
      case RECONNECTS -> {
        // It is destroyed soon after its blocks have failed.
        while (reader.count(Counter.CONNECTIONS_CLOSED) == 0) {
          Thread.onSpinWait();
        }
      }
      case GIVES_UP -> {
        // Of one fault nothing remains; that all blocks use TCP was asserted.
      }
      case WAITS, WAITS_ON, SERVES_OTHERWISE, GIVES_UP_FOR_NOW -> assertThat(quarantines).isZero();
      case STOPS, STOPS_UNLESS_TRUSTED -> throw new IllegalStateException("handled above");
    }
  }
}
