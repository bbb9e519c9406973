// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.transport;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.sparkrdma.leak.WatchedEngine;
import org.sparkrdma.shuffle.fetch.BlockRange;
import org.sparkrdma.shuffle.metrics.Counter;
import org.sparkrdma.shuffle.metrics.FallbackReason;
import org.sparkrdma.shuffle.settings.ServeSettings;
import org.sparkrdma.verbs.VerbsEngine;

/**
 * A reader of a server one of whose two disks hangs, or a call of whose device on their threads.
 */
@Tag("slow")
@Timeout(60)
class HungDiskFetchTest extends TransportFixture {
  private static final int HUNG = 1_000;
  private static final int BYTES = 10_000;

  @TempDir private Path second;

  @Test
  void shouldReadBlocksOfOneDiskWhileTheOtherHangsAndQuarantineNoPeer() throws Exception {
    Random random = new Random(7);
    TestExecutor server = start(options(1).secondDirectory(second));
    TestExecutor reader = startReader(6);
    server.outputs().writeIn(second, 0, HUNG, random, BYTES, BYTES, BYTES);
    server.outputs().write(1, random, BYTES, BYTES);
    List<BlockRange> blocks =
        List.of(
            block(HUNG, 0, 1),
            block(1, 0, 1),
            block(HUNG, 1, 2),
            block(1, 1, 2),
            block(HUNG, 2, 3));
    CountDownLatch works = server.outputs().blockUntil(HUNG);
    try {
      CollectedBlocks collected = fetch(reader, server, blocks);

      for (int block : new int[] {1, 3}) {
        assertThat(collected.bytes(block)).isEqualTo(server.outputs().expected(blocks.get(block)));
      }
      for (int block : new int[] {0, 2, 4}) {
        assertThat(collected.reason(block)).isEqualTo(FallbackReason.PEER_OVERLOADED);
      }
      assertThat(reader.count(Counter.PEERS_QUARANTINED)).isZero();
      assertThat(server.count(Counter.LOCATES_SERVED))
          .as("at its deadline, and at once for those that it left out")
          .isEqualTo(2);
    } finally {
      works.countDown();
    }
    List<BlockRange> later = List.of(blocks.get(0));
    // The peer's budget earns the time again that it was waited for in vain.
    long readBefore = reader.count(Counter.RDMA_BLOCKS_READ);
    while (reader.count(Counter.RDMA_BLOCKS_READ) == readBefore) {
      fetch(reader, server, later);
    }
  }

  @Test
  void shouldGoOnWithTheCloseOfAServerWhenTheHungDiskHasReturned() throws Exception {
    Random random = new Random(7);
    TestExecutor server = start(options(1).secondDirectory(second));
    TestExecutor reader = startReader(6);
    server.outputs().writeIn(second, 0, HUNG, random, BYTES);
    server.outputs().write(1, random, BYTES);
    List<BlockRange> registered = List.of(block(1, 0, 1));
    List<BlockRange> hung = List.of(block(HUNG, 0, 1));
    CountDownLatch returns = server.outputs().blockUntil(HUNG);
    assertThat(fetch(reader, server, registered).bytes(0)).hasSize(BYTES);
    fetch(reader, server, hung);

    assertNotClosed(server);
    assertThatThrownBy(() -> server.transport().close())
        .as("without a wait")
        .hasMessageContaining("a disk or the device hangs");
    returns.countDown();

    closeOnceReturned(server);
  }

  /** No block waits for a registration, and the close goes on when the call returns. */
  @Test
  void shouldCopyBlocksWhileARegistrationHangs() throws Exception {
    HangingCall call = new HangingCall("registerFile");
    TestExecutor server = start(call.options().mode(ServeSettings.Mode.AUTO));
    TestExecutor reader = startReader(4);
    List<BlockRange> first = readFirst(server, reader);
    call.armed.set(true);
    for (int map = 10; call.hangs.getCount() > 0; map++) {
      // The first of them whose window is worth its price hangs.
      server.outputs().write(map, new Random(map), lengths(500, 100));
      for (int i = 0; i < 2; i++) {
        assertThat(fetch(reader, server, List.of(block(map, i, i + 1))).bytes(0)).hasSize(100);
      }
    }

    assertThat(fetch(reader, server, List.of(block(2, 0, 1))).bytes(0)).hasSize(BYTES);
    assertThat(fetch(reader, server, first).bytes(0)).hasSize(BYTES);
    assertThat(server.losses()).isEmpty();
    assertThat(reader.count(Counter.PEERS_QUARANTINED)).isZero();
    assertNotClosed(server);
    call.returns.countDown();
    closeOnceReturned(server);
  }

