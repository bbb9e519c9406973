// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.transport;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.sparkrdma.shuffle.CapturedLog;
import org.sparkrdma.shuffle.fetch.BlockRange;
import org.sparkrdma.shuffle.settings.ShuffleSettings;
import org.sparkrdma.verbs.ibverbs.ffi.ScriptedLibrary;

/** The settings of packets reach the device at both ends of a connection. */
class PacketParametersTest extends ScriptedExecutors {
  private static final List<BlockRange> BLOCKS = List.of(new BlockRange(0, 1, 0, 1));
  private static final int ENOSYS = 38;
  private static final int TRAFFIC_CLASS = 104;
  private static final int INITIATOR_AND_RESPONDERS = 3;

  /** Before the executors are closed. */
  @AfterEach
  void leaveIdleAgents() throws InterruptedException {
    assertAgentsIdle();
  }

  @Test
  void shouldPassTheDefaultsToTheDeviceAtBothEnds() throws Exception {
    var defaults = ShuffleSettings.defaults().transport(1L << 30).packets();
    connect(1, 2);

    for (boolean ofInitiator : new boolean[] {true, false}) {
      assertThat(library.parameter("retry_count", ofInitiator))
          .isEqualTo(6)
          .isEqualTo(defaults.ackRetries());
      assertThat(library.parameter("ack_timeout", ofInitiator))
          .isEqualTo(17)
          .isEqualTo(defaults.ackTimeout());
      assertThat(library.parameter("tos", ofInitiator)).as("that of the system").isZero();
    }
  }

  @Test
  void shouldPassTheTrafficClassToTheDeviceAtBothEnds() throws Exception {
    TestExecutor reader = start(1, options -> options.trafficClass(TRAFFIC_CLASS));
    connect(reader, start(2, options -> options.trafficClass(TRAFFIC_CLASS)));

    assertThat(library.parameter("tos", true)).isEqualTo(TRAFFIC_CLASS);
    assertThat(library.parameter("tos", false)).isEqualTo(TRAFFIC_CLASS);
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
}
