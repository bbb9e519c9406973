// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.transport;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.sparkrdma.shuffle.transport.HungServer.fetch;

import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.sparkrdma.shuffle.fetch.BlockRange;
import org.sparkrdma.shuffle.metrics.Counter;
import org.sparkrdma.shuffle.metrics.FallbackReason;

/** A reader of a server one of whose two disks hangs. */
@Timeout(60)
class HungDiskFetchTest {
  private static final int HUNG = 1_000;
  private static final int BYTES = 10_000;

  @TempDir private Path directory;

  @Test
  void shouldReadBlocksOfOneDiskWhileTheOtherHangsAndQuarantineNoPeer() throws Exception {
    Path first = Files.createDirectory(directory.resolve("first"));
    Path second = Files.createDirectory(directory.resolve("second"));
    Random random = new Random(7);
    try (TestExecutor server = new TestExecutor(first, options(1).secondDirectory(second));
        TestExecutor reader = new TestExecutor(first, patient(2))) {
      server.outputs().writeIn(second, HUNG, random, BYTES, BYTES, BYTES);
      server.outputs().write(1, random, BYTES, BYTES);
      List<BlockRange> blocks =
          List.of(
              new BlockRange(0, HUNG, 0, 1),
              new BlockRange(0, 1, 0, 1),
              new BlockRange(0, HUNG, 1, 2),
              new BlockRange(0, 1, 1, 2),
              new BlockRange(0, HUNG, 2, 3));
      CountDownLatch works = server.outputs().blockUntil(HUNG);
      try {
        CollectedBlocks collected = fetch(reader, server, blocks).await();

        for (int block : new int[] {1, 3}) {
          assertThat(collected.bytes(block))
              .isEqualTo(server.outputs().expected(blocks.get(block)));
        }
        for (int block : new int[] {0, 2, 4}) {
          assertThat(collected.reason(block)).isEqualTo(FallbackReason.PEER_OVERLOADED);
        }
        assertThat(reader.count(Counter.PEERS_QUARANTINED)).isZero();
        assertThat(server.count(Counter.LOCATES_SERVED)).as("at its deadline").isEqualTo(1);
      } finally {
        works.countDown();
      }
      List<BlockRange> later = List.of(blocks.get(0));
      assertThat(fetch(reader, server, later).await().bytes(0))
          .isEqualTo(server.outputs().expected(later.get(0)));
    }
  }

  @Test
  void shouldGoOnWithTheCloseOfAServerWhenTheHungDiskHasReturned() throws Exception {
    Path first = Files.createDirectory(directory.resolve("first"));
    Path second = Files.createDirectory(directory.resolve("second"));
    Random random = new Random(7);
    try (TestExecutor server = new TestExecutor(first, options(1).secondDirectory(second));
        TestExecutor reader = new TestExecutor(first, patient(2))) {
      server.outputs().writeIn(second, HUNG, random, BYTES);
      server.outputs().write(1, random, BYTES);
      List<BlockRange> registered = List.of(new BlockRange(0, 1, 0, 1));
      List<BlockRange> hung = List.of(new BlockRange(0, HUNG, 0, 1));
      CountDownLatch returns = server.outputs().blockUntil(HUNG);
      assertThat(fetch(reader, server, registered).await().bytes(0)).hasSize(BYTES);
      fetch(reader, server, hung).await();

      HungServer.assertNotClosed(server);
      assertThatThrownBy(() -> server.transport().close())
          .as("without a wait")
          .hasMessageContaining("a disk or the device hangs");
      returns.countDown();

      HungServer.closeOnceReturned(server);
    }
  }

  private static TestExecutor.Options options(long incarnation) {
    return new TestExecutor.Options(incarnation).requestTimeout(Duration.ofSeconds(2));
  }

  /** A reader that waits for the server's answer, which comes after half of this time. */
  private static TestExecutor.Options patient(long incarnation) {
    return new TestExecutor.Options(incarnation).requestTimeout(Duration.ofSeconds(10));
  }
}
