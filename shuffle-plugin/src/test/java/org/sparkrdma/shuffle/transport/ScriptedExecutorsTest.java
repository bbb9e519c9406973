// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.transport;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.sparkrdma.shuffle.CapturedLog;
import org.sparkrdma.shuffle.fetch.BlockRange;
import org.sparkrdma.shuffle.metrics.Counter;
import org.sparkrdma.shuffle.serve.VirtualBlockServer;
import org.sparkrdma.shuffle.settings.ServeSettings;
import org.sparkrdma.shuffle.settings.ShuffleSettings;
import org.sparkrdma.shuffle.tools.doctor.FakeMachine;
import org.sparkrdma.verbs.VerbsException;
import org.sparkrdma.verbs.ibverbs.ffi.ScriptedLibrary;

/**
 * Executors on one device that gets the settings of packets at both ends of a connection, refuses
 * another completion queue, or destroys objects slowly.
 */
class ScriptedExecutorsTest extends ScriptedExecutors {
  private static final List<BlockRange> BLOCKS = List.of(new BlockRange(0, 1, 0, 1));
  private static final int BYTES = 100_000;

  /** Room for one connection of {@link TestExecutor}. */
  private static final int ONE_CONNECTION = 85;

  private static final List<BlockRange> MANY =
      IntStream.range(0, 9).mapToObj(i -> new BlockRange(0, 1, i, i + 1)).toList();

  private static final int SLOW_MS = 30;
  private static final int EIO = 5;
  private static final int ENOSYS = 38;
  private static final int TRAFFIC_CLASS = 104;
  private static final int INITIATOR_AND_RESPONDERS = 3;

  /** Before the executors are closed. */
  @AfterEach
  void leaveIdleAgents() throws InterruptedException {
    assertAgentsIdle();
  }

  @Test
  void shouldPassTheSettingsOfPacketsToTheDeviceAtBothEnds() throws Exception {
    var defaults = ShuffleSettings.defaults().transport().packets();
    TestExecutor reader = start(1, options -> options.trafficClass(TRAFFIC_CLASS));
    connect(reader, start(2, options -> options.trafficClass(TRAFFIC_CLASS)));

    for (boolean ofInitiator : new boolean[] {true, false}) {
      assertThat(library.parameter("retry_count", ofInitiator))
          .isEqualTo(6)
          .isEqualTo(defaults.ackRetries());
      assertThat(library.parameter("ack_timeout", ofInitiator))
          .isEqualTo(17)
          .isEqualTo(defaults.ackTimeout());
      assertThat(library.parameter("tos", ofInitiator)).isEqualTo(TRAFFIC_CLASS);
    }
  }

  @Test
  @DisplayName("rdma_set_option fails for ever with errno 38, for several connections")
  void shouldLogThatTheKernelLacksTheOptionOnceForEachExecutor() throws Exception {
    library.fail("rdma_set_option", ENOSYS, 1, ScriptedLibrary.FOR_EVER);
    try (CapturedLog log = new CapturedLog()) {
      TestExecutor reader = connect(1, 2);
      connect(reader, start(3));

      assertThat(log.warnings())
          .filteredOn(line -> line.contains("option=RDMA_OPTION_ID_ACK_TIMEOUT value=17"))
          .hasSize(INITIATOR_AND_RESPONDERS)
          .allMatch(line -> line.contains("device=scripted0") && line.contains("errno=38 ("));
    }
    assertThat(library.parameter("ack_timeout", true)).isZero();
    assertThat(library.parameter("tos", true)).as("that of the system").isZero();
  }

  /** Such a driver may report a limit of access that it does not enforce. */
  @ParameterizedTest(name = "the vendor id of hns, whose driver {0}")
  @ValueSource(strings = {"works", "cannot be queried", "echoes access, and keeps it"})
  void shouldStartOnADriverThatIsNotKnownOnATrustedFabricOnly(String driver) throws Exception {
    library.limit("vendor", 0x19e5);
    if (driver.startsWith("cannot")) {
      library.fail("ibv_query_qp", EIO, 1, ScriptedLibrary.FOR_EVER);
    } else if (driver.startsWith("echoes")) {
      library.limit("kept_access", 1);
      library.limit("echoed_access", 1);
    }
    assertThatThrownBy(() -> start(1))
        .isInstanceOf(VerbsException.class)
        .hasMessageContaining("vendor_id=0x19e5")
        .hasMessageContaining("spark.shuffle.rdma.fabric.trusted=true");
    connect(start(2, TestExecutor.Options::trusted), start(3, TestExecutor.Options::trusted));
  }