  private static int[] lengths(int count, int lengthBytes) {
    int[] lengths = new int[count];
    Arrays.fill(lengths, lengthBytes);
    return lengths;
  }

  /** Where nothing is copied. */
  @Test
  void shouldSendBlocksToTcpInTimeWhichWaitForARegistrationThatHangs() throws Exception {
    HangingCall call = new HangingCall("registerFile");
    TestExecutor server = start(call.options());
    TestExecutor reader = startReader(4);
    List<BlockRange> registered = readFirst(server, reader);
    call.armed.set(true);

    CollectedBlocks hung = fetch(reader, server, List.of(block(2, 0, 1)));

    assertThat(hung.reason(0)).isEqualTo(FallbackReason.PEER_OVERLOADED);
    assertThat(call.hangs.getCount()).isZero();
    assertThat(fetch(reader, server, registered).bytes(0)).hasSize(BYTES);
    assertThat(server.losses()).isEmpty();
    call.returns.countDown();
  }

  @Test
  void shouldServeOtherBlocksWhileADeregistrationHangs() throws Exception {
    HangingCall call = new HangingCall("close");
    TestExecutor server = start(call.options());
    TestExecutor reader = startReader(4);
    readFirst(server, reader);
    call.armed.set(true);
    // The lease of the block may end later, and with it the use of its window.
    server.transport().unregisterShuffle(0);
    call.hangs.await();

    List<BlockRange> other = List.of(block(2, 0, 1));
    assertThat(fetch(reader, server, other).bytes(0)).hasSize(BYTES);
    assertThat(server.losses()).isEmpty();
    call.returns.countDown();
  }

  /** Writes two map outputs, and reads a block of the first one by READ. */
  private static List<BlockRange> readFirst(TestExecutor server, TestExecutor reader)
      throws Exception {
    server.outputs().write(1, new Random(7), BYTES);
    server.outputs().write(2, new Random(8), BYTES);
    List<BlockRange> first = List.of(block(1, 0, 1));
    assertThat(fetch(reader, server, first).bytes(0)).hasSize(BYTES);
    return first;
  }

  /** One call of the device, which does not return to its thread for a disk or deregistration. */
  private static final class HangingCall {
    private final AtomicBoolean armed = new AtomicBoolean();
    private final CountDownLatch hangs = new CountDownLatch(1);
    private final CountDownLatch returns = new CountDownLatch(1);
    private final String name;

    HangingCall(String name) {
      this.name = name;
    }

    TestExecutor.Options options() {
      VerbsEngine engine = WatchedEngine.watch(TestEngine.load(Map.of()), this::onCall);
      return HungDiskFetchTest.options(1).mode(ServeSettings.Mode.WINDOW).on(engine).unwatched();
    }

    private void onCall(Object object, String method) {
      if (method.equals(name)
          && Thread.currentThread().getName().matches("rdma-(window|dereg)-.*")
          && armed.compareAndSet(true, false)) {
        hangs.countDown();
        try {
          returns.await();
        } catch (InterruptedException e) {
          Thread.currentThread().interrupt();
        }
      }
    }
  }

  /** The runtime cannot close the transport while a call has not returned. */
  private static void assertNotClosed(TestExecutor server) {
    Throwable failure = closed(server);
    // A millisecond may be too short for threads that end by themselves.
    while (failure
        .getMessage()
        .matches("the (transport agent has not ended|device hangs while).*")) {
      failure = closed(server);
    }
    assertThat(failure).hasMessageContaining("a disk or the device hangs");
  }

  private static Throwable closed(TestExecutor server) {
    return catchThrowable(() -> server.transport().close(Duration.ofMillis(1)));
  }

  /** Closes the transport once the call has returned. Its executor then finds what is left. */
  private static void closeOnceReturned(TestExecutor server) {
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

  private static TestExecutor.Options options(long incarnation) {
    return new TestExecutor.Options(incarnation).requestTimeout(Duration.ofSeconds(2));
  }

  /**
   * A reader that waits for the server's answer, which comes after half of the request time-out.
   */
  private TestExecutor startReader(int timeoutSeconds) throws Exception {
    return start(options(2).requestTimeout(Duration.ofSeconds(timeoutSeconds)));
  }
}
