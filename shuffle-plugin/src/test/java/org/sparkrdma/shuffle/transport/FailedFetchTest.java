// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.transport;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.sparkrdma.shuffle.fetch.BlockRange;
import org.sparkrdma.shuffle.fetch.FetchHandler;
import org.sparkrdma.shuffle.metrics.Counter;
import org.sparkrdma.shuffle.metrics.FallbackReason;

/** Fetches with READs that fail or hang, and with blocks of a wrong checksum. */
class FailedFetchTest extends TransportFixture {
  @Test
  void shouldWaitTheRequestTimeoutForAPeerWhoseDeviceAnswersWhileItsProcessDoesNot()
      throws Exception {
    Duration timeout = Duration.ofSeconds(3);
    TestExecutor reader = start(new TestExecutor.Options(1).requestTimeout(timeout));
    // The first SEND is that of the set-up.
    TestExecutor server = start(new TestExecutor.Options(2).faults("send-hang@2"));
    server.outputs().write(1, random, 1000);
    long startNs = System.nanoTime();
    List<BlockRange> blocks = List.of(block(1, 0, 1));
    assertThat(fetch(reader, server, blocks).reason(0)).isEqualTo(FallbackReason.TIMEOUT);
    assertThat(Duration.ofNanos(System.nanoTime() - startNs)).isGreaterThanOrEqualTo(timeout);
  }

  @Test
  void shouldNotDeliverABlockWithAWrongChecksum() throws Exception {
    TestExecutor reader = start(1);
    TestExecutor server = start(2);
    server.outputs().write(1, random, 1000, 1000, 1000);
    server.outputs().corrupt(1, 1500);
    reader.tcpAnswers(new byte[1000]);
    CollectedBlocks collected =
        fetch(reader, server, List.of(block(1, 0, 1), block(1, 1, 2), block(1, 2, 3)));
    assertThat(collected.bytes(0)).hasSize(1000);
    assertThat(collected.bytes(2)).hasSize(1000);
    assertThat(collected.bytes(1)).as("TCP's bytes").isEqualTo(new byte[1000]);
    assertThat(reader.count(Counter.BLOCKS_CORRUPT)).isEqualTo(1);
    assertThat(reader.count(Counter.RDMA_READS_POSTED)).as("neighbours in one READ").isEqualTo(1);
  }

  @Test
  void shouldNotQuarantineAPeerWhenTcpDeliversTheSameBytes() throws Exception {
    TestExecutor reader = start(1);
    TestExecutor server = start(2);
    server.outputs().write(1, random, 1000, 1000);
    server.outputs().corrupt(1, 500);
    List<BlockRange> blocks = List.of(block(1, 0, 1));
    byte[] inFile = Files.readAllBytes(server.outputs().open(0, 1).dataFile());
    reader.tcpAnswers(Arrays.copyOf(inFile, 1000));
    assertThat(fetch(reader, server, blocks).bytes(0)).isEqualTo(Arrays.copyOf(inFile, 1000));
    assertThat(reader.count(Counter.CHECKSUMS_UNUSABLE)).isEqualTo(1);
    assertThat(fetch(reader, server, blocks).bytes(0)).isEqualTo(Arrays.copyOf(inFile, 1000));
  }

  @Test
  void shouldQuarantineAPeerWhoseBlocksAreCorruptAgain() throws Exception {
    TestExecutor reader = start(1);
    TestExecutor server = start(2);
    server.outputs().write(1, random, 1000);
    server.outputs().corrupt(1, 500);
    List<BlockRange> blocks = List.of(block(1, 0, 1));
    reader.tcpAnswers(new byte[1000]);
    while (reader.count(Counter.PEERS_QUARANTINED) == 0) {
      CollectedBlocks corrupt = fetch(reader, server, blocks);
      // A connection that is about to end sends its blocks to TCP.
      assertThat(corrupt.failed(0) || Arrays.equals(corrupt.bytes(0), new byte[1000])).isTrue();
    }
    assertThat(reader.count(Counter.BLOCKS_CORRUPT)).isGreaterThanOrEqualTo(2);
    assertThat(fetch(reader, server, blocks).reason(0)).isEqualTo(FallbackReason.QUARANTINED);
  }

