// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.transport;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.sparkrdma.shuffle.fetch.BlockRange;
import org.sparkrdma.shuffle.metrics.Counter;
import org.sparkrdma.shuffle.settings.ServeSettings;
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

  /** From when the device does what its script says. */
  private enum When {
    /** Before it is opened. */
    FROM_THE_START,
    /** Before there is a connection. */
    UNCONNECTED,
    /** The executors are connected, and the server has registered the blocks. */
    CONNECTED,
    /** The executors are connected, and the blocks are of another map output. */
    OTHER_OUTPUT
  }

  /** A reaction of the transport. */
  private enum Effect {
    /** Nothing changes. */
    GOES_ON,
    /** The call or the attempt is repeated. */
    REPEATS,
    /** The connection ends, and the next request makes a new one. */
    RECONNECTS,
    /** Blocks wait for memory for 30 ms. */
    WAITS,
    /** The server answers BUSY, or serves the output from copies. */
    SERVES_OTHERWISE,
    /** Blocks use TCP after the connect time-out, and the attempt waits on for the peer. */
    WAITS_ON,
    /** The attempt ends; the peer is quarantined when another one fails. */
    GIVES_UP,
    /** The attempt ends without a quarantine. */
    GIVES_UP_FOR_NOW,
    /** RDMA ends in the executor until it starts again. */
    STOPS,
    /** RDMA ends in the executor, which starts again on a trusted fabric only. */
    STOPS_UNLESS_TRUSTED;

    /** Whether the attempt of a connection fails, so that no block can come by READ. */
    boolean allByTcp() {
      return this == WAITS_ON || this == GIVES_UP || this == GIVES_UP_FOR_NOW;
    }

    /** Whether RDMA ends in an executor. */
    boolean stops() {
      return this == STOPS || this == STOPS_UNLESS_TRUSTED;
    }
  }

  /**
   * One case for each way in which the transport reacts.
   *
   * @param device what the device does, in steps
   * @param reasons of blocks by TCP; blocks may also come by READ, unless {@link Effect#allByTcp()}
   */
  @ParameterizedTest(name = "{0}, {1}")
  @CsvSource(
      delimiter = '|',
      textBlock =
"""
# Set-up; errno 11, as of a control group of the kernel.
fail rdma_create_id 12 1 1        | UNCONNECTED  | GIVES_UP_FOR_NOW | pool-empty
fail rdma_create_id 22 1 1        | UNCONNECTED  | GIVES_UP         | connect-failed
fail rdma_resolve_addr 19 1 1     | UNCONNECTED  | GIVES_UP         | connect-failed
fail rdma_resolve_route 22 1 1    | UNCONNECTED  | GIVES_UP         | connect-failed
fail rdma_connect 113 1 always    | UNCONNECTED  | GIVES_UP         | connect-failed
fail rdma_accept 22 1 1           | UNCONNECTED  | GIVES_UP         | connect-failed
fail rdma_create_qp 22 1 1        | UNCONNECTED  | GIVES_UP         | connect-failed
fail rdma_create_qp 12 1 1        | UNCONNECTED  | GIVES_UP_FOR_NOW | pool-empty
fail rdma_create_qp 12 2 1        | UNCONNECTED  | GOES_ON          | ''
fail rdma_create_qp 11 1 1        | UNCONNECTED  | GIVES_UP_FOR_NOW | pool-empty
fail rdma_create_qp 11 2 1        | UNCONNECTED  | GOES_ON          | ''
fail ibv_post_recv 5 1 1          | UNCONNECTED  | GIVES_UP         | connect-failed lost-peer
# After three of each end: those of the REQUEST, the REPLY and the CONFIRM.
fail ibv_post_recv 12 7 1         | UNCONNECTED  | GIVES_UP         | connect-failed lost-peer
fail ibv_post_recv 12 8 1         | UNCONNECTED  | RECONNECTS       | ''
fail ibv_post_recv 12 9 1         | UNCONNECTED  | RECONNECTS       | lost-peer
fail ibv_modify_qp 22 1 always    | UNCONNECTED  | STOPS_UNLESS_TRUSTED | connect-failed lost-peer stopped
fail rdma_set_option 38 1 always  | UNCONNECTED  | GOES_ON          | ''
fail ibv_query_qp 95 1 1          | UNCONNECTED  | GOES_ON          | ''
fail rdma_get_cm_event 11 1 3     | UNCONNECTED  | GOES_ON          | ''
fail rdma_get_cm_event 5 1 always | UNCONNECTED  | STOPS            | connect-failed stopped
unanswered 2                      | UNCONNECTED  | REPEATS          | ''
# The peer's host rejects requests because of a stale connection.
stale 2                           | UNCONNECTED  | REPEATS          | ''
stale always                      | UNCONNECTED  | GIVES_UP_FOR_NOW | connect-failed
# No more memory may be locked, not even for rings.
memlock 1                         | UNCONNECTED  | GIVES_UP_FOR_NOW | pool-empty
delay rdma_resolve_route 30       | UNCONNECTED  | GOES_ON          | ''
delay rdma_connect 30             | UNCONNECTED  | GOES_ON          | ''
delay rdma_create_qp 30           | UNCONNECTED  | GOES_ON          | ''
delay ibv_poll_cq 30              | UNCONNECTED  | GOES_ON          | ''
# Events of the set-up.
lose ADDR_RESOLVED 1              | UNCONNECTED  | WAITS_ON         | connect-failed
lose CONNECT_REQUEST 1            | UNCONNECTED  | WAITS_ON         | connect-failed
lose ESTABLISHED 1                | UNCONNECTED  | GOES_ON          | ''
lose ESTABLISHED 2                | UNCONNECTED  | WAITS_ON         | connect-failed
address_error 113                 | UNCONNECTED  | GIVES_UP         | connect-failed
route_error 110                   | UNCONNECTED  | GIVES_UP         | connect-failed
connect_event CONNECT_ERROR       | UNCONNECTED  | GIVES_UP         | connect-failed
connect_event UNREACHABLE         | UNCONNECTED  | GIVES_UP         | connect-failed
connect_event REJECTED            | UNCONNECTED  | GIVES_UP         | connect-failed
connect_event REJECTED, lose REJECTED 1 | UNCONNECTED | WAITS_ON    | connect-failed
# On a connection.
fail ibv_post_send 5 1 1          | CONNECTED    | RECONNECTS       | lost-peer
fail ibv_post_send 5 2 1          | CONNECTED    | RECONNECTS       | lost-peer
fail ibv_post_send 5 3 1          | CONNECTED    | RECONNECTS       | lost-peer
fail ibv_post_send 12 1 5         | CONNECTED    | REPEATS          | ''
fail ibv_post_recv 5 1 1          | CONNECTED    | RECONNECTS       | lost-peer
fail ibv_get_cq_event 11 1 3      | CONNECTED    | GOES_ON          | ''
fail ibv_poll_cq 5 1 always       | CONNECTED    | STOPS            | stopped
fail ibv_req_notify_cq 5 1 always | CONNECTED    | STOPS            | stopped
failing_reads 1                   | CONNECTED    | RECONNECTS       | read-error lost-peer
lose DISCONNECTED always, failing_reads 1 | CONNECTED | RECONNECTS  | read-error lost-peer
# Memory: the window of a map output at the server, and more receive memory at the reader.
fail ibv_reg_mr 12 1 1            | OTHER_OUTPUT | SERVES_OTHERWISE | ''
fail ibv_reg_mr 14 1 always       | OTHER_OUTPUT | SERVES_OTHERWISE | peer-busy pool-empty
fail ibv_reg_mr 12 1 always       | CONNECTED    | WAITS            | pool-empty
memlock 1                         | CONNECTED    | WAITS            | pool-empty
# Events that come unasked; 99 is unknown.
raise CQ_ERR                      | CONNECTED    | STOPS            | lost-peer stopped connect-failed
raise QP_FATAL                    | CONNECTED    | RECONNECTS       | lost-peer
raise SQ_DRAINED                  | CONNECTED    | GOES_ON          | ''
raise 99                          | CONNECTED    | GOES_ON          | ''
raiseOnConnections CONNECT_ERROR  | CONNECTED    | RECONNECTS       | lost-peer
raiseOnConnections ADDR_CHANGE    | CONNECTED    | RECONNECTS       | lost-peer
raiseOnConnections TIMEWAIT_EXIT  | CONNECTED    | GOES_ON          | ''
lose ADDR_CHANGE always, raiseOnConnections ADDR_CHANGE | CONNECTED | GOES_ON | ''
# Their descriptor stays ready.
fail ibv_get_cq_event 5 1 always  | CONNECTED    | STOPS            | lost-peer stopped connect-failed
fail rdma_get_cm_event 5 1 always, raiseOnConnections TIMEWAIT_EXIT | CONNECTED | STOPS | lost-peer stopped connect-failed
fail ibv_get_async_event 5 1 always, raise PORT_ACTIVE | CONNECTED | STOPS | lost-peer stopped connect-failed
# Its limits: READs that it answers at once, of 260 of which librdmacm keeps 4; elements of a request.
rd_atom 1                         | FROM_THE_START | GOES_ON        | ''
rd_atom 260                       | FROM_THE_START | GOES_ON        | ''
sge 1                             | FROM_THE_START | GOES_ON        | ''
""")
  void shouldAnswerEveryBlockOnce(String device, When when, Effect effect, String reasons)
      throws Exception {
    library.limit("odp", 1);
    if (when == When.FROM_THE_START) {
      script(device);
    }
    // Windows on demand: others are not mapped while they are registered, so the simulated device
    // cannot read them.
    boolean registers = device.startsWith("fail ibv_reg_mr");
    TestExecutor reader = start(1, options -> reader(options, effect));
    TestExecutor server =
        start(
            2,
            options -> options.mode(registers ? ServeSettings.Mode.ODP : ServeSettings.Mode.COPY));
    int[] partitions = IntStream.generate(() -> BYTES).limit(10).toArray();
    server.outputs().write(1, new Random(1), partitions);
    server.outputs().write(2, new Random(2), partitions);
    if (when == When.CONNECTED || when == When.OTHER_OUTPUT) {
      awaitReads(reader, server, List.of(new BlockRange(0, 1, 0, 1)));
    }
    int mapId = when == When.OTHER_OUTPUT ? 2 : 1;
    List<BlockRange> blocks =
        IntStream.range(1, 10).mapToObj(i -> new BlockRange(0, mapId, i, i + 1)).toList();

    if (when != When.FROM_THE_START) {
      script(device);
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
    System.out.printf("%s, %s: %s of %d%n", device, when, collected.reasons(), blocks.size());
    assertThat(List.of(reasons.split(" "))).containsAll(collected.reasons().keySet());
    assertThat(duration).isLessThan(BOUND);
    if (effect.allByTcp()) {
      assertThat(collected.reasons().values().stream().mapToLong(Long::longValue).sum())
          .isEqualTo(blocks.size());
    }
    if (effect.stops()) {
      while (reader.losses().isEmpty() && server.losses().isEmpty()) {
        Thread.onSpinWait();
      }
      assertAgentsIdle();
      if (effect == Effect.STOPS_UNLESS_TRUSTED) {
        assertThat(reader.losses() + " " + server.losses()).contains("does not change the access");
        requireStartOnATrustedFabricOnly(blocks);
      }
      return;
    }
    requireEffect(effect, reader);
    library.reset();
    awaitReads(reader, server, blocks);
    while (effect == Effect.RECONNECTS
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
