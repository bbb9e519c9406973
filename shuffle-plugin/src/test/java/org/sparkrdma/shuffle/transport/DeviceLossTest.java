// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.transport;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.InetAddress;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.sparkrdma.shuffle.CapturedLog;
import org.sparkrdma.shuffle.address.NetworkAddress;
import org.sparkrdma.shuffle.fetch.BlockRange;
import org.sparkrdma.verbs.ibverbs.ffi.ScriptedLibrary;

/** The device of two connected executors is lost. */
class DeviceLossTest extends ScriptedExecutors {
  private static final List<BlockRange> BLOCKS = List.of(new BlockRange(0, 1, 0, 1));

  private static final String NOT_RELEASED = "The RDMA device does not release an object";

  private static final String REMOVED = "the device was removed";

  private static final int EBUSY = 16;

  /**
   * Starts an executor for which a millisecond takes a second, so that nothing times out: a busy
   * machine may take seconds for a step. The clock does not stand still, because an agent with open
   * requests sleeps only when time passes.
   */
  private TestExecutor startWithSlowClock(long incarnation) throws Exception {
    return start(incarnation, options -> options.nanoClock(() -> System.nanoTime() / 1_000));
  }

  /** With READs in flight that complete only when they are flushed. */
  @ParameterizedTest(name = "{0}")
  @CsvSource(
      delimiter = '|',
      value = {
        "raise DEVICE_FATAL | the device failed",
        "raise PORT_ERR | a port of the device is down",
        "raiseOnListeners DEVICE_REMOVAL | " + REMOVED,
        "raiseOnListeners DEVICE_REMOVAL, raiseOnConnections DEVICE_REMOVAL | " + REMOVED,
        // The kernel refuses all commands.
        "removed 1, raiseOnListeners DEVICE_REMOVAL | " + REMOVED,
        "lose DEVICE_REMOVAL always, removed 1, raiseOnListeners DEVICE_REMOVAL, killDescriptors | "
            + REMOVED,
        "raiseOnListeners ADDR_CHANGE | the listener's address moved",
        // They are ready for ever.
        "killDescriptors | " + REMOVED
      })
  void shouldAnswerTheBlocksOfReadsInFlightOnce(String loss, String reason) throws Exception {
    TestExecutor reader = startWithSlowClock(1);
    TestExecutor server = startWithSlowClock(2);
    server.outputs().write(1, new Random(1), 1000);
    awaitReads(reader, server, BLOCKS);
    library.limit("held_reads", 1);
    CollectedBlocks collected = reader.fetch(server.endpoint(), BLOCKS);
    while (library.hits() == 0) {
      Thread.onSpinWait();
    }

    script(loss);
    awaitLoss(reader, server);

    assertThat(reader.losses().get(0)).startsWith(reason);
    Map<String, Long> reasons = collected.await().reasons();
    assertThat(reasons).hasSize(1).containsValue(1L);
    assertThat(reasons.keySet()).isSubsetOf("lost-peer", "stopped");
    reader.transport().close();
    server.transport().close();
  }

  /** The agent handles the event of the set-up when the engine has taken the removal already. */
  @ParameterizedTest(name = "the device is removed right after the event {1}")
  @CsvSource({
    ScriptedLibrary.ROUTE_RESOLVED + ", ROUTE_RESOLVED",
    ScriptedLibrary.CONNECT_REQUEST + ", CONNECT_REQUEST"
  })
  void shouldReportTheRemovalDuringTheSetUpOfAConnection(int event, String name) throws Exception {
    TestExecutor reader = start(1);
    TestExecutor server = start(2);
    server.outputs().write(1, new Random(1), 1000);
    library.limit("removal_after", event);
    try (CapturedLog log = new CapturedLog()) {
      CollectedBlocks collected = reader.fetch(server.endpoint(), BLOCKS);
      awaitLoss(reader, server);

      assertThat(reader.losses()).allMatch(reason -> reason.startsWith(REMOVED));
      assertThat(server.losses()).allMatch(reason -> reason.startsWith(REMOVED));
      assertThat(log.warnings()).isEmpty();
      assertThat(collected.await().failed(0)).isTrue();
    }
  }

