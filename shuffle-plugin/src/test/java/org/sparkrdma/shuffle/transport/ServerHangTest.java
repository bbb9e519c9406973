// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.transport;

import static org.assertj.core.api.Assertions.assertThat;
import static org.sparkrdma.shuffle.transport.HungServer.fetch;

import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.sparkrdma.shuffle.fetch.BlockRange;
import org.sparkrdma.shuffle.metrics.FallbackReason;
import org.sparkrdma.shuffle.settings.ServeSettings;
import org.sparkrdma.verbs.MemoryRegion;
import org.sparkrdma.verbs.ProtectionDomain;

/** A call of the device that does not return to a thread of the serving side. */
@Timeout(60)
class ServerHangTest {
  /** Half of the request time-out in checks, one each second. */
  private static final int CHECKS = 10;

  private static final Duration REQUEST_TIMEOUT = Duration.ofSeconds(2 * CHECKS);

  @TempDir private Path directory;

  @Test
  void shouldReportTheLossAndSendReadersToTcpWhenADeregistrationHangs() throws Exception {
    HangingCall call = new HangingCall(MemoryRegion.class, "close", "rdma-block-server");
    try (TestExecutor server = start(1, ServeSettings.Mode.WINDOW, call);
        TestExecutor reader = start(2, ServeSettings.Mode.WINDOW, call)) {
      server.outputs().write(1, new Random(1), 100, 200);
      List<BlockRange> first = List.of(new BlockRange(0, 1, 0, 1));
      assertThat(fetch(reader, server, first).await().bytes(0)).hasSize(100);
      call.arm();
      server.transport().unregisterShuffle(0, () -> {});
      call.awaitHang();

      CollectedBlocks open = fetch(reader, server, List.of(new BlockRange(0, 1, 1, 2)));

      assertLossOf(server, call, "rdma-block-server");
      assertThat(open.await().reason(0)).isNotEqualTo(FallbackReason.TIMEOUT);
      closeAfter(call, server);
    }
  }

  @Test
  void shouldReportTheLossAndSendReadersToTcpWhenARegistrationHangs() throws Exception {
    HangingCall call = new HangingCall(ProtectionDomain.class, "register", "rdma-disk-0");
    try (TestExecutor server = start(1, ServeSettings.Mode.COPY, call);
        TestExecutor reader = start(2, ServeSettings.Mode.COPY, call)) {
      server.outputs().write(1, new Random(1), 100, 200);
      call.arm();

      CollectedBlocks open = fetch(reader, server, List.of(new BlockRange(0, 1, 0, 1)));
      call.awaitHang();

      assertLossOf(server, call, "rdma-disk-0");
      assertThat(open.await().reason(0)).isNotEqualTo(FallbackReason.TIMEOUT);
      closeAfter(call, server);
    }
  }

  /** The loss is reported after the last check; then the runtime closes the transport. */
  private static void assertLossOf(TestExecutor server, HangingCall call, String thread) {
    try (TraceLog log = new TraceLog()) {
      // The server's thread may make a last turn between the first checks.
      int checks = 0;
      while (server.outOfService().isEmpty()) {
        server.transport().checkServer();
        checks++;
      }
      assertThat(checks).isGreaterThan(CHECKS);
      assertThat(server.outOfService()).singleElement().asString().contains("hangs");
      assertThat(log.lines())
          .anyMatch(line -> line.startsWith("Block server hangs"))
          .anyMatch(line -> line.contains("stack of " + thread) && line.contains("HangingCall"));
      HungServer.assertNotClosed(server);
    } catch (Throwable e) {
      call.end();
      throw e;
    }
  }

  private static void closeAfter(HangingCall call, TestExecutor server) {
    call.end();
    HungServer.closeOnceReturned(server);
  }

  private TestExecutor start(long incarnation, ServeSettings.Mode mode, HangingCall call)
      throws Exception {
    TestExecutor.Options options =
        new TestExecutor.Options(incarnation)
            .mode(mode)
            .onCall(call)
            .requestTimeout(REQUEST_TIMEOUT);
    return new TestExecutor(
        Files.createDirectory(directory.resolve("executor-" + incarnation)), options);
  }
}
