// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.transport;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import java.util.function.BiConsumer;
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
      assertThatThrownBy(
              () -> server.transport().close(Duration.ofMinutes(1), Duration.ofMillis(1)))
          .hasMessageContaining("a disk or the device hangs");
    } catch (Throwable e) {
      call.end();
      throw e;
    }
  }

  /** The end of the executor checks that nothing is left. */
  private static void closeAfter(HangingCall call, TestExecutor server) {
    call.end();
    while (!tryClose(server)) {
      Thread.onSpinWait();
    }
  }

  private static boolean tryClose(TestExecutor executor) {
    try {
      executor.transport().close();
      return true;
    } catch (IllegalStateException e) {
      return false;
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

  private static CollectedBlocks fetch(
      TestExecutor reader, TestExecutor server, List<BlockRange> blocks) {
    CollectedBlocks collected = new CollectedBlocks(blocks);
    reader.transport().fetch(server.endpoint(), blocks, null, collected);
    return collected;
  }

  /** Holds one call of a thread of the serving side until the test ends it. */
  private static final class HangingCall implements BiConsumer<Object, String> {
    private final Class<?> type;
    private final String name;
    private final String thread;
    private final CountDownLatch hangs = new CountDownLatch(1);
    private final CountDownLatch end = new CountDownLatch(1);
    private volatile boolean armed;

    HangingCall(Class<?> type, String name, String thread) {
      this.type = type;
      this.name = name;
      this.thread = thread;
    }

    @Override
    public void accept(Object object, String method) {
      if (armed
          && type.isInstance(object)
          && method.equals(name)
          && Thread.currentThread().getName().startsWith(thread)) {
        hangs.countDown();
        awaitEnd();
      }
    }

    private void awaitEnd() {
      boolean ended = false;
      while (!ended) {
        try {
          end.await();
          ended = true;
        } catch (InterruptedException e) {
          // A call of the device ignores it, too.
          ended = end.getCount() == 0;
        }
      }
    }

    void arm() {
      armed = true;
    }

    void awaitHang() throws InterruptedException {
      hangs.await();
    }

    void end() {
      end.countDown();
    }
  }
}
