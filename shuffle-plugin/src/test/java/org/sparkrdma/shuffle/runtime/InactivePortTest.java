// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.runtime;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.apache.spark.SparkEnv;
import org.apache.spark.shuffle.IndexShuffleBlockResolver;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.sparkrdma.shuffle.CapturedLog;
import org.sparkrdma.shuffle.IdleThreads;
import org.sparkrdma.shuffle.metrics.ShuffleCounters;
import org.sparkrdma.shuffle.runtime.RunningParts.TransportStart;
import org.sparkrdma.shuffle.runtime.RuntimeStatus.State;
import org.sparkrdma.shuffle.settings.ShuffleSettings;
import org.sparkrdma.verbs.Verbs;
import org.sparkrdma.verbs.ibverbs.ScriptedDevice;
import org.sparkrdma.verbs.ibverbs.ScriptedEngine;
import org.sparkrdma.verbs.ibverbs.ScriptedHost;
import org.sparkrdma.verbs.ibverbs.ffi.ScriptedLibrary;
import org.sparkrdma.verbs.spi.EngineUnavailableException;

/** The start on the ibverbs engine, loaded as its provider loads it, while no port is ready. */
@Tag("slow")
class InactivePortTest extends RuntimeFixture {
  /** IBV_PORT_INIT: the cable is there, and no subnet manager has configured the port. */
  private static final int INIT = 2;

  private static final int EAGAIN = 11;

  /** A link-local address, which the port has before DHCP. */
  private static final byte[] LINK_LOCAL = {
    (byte) 0xfe, (byte) 0x80, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1
  };

  @RegisterExtension static final ScriptedDevice DEVICE = new ScriptedDevice();

  @TempDir private Path root;
  private ScriptedHost host;

  @BeforeEach
  void createSystemFiles() throws IOException {
    host = new ScriptedHost(root).withDeviceFiles();
  }

  private Verbs.Choice choose() {
    try {
      return new Verbs.Choice(host.load(DEVICE.library()), List.of());
    } catch (EngineUnavailableException e) {
      return new Verbs.Choice(null, List.of("ibverbs: " + e.getMessage()), e.isTransient());
    }
  }

  @Test
  @DisplayName("no port is active at the first start, and one becomes active later")
  void shouldStartWhenAPortThatWasDownAtTheStartBecomesActive() throws Exception {
    DEVICE.library().limit("port_state", INIT);

    assertStartsWhenReady(ScriptedEngine.DEVICE + " port 1 is not active: state=INIT");
  }

  @Test
  @DisplayName("the only port has no IP address at the first start, and gets one later")
  void shouldStartWhenAnActivePortGetsItsAddress() throws Exception {
    host.withGid(LINK_LOCAL, "");

    assertStartsWhenReady(ScriptedEngine.DEVICE + " port 1 has no IP address");
  }

  private static void closeIdle(RdmaRuntime runtime) throws InterruptedException {
    IdleThreads.assertIdle();
    runtime.close();
  }

  private static TransportStart realTransports() {
    SparkEnv env = SparkEnv.get();
    return RunningParts.rdmaTransports(
        env,
        (IndexShuffleBlockResolver) env.shuffleManager().shuffleBlockResolver(),
        ShuffleSettings.defaults(),
        new ShuffleCounters());
  }

  @Test
  @DisplayName("the device cannot be opened twice; librdmacm drops for ever what it cannot open")
  void shouldStartOnADeviceThatCouldNotBeOpenedAtFirst() throws Exception {
    firstRestart = Duration.ofMillis(1);
    DEVICE.library().limit("failing_opens", 2);
    try (CapturedLog log = new CapturedLog()) {
      RdmaRuntime runtime =
          runtime((name, settings) -> choose(), parts -> engine.transport(), List.of());
      runtime.start();

      assertThat(log.awaitWarnings(1).get(0))
          .contains("until it can be started", "ibv_open_device failed: errno=5");
      awaitState(runtime, State.UP);
      runtime.require(WAIT);
      closeIdle(runtime);
    }
  }

  @ParameterizedTest(name = "ibv_open_device fails twice with errno {0} at the first start")
  @ValueSource(ints = {5, 11, 16, 19, 24})
  void shouldStartOnADeviceThatDidNotOpenAtFirst(int errno) throws Exception {
    firstRestart = Duration.ofMillis(1);
    DEVICE.library().fail("ibv_open_device", errno, 1, 2);
    try (CapturedLog log = new CapturedLog()) {
      RdmaRuntime runtime =
          runtime((name, settings) -> choose(), parts -> engine.transport(), List.of());
      runtime.start();

      assertThat(log.awaitWarnings(1).get(0))
          .contains("until it can be started", "ibv_open_device failed: errno=" + errno)
          .matches(
              line -> line.contains("hca_handle") == (errno == EAGAIN), "names the control group");
      awaitState(runtime, State.UP);
      runtime.require(WAIT);
      closeIdle(runtime);
    }
  }

  @ParameterizedTest(name = "{0} fails for ever with errno {1} at the first start")
  @CsvSource({
    "ibv_open_device, 12, no RDMA device with reliable connections",
    "ibv_open_device, 13, no RDMA device with reliable connections",
    "ibv_get_device_list, 38, rdma_get_devices failed: errno=19"
  })
  void shouldStayOffWithTheReasonWhereNoDeviceCanBeUsed(String call, int errno, String reason)
      throws Exception {
    DEVICE.library().fail(call, errno, 1, ScriptedLibrary.FOR_EVER);

    assertStaysOff(reason);
  }

  @Test
  @DisplayName("the device answers 256 READs at once, of which librdmacm keeps 0")
  void shouldStayOffWithTheReasonWhereTheLibraryKeepsNoReads() throws Exception {
    DEVICE.library().limit("rd_atom", 256);

    assertStaysOff("librdmacm allows no READ on this device");
  }

  private void assertStaysOff(String reason) throws Exception {
    try (CapturedLog log = new CapturedLog()) {
      RdmaRuntime runtime = runtime((name, settings) -> choose(), realTransports(), List.of());
      runtime.start();

      awaitState(runtime, State.OFF);
      assertThat(log.awaitWarnings(1)).singleElement().asString().contains(reason);
      assertThat(runtime.mayFetch()).isFalse();
      closeIdle(runtime);
    }
  }

  /** A reset of the device's script and the files of a usable device make the port ready. */
  private void assertStartsWhenReady(String... reasons) throws Exception {
    firstRestart = Duration.ofMillis(1);
    try (CapturedLog log = new CapturedLog()) {
      RdmaRuntime runtime =
          runtime((name, settings) -> choose(), parts -> engine.transport(), List.of());
      runtime.start();

      assertThat(log.awaitWarnings(1))
          .singleElement()
          .asString()
          .contains("until it can be started")
          .contains(reasons);
      DEVICE.library().reset();
      host.withDeviceFiles();

      awaitState(runtime, State.UP);
      runtime.require(WAIT);
      assertThat(runtime.mayFetch()).isTrue();
      closeIdle(runtime);
    }
  }
}