  @Test
  void shouldFetchOnlyTheBlocksOfAFailedReadByTcp() throws Exception {
    TestExecutor reader = start(new TestExecutor.Options(1).faults("read-error@2"));
    TestExecutor server = start(2);
    server.outputs().write(1, random, 1000, 1000);
    server.outputs().write(2, random, 1000, 1000);
    List<BlockRange> blocks = List.of(block(1, 0, 1));
    assertRight(server, blocks, fetch(reader, server, blocks));
    CollectedBlocks second = fetch(reader, server, List.of(block(2, 0, 1)));
    assertThat(second.reason(0)).isEqualTo(FallbackReason.READ_ERROR);
    List<BlockRange> third = List.of(block(2, 1, 2));
    assertRight(server, third, fetch(reader, server, third));
  }

  @Test
  void shouldAnswerEveryBlockOfAFailedReadOfNeighbours() throws Exception {
    TestExecutor reader = start(new TestExecutor.Options(1).faults("read-error@1"));
    TestExecutor server = start(2);
    server.outputs().write(1, random, 1000, 2000, 3000, 4000);
    List<BlockRange> blocks =
        List.of(block(1, 0, 1), block(1, 1, 2), block(1, 2, 3), block(1, 3, 4));
    CollectedBlocks failed = fetch(reader, server, blocks);
    for (int i = 0; i < blocks.size(); i++) {
      assertThat(failed.reason(i)).isEqualTo(FallbackReason.READ_ERROR);
    }
    assertThat(reader.count(Counter.RDMA_READS_POSTED)).isEqualTo(1);
    assertRight(server, blocks, fetch(reader, server, blocks));
    assertThat(reader.count(Counter.RDMA_READS_POSTED)).isEqualTo(2);
    assertThat(reader.count(Counter.BLOCKS_VERIFIED)).isEqualTo(4);
  }

  @Test
  void shouldSendTheOpenBlocksOfALostConnectionToTcpAndReadLaterOnesOverAnother() throws Exception {
    TestExecutor reader = start(new TestExecutor.Options(1).faults("drop-connection@3"));
    TestExecutor server = start(2);
    server.outputs().write(1, random, random.ints(200, 50_000, 60_000).toArray());
    List<BlockRange> blocks = new ArrayList<>();
    for (int i = 0; i < 200; i += 2) {
      blocks.add(block(1, i, i + 1));
    }
    CollectedBlocks first = fetch(reader, server, blocks);
    assertThat(first.reasons()).containsOnlyKeys(FallbackReason.LOST_PEER.label());
    assertRight(server, blocks, fetch(reader, server, blocks));
    assertThat(reader.count(Counter.CONNECTIONS_ESTABLISHED)).isEqualTo(2);
  }

  @Test
  void shouldTimeOutAHangingReadAndKeepItsSinkUntilThen() throws Exception {
    TestExecutor reader =
        start(new TestExecutor.Options(1).faults("hang@1").requestTimeout(Duration.ofMillis(300)));
    TestExecutor server = start(2);
    server.outputs().write(1, random, 1000);
    CollectedBlocks collected = fetch(reader, server, List.of(block(1, 0, 1)));
    assertThat(collected.reason(0)).isEqualTo(FallbackReason.TIMEOUT);
  }

  @Test
  void shouldAnswerEveryOpenBlockWithStoppedAtClose() throws Exception {
    TestExecutor reader = start(new TestExecutor.Options(1).faults("hang@1+"));
    TestExecutor server = start(2);
    server.outputs().write(1, random, 1000, 1000);
    List<BlockRange> blocks = List.of(block(1, 0, 1), block(1, 1, 2));
    CollectedBlocks collected = new CollectedBlocks(blocks);
    FetchHandler.fetch(reader.transport(), server.endpoint(), blocks, collected);
    reader.transport().close();
    collected.await();
    assertThat(collected.reason(0)).isEqualTo(FallbackReason.STOPPED);
    CollectedBlocks late = fetch(reader, server, blocks);
    assertThat(late.reason(1)).isEqualTo(FallbackReason.STOPPED);
  }
}