  @Test
  void shouldReportAListenerAddressThatTheHostDoesNotHave() throws Exception {
    TestExecutor usual = start(1);
    InetAddress removed = InetAddress.getByName("192.0.2.77");
    TestExecutor executor =
        start(2, options -> options.addresses(List.of(NetworkAddress.withoutSubnet(removed))));

    usual.transport().check();
    executor.transport().check();
    assertThat(executor.losses()).as("missing for a moment").isEmpty();
    usual.transport().check();
    executor.transport().check();

    assertThat(usual.losses()).isEmpty();
    assertThat(executor.losses())
        .containsExactly("an address of the listeners was removed: device=scripted0");
  }

  /** Waits until both executors know, and requires that both agents are idle then. */
  private void awaitLoss(TestExecutor reader, TestExecutor server) throws Exception {
    while (reader.losses().isEmpty() || server.losses().isEmpty()) {
      Thread.onSpinWait();
    }
    assertAgentsIdle();
  }

  @Test
  @DisplayName("the device is removed, and the kernel destroys nothing")
  void shouldReleaseObjectsAndDescriptorsOfARemovedDevice() throws Exception {
    long before = eventDescriptors();
    try (CapturedLog log = new CapturedLog()) {
      connectAndClose(() -> library.limit("removed", 1));

      assertThat(library.outstanding()).as("objects left in the process").isZero();
      // Those of earlier tests may end meanwhile.
      assertThat(eventDescriptors()).as("descriptors").isLessThanOrEqualTo(before);
      assertThat(log.warnings()).noneMatch(line -> line.startsWith(NOT_RELEASED));
    }
  }

  @ParameterizedTest(name = "the device is removed, and {0} fails for ever with errno 16")
  @ValueSource(strings = {"ibv_dereg_mr", "rdma_destroy_id"})
  void shouldLogOneErrorForEachDeviceThatReleasesNothing(String call) throws Exception {
    try (CapturedLog log = new CapturedLog()) {
      connectAndClose(() -> library.fail(call, EBUSY, 1, ScriptedLibrary.FOR_EVER));

      assertThat(library.outstanding()).as("objects left in the device").isGreaterThan(2);
      assertThat(log.warnings().stream().filter(line -> line.startsWith(NOT_RELEASED)))
          .hasSize(2)
          .allMatch(line -> line.contains(call + " failed: errno=16 ("));
    }
  }

  /** The device of two connected executors is removed after a step of the script. */
  private void connectAndClose(Runnable script) throws Exception {
    TestExecutor reader = startWithSlowClock(1);
    TestExecutor server = startWithSlowClock(2);
    server.outputs().write(1, new Random(1), 1000);
    assertThat(fetch(reader, server, BLOCKS).bytes(0)).hasSize(1000);
    script.run();
    library.raiseOnListeners(ScriptedLibrary.DEVICE_REMOVAL);
    awaitLoss(reader, server);
    closeAllWithoutLeaks();
  }

  /** Open descriptors of eventfd(2), as the engine and the simulated device have them. */
  private static long eventDescriptors() throws IOException {
    long found = 0;
    try (DirectoryStream<Path> open = Files.newDirectoryStream(Path.of("/proc/self/fd"))) {
      for (Path descriptor : open) {
        found += isEventDescriptor(descriptor) ? 1 : 0;
      }
    }
    return found;
  }

  private static boolean isEventDescriptor(Path descriptor) {
    try {
      return Files.readSymbolicLink(descriptor).toString().equals("anon_inode:[eventfd]");
    } catch (IOException e) {
      // It was that of the listing.
      return false;
    }
  }
}