  /** Vendors change older kernels. */
  @ParameterizedTest(name = "Linux {0} on a device that pins files for writing: {1}")
  @CsvSource({
    "6.12.117, 1, 'are served by copies: Linux 6.12.117 would write registered files of ext4 again,"
        + " as a trial shows: ibv_reg_mr failed: errno=14 ('",
    "5.14.0-570.el9, 0, 'may be registered: Linux 5.14.0-570.el9 does not write registered files of"
        + " ext4 again, as a trial shows'"
  })
  void shouldRegisterMapOutputsWhereATrialAllowsIt(String release, int writePins, String line)
      throws Exception {
    Path root = directory.resolve("root");
    new FakeMachine(root).file("proc/sys/kernel/osrelease", release);
    library.limit("write_pins", writePins);
    try (CapturedLog log = CapturedLog.fromInfo("org.sparkrdma.shuffle.serve")) {
      TestExecutor server =
          start(
              1,
              with ->
                  with.mode(ServeSettings.Mode.AUTO)
                      .servers(parameters -> VirtualBlockServer.on(root, parameters)));
      assertThat(log.warnings()).anyMatch(text -> text.contains(line));
      if (writePins > 0) {
        // The scripted device reads the memory of this process only, not mapped files.
        connect(start(2), server);
        assertThat(server.count(Counter.WINDOWS_REGISTERED)).isZero();
      }
    }
  }

  private TestExecutor connect(long reader, long server) throws Exception {
    TestExecutor started = start(reader);
    connect(started, start(server));
    return started;
  }

  private static void connect(TestExecutor reader, TestExecutor server) throws Exception {
    server.outputs().write(1, new Random(1), 1000);
    awaitReads(reader, server, BLOCKS);
  }

  @ParameterizedTest(
      name = "ibv_create_cq fails for ever with errno {0} when further peers need another queue")
  @ValueSource(ints = {12, 22})
  void shouldReadFromTheFirstPeerWhileTheDeviceRefusesQueues(int errno) throws Exception {
    TestExecutor reader = start(1, options -> options.maxCompletionQueueDepth(ONE_CONNECTION));
    List<TestExecutor> servers = new ArrayList<>();
    for (int i = 0; i < 3; i++) {
      TestExecutor server = start(2 + i);
      server.outputs().write(1, new Random(i), BYTES);
      servers.add(server);
    }
    TestExecutor first = servers.get(0);
    awaitReads(reader, first, BLOCKS);
    library.fail("ibv_create_cq", errno, 1, ScriptedLibrary.FOR_EVER);
    try (CapturedLog log = new CapturedLog()) {
      for (TestExecutor other : servers.subList(1, servers.size())) {
        assertThat(fetch(reader, other, BLOCKS).reasons()).containsOnlyKeys("pool-empty");
        awaitReads(reader, first, BLOCKS);
      }
      assertThat(log.warnings())
          .filteredOn(line -> line.startsWith("The device refuses another completion queue"))
          .as("logged once")
          .hasSize(1);
    }
    assertThat(library.hits()).as("calls that failed").isGreaterThanOrEqualTo(2);
    assertThat(reader.count(Counter.PEERS_QUARANTINED)).isZero();
    assertThat(reader.count(Counter.CONNECTIONS_CLOSED)).isZero();

    library.reset();
    for (TestExecutor server : servers) {
      awaitReads(reader, server, BLOCKS);
    }
  }

  @ParameterizedTest(name = "an executor ends while others fetch, and each {0} takes 30 ms")
  @ValueSource(strings = {"rdma_destroy_qp", "ibv_dereg_mr", "ibv_destroy_cq", "rdma_destroy_id"})
  void shouldReadFromOtherExecutorsWhileOneEndsSlowly(String call) throws Exception {
    TestExecutor reader = start(1);
    TestExecutor server = start(2);
    TestExecutor ending = start(3);
    server.outputs().write(1, new Random(1), IntStream.generate(() -> BYTES).limit(9).toArray());
    awaitReads(reader, server, MANY);
    awaitReads(ending, server, MANY);
    long before = library.calls(call);
    library.delay(call, SLOW_MS);

    CompletableFuture<Void> end = CompletableFuture.runAsync(() -> close(ending));
    do {
      CollectedBlocks collected = fetch(reader, server, MANY);
      assertThat(collected.reasons()).isEmpty();
      assertRight(server, MANY, collected);
    } while (!end.isDone());
    end.get();

    assertThat(library.calls(call)).as("calls that were slow").isGreaterThan(before);
    assertThat(reader.count(Counter.CONNECTIONS_CLOSED)).isZero();
  }
}
