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
  private static final Duration REQUEST_TIMEOUT = Duration.ofSeconds(4);

  @TempDir private Path directory;

  @Test
  void shouldServeOtherBlocksWhenADeregistrationHangs() throws Exception {
    HangingCall call = new HangingCall(MemoryRegion.class, "close", "rdma-disk-0");
    try (TestExecutor server = start(1, ServeSettings.Mode.WINDOW, call);
        TestExecutor reader = start(2, ServeSettings.Mode.WINDOW, call)) {
      server.outputs().write(1, new Random(1), 100, 200);
      List<BlockRange> first = List.of(new BlockRange(0, 1, 0, 1));
      assertThat(fetch(reader, server, first).await().bytes(0)).hasSize(100);
      call.arm();
      server.transport().unregisterShuffle(0, () -> {});
      call.awaitHang();

      CollectedBlocks open = fetch(reader, server, List.of(new BlockRange(0, 1, 1, 2)));

      assertThat(open.await().bytes(0)).hasSize(200);
      call.end();
    }
  }

  @Test
  void shouldSendReadersToTcpInTimeWhenARegistrationHangs() throws Exception {
    HangingCall call = new HangingCall(ProtectionDomain.class, "register", "rdma-disk-0");
    try (TestExecutor server = start(1, ServeSettings.Mode.COPY, call);
        TestExecutor reader = start(2, ServeSettings.Mode.COPY, call)) {
      server.outputs().write(1, new Random(1), 100, 200);
      call.arm();

      CollectedBlocks open = fetch(reader, server, List.of(new BlockRange(0, 1, 0, 1)));
      call.awaitHang();

      assertThat(open.await().reason(0)).isEqualTo(FallbackReason.PEER_OVERLOADED);
      assertThat(server.outOfService()).isEmpty();
      call.end();
    }
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
