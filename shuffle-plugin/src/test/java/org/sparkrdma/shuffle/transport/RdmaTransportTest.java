// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.transport;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import java.util.zip.CRC32C;
import org.apache.spark.network.buffer.FileSegmentManagedBuffer;
import org.apache.spark.network.buffer.ManagedBuffer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.sparkrdma.shuffle.directory.Endpoint;
import org.sparkrdma.shuffle.directory.Endpoints;
import org.sparkrdma.shuffle.fetch.BlockRange;
import org.sparkrdma.shuffle.fetch.FetchHandler;
import org.sparkrdma.shuffle.fetch.SuspectBlock;
import org.sparkrdma.shuffle.metrics.Counter;
import org.sparkrdma.shuffle.metrics.FallbackReason;
import org.sparkrdma.shuffle.settings.ServeSettings;

@Timeout(120)
class RdmaTransportTest {
  @TempDir private Path directory;
  private final Random random = new Random(7);
  private final List<TestExecutor> executors = new ArrayList<>();
  private int started;

  private TestExecutor start(TestExecutor.Options options) throws Exception {
    Path own = Files.createDirectory(directory.resolve("executor-" + started++));
    TestExecutor executor = new TestExecutor(own, options);
    executors.add(executor);
    return executor;
  }

  private TestExecutor start(long incarnation) throws Exception {
    return start(new TestExecutor.Options(incarnation));
  }

  @AfterEach
  void closeAllWithoutLeaks() {
    executors.forEach(TestExecutor::close);
    // JUnit may hold this instance, and Java 17 unmaps only unreachable buffers.
    executors.clear();
  }

  private static CollectedBlocks fetch(
      TestExecutor reader, TestExecutor server, List<BlockRange> blocks) throws Exception {
    return fetch(reader, server.endpoint(), blocks);
  }

  private static CollectedBlocks fetch(
      TestExecutor reader, Endpoint server, List<BlockRange> blocks) throws Exception {
    CollectedBlocks collected = new CollectedBlocks(blocks);
    reader.transport().fetch(server, blocks, null, collected);
    return collected.await();
  }

  private static BlockRange block(long mapId, int from, int to) {
    return new BlockRange(0, mapId, from, to);
  }

  private static void assertRight(
      TestExecutor server, List<BlockRange> blocks, CollectedBlocks collected) {
    for (int i = 0; i < blocks.size(); i++) {
      assertThat(collected.bytes(i)).isEqualTo(server.outputs().expected(blocks.get(i)));
    }
  }

  @Test
  void shouldReadABlockOutOfTheMapOutputFile() throws Exception {
    TestExecutor reader = start(1);
    TestExecutor server = start(2);
    server.outputs().write(5, random, 1000, 2000, 0, 3000);
    List<BlockRange> blocks = List.of(block(5, 1, 2));
    CollectedBlocks collected = fetch(reader, server, blocks);
    assertRight(server, blocks, collected);
    assertThat(collected.copiedBytes()).isZero();
    assertThat(reader.count(Counter.RDMA_READS_POSTED)).isEqualTo(1);
    assertThat(reader.count(Counter.BLOCKS_VERIFIED)).isEqualTo(1);
    assertThat(server.count(Counter.PIECES_FROM_WINDOWS)).isEqualTo(1);
  }

  @Test
  void shouldReadNeighbouringBlocksWithOneRead() throws Exception {
    TestExecutor reader = start(1);
    TestExecutor server = start(2);
    server.outputs().write(5, random, 1000, 2000, 500, 3000);
    List<BlockRange> blocks = List.of(block(5, 0, 1), block(5, 1, 2), block(5, 2, 4));
    assertRight(server, blocks, fetch(reader, server, blocks));
    assertThat(reader.count(Counter.RDMA_READS_POSTED)).isEqualTo(1);
  }

  @Test
  void shouldReadTenThousandBlocksOfManyMapOutputsInOneRequest() throws Exception {
    TestExecutor reader = start(1);
    TestExecutor server = start(2);
    for (int map = 0; map < 20; map++) {
      server.outputs().write(map, random, random.ints(500, 1, 2000).toArray());
    }
    List<BlockRange> blocks = new ArrayList<>();
    for (int i = 0; i < 10_000; i++) {
      blocks.add(block(i % 20, i / 20, i / 20 + 1));
    }
    assertRight(server, blocks, fetch(reader, server, blocks));
    assertThat(reader.count(Counter.BLOCKS_VERIFIED)).isEqualTo(10_000);
  }

  @Test
  void shouldAcceptRequestsBeforeItsAnswersHaveCompleted() throws Exception {
    TestExecutor reader = start(new TestExecutor.Options(1).acknowledgeDelay("20ms"));
    TestExecutor server = start(2);
    List<BlockRange> blocks = new ArrayList<>();
    for (int map = 0; map < 20; map++) {
      server.outputs().write(map, random, random.ints(500, 1, 2000).toArray());
      for (int reduce = 0; reduce < 500; reduce++) {
        blocks.add(block(map, reduce, reduce + 1));
      }
    }
    assertRight(server, blocks, fetch(reader, server, blocks));
    assertThat(server.count(Counter.PROTOCOL_ERRORS)).isZero();
    assertThat(reader.count(Counter.BLOCKS_VERIFIED)).isEqualTo(10_000);
  }

  @Test
  void shouldDetectASilentDeviceLongBeforeTheRequestTimesOut() throws Exception {
    TestExecutor reader =
        start(
            new TestExecutor.Options(1)
                .faults("hang@1")
                .requestTimeout(Duration.ofMinutes(10))
                .peerTimeout(Duration.ofMillis(200)));
    TestExecutor server = start(new TestExecutor.Options(2).lease(Duration.ofHours(1)));
    server.outputs().write(1, random, 1000);
    List<BlockRange> blocks = List.of(block(1, 0, 1));
    assertThat(fetch(reader, server, blocks).reason(0)).isEqualTo(FallbackReason.TIMEOUT);
    assertThat(reader.count(Counter.PEERS_QUARANTINED)).isEqualTo(1);
  }

  @Test
  void shouldWaitTheRequestTimeoutForAPeerWhoseDeviceAnswersWhileItsProcessDoesNot()
      throws Exception {
    Duration timeout = Duration.ofSeconds(3);
    TestExecutor reader =
        start(
            new TestExecutor.Options(1).requestTimeout(timeout).peerTimeout(Duration.ofSeconds(1)));
    String answer = TestEngine.isHelloBySend() ? "send-hang@2" : "send-hang@1";
    TestExecutor server = start(new TestExecutor.Options(2).faults(answer));
    server.outputs().write(1, random, 1000);
    long startNs = System.nanoTime();
    List<BlockRange> blocks = List.of(block(1, 0, 1));
    assertThat(fetch(reader, server, blocks).reason(0)).isEqualTo(FallbackReason.TIMEOUT);
    assertThat(Duration.ofNanos(System.nanoTime() - startNs)).isGreaterThanOrEqualTo(timeout);
  }

  @Test
  void shouldReadBlocksThatSpanWindowsAndChunks() throws Exception {
    TestExecutor reader = start(1);
    TestExecutor server = start(2);
    server.outputs().write(1, random, 700_000, 3_000_000, 5, 0, 900_000);
    List<BlockRange> blocks = List.of(block(1, 0, 5), block(1, 1, 2), block(1, 2, 5));
    assertRight(server, blocks, fetch(reader, server, blocks));
  }

  @Test
  void shouldReadTheSameBytesThroughCopies() throws Exception {
    TestExecutor reader = start(1);
    TestExecutor server = start(new TestExecutor.Options(2).mode(ServeSettings.Mode.COPY));
    server.outputs().write(1, random, 700_000, 3_000_000, 5, 0, 900_000);
    List<BlockRange> blocks = List.of(block(1, 0, 1), block(1, 1, 2), block(1, 2, 5));
    CollectedBlocks collected = fetch(reader, server, blocks);
    assertRight(server, blocks, collected);
    assertThat(server.count(Counter.PIECES_FROM_SLOTS)).isPositive();
    assertThat(collected.copiedBytes()).as("as the answers say").isEqualTo(4_600_005);
    assertThat(server.count(Counter.WINDOWS_REGISTERED)).isZero();
  }

  @Test
  void shouldDeliverAnEmptyBlock() throws Exception {
    TestExecutor reader = start(1);
    TestExecutor server = start(2);
    server.outputs().write(1, random, 10, 0, 10);
    List<BlockRange> blocks = List.of(block(1, 1, 2));
    assertRight(server, blocks, fetch(reader, server, blocks));
  }

  @Test
  void shouldReportAnUnknownBlockAndDeliverTheOthers() throws Exception {
    TestExecutor reader = start(1);
    TestExecutor server = start(2);
    server.outputs().write(1, random, 100, 100);
    CollectedBlocks collected =
        fetch(reader, server, List.of(block(1, 0, 1), block(99, 0, 1), block(1, 1, 2)));
    assertThat(collected.reason(1)).isEqualTo(FallbackReason.PEER_UNKNOWN_BLOCK);
    assertThat(collected.bytes(0)).hasSize(100);
    assertThat(collected.bytes(2)).hasSize(100);
  }

  @Test
  void shouldUseOneConnectionInBothDirections() throws Exception {
    TestExecutor one = start(1);
    TestExecutor two = start(2);
    one.outputs().write(1, random, 5000);
    two.outputs().write(1, random, 6000);
    List<BlockRange> blocks = List.of(block(1, 0, 1));
    assertRight(two, blocks, fetch(one, two, blocks));
    assertRight(one, blocks, fetch(two, one, blocks));
    assertThat(one.count(Counter.CONNECTIONS_ESTABLISHED)).isEqualTo(1);
    assertThat(two.count(Counter.CONNECTIONS_ESTABLISHED)).isEqualTo(1);
  }

  @Test
  void shouldWriteABlockToAFileWhenAsked() throws Exception {
    TestExecutor reader = start(1);
    TestExecutor server = start(2);
    server.outputs().write(1, random, 20_000_000, 10);
    List<BlockRange> blocks = List.of(block(1, 0, 1));
    DiskFiles files = new DiskFiles(directory);
    AtomicReference<Object> result = new AtomicReference<>();
    CountDownLatch done = new CountDownLatch(1);
    reader
        .transport()
        .fetch(
            server.endpoint(),
            blocks,
            files,
            new FetchHandler() {
              @Override
              public void onFetched(int index, ManagedBuffer buffer) {
                result.set(buffer);
                done.countDown();
              }

              @Override
              public void onFailed(int index, FallbackReason reason, String detail) {
                result.set(reason + detail);
                done.countDown();
              }

              @Override
              public void onSuspect(int index, SuspectBlock suspect) {
                result.set(suspect);
                done.countDown();
              }
            });
    assertThat(done.await(30, TimeUnit.SECONDS)).isTrue();
    assertThat(result.get()).isInstanceOf(FileSegmentManagedBuffer.class);
    try (var in = ((ManagedBuffer) result.get()).createInputStream()) {
      assertThat(in.readAllBytes()).isEqualTo(server.outputs().expected(blocks.get(0)));
    }
    assertThat(reader.count(Counter.BLOCKS_VERIFIED)).isEqualTo(1);
  }

  @Test
  void shouldNotDeliverABlockWithAWrongChecksum() throws Exception {
    TestExecutor reader = start(1);
    TestExecutor server = start(2);
    server.outputs().write(1, random, 1000, 1000, 1000);
    server.outputs().corrupt(1, 1500);
    CollectedBlocks collected =
        fetch(reader, server, List.of(block(1, 0, 1), block(1, 1, 2), block(1, 2, 3)));
    assertThat(collected.bytes(0)).hasSize(1000);
    assertThat(collected.bytes(2)).hasSize(1000);
    assertThat(collected.suspect(1).compare(1000, 12345)).isFalse();
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
    CollectedBlocks first = fetch(reader, server, blocks);
    byte[] inFile = Files.readAllBytes(server.outputs().open(0, 1).dataFile());
    CRC32C crc = new CRC32C();
    crc.update(inFile, 0, 1000);
    assertThat(first.suspect(0).compare(1000, crc.getValue())).isTrue();
    assertThat(reader.count(Counter.CHECKSUMS_UNUSABLE)).isEqualTo(1);
    assertThat(fetch(reader, server, blocks).bytes(0)).isEqualTo(Arrays.copyOf(inFile, 1000));
  }

  @Test
  void shouldQuarantineAPeerAfterThreeCorruptBlocks() throws Exception {
    TestExecutor reader = start(1);
    TestExecutor server = start(2);
    server.outputs().write(1, random, 1000);
    server.outputs().corrupt(1, 500);
    List<BlockRange> blocks = List.of(block(1, 0, 1));
    for (int i = 0; i < 3; i++) {
      fetch(reader, server, blocks).suspect(0).compare(1000, 1);
    }
    assertThat(fetch(reader, server, blocks).reason(0)).isEqualTo(FallbackReason.QUARANTINED);
  }

  @Test
  void shouldRefuseAPeerWithoutTheToken() throws Exception {
    TestExecutor reader = start(1);
    TestExecutor server = start(2);
    Endpoint endpoint = server.endpoint();
    Endpoint guessed =
        new Endpoint(
            endpoint.executorId(),
            endpoint.addresses(),
            endpoint.engine(),
            endpoint.protocol(),
            endpoint.incarnation(),
            new byte[Endpoint.TOKEN_BYTES]);
    CollectedBlocks collected = fetch(reader, guessed, List.of(block(1, 0, 1)));
    assertThat(collected.reason(0)).isEqualTo(FallbackReason.REFUSED);
    assertThat(server.count(Counter.CONNECTIONS_REFUSED)).isEqualTo(1);
  }

  @Test
  void shouldRefuseARequestForAnEarlierIncarnation() throws Exception {
    TestExecutor reader = start(1);
    TestExecutor old = start(2);
    Endpoint stale = old.endpoint();
    old.transport().close();
    TestExecutor now =
        start(new TestExecutor.Options(3).port(Endpoints.preferredAddress(stale).getPort()));
    CollectedBlocks collected = fetch(reader, stale, List.of(block(1, 0, 1)));
    assertThat(collected.reason(0)).isEqualTo(FallbackReason.REFUSED);
    assertThat(now.count(Counter.CONNECTIONS_REFUSED)).isPositive();
  }

  @Test
  void shouldQuarantineAPeerThatDoesNotListen() throws Exception {
    TestExecutor reader = start(1);
    TestExecutor gone = start(2);
    Endpoint endpoint = gone.endpoint();
    gone.transport().close();
    List<BlockRange> blocks = List.of(block(1, 0, 1));
    assertThat(fetch(reader, endpoint, blocks).reason(0)).isEqualTo(FallbackReason.CONNECT_FAILED);
    assertThat(fetch(reader, endpoint, blocks).reason(0)).isEqualTo(FallbackReason.QUARANTINED);
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
  void shouldReissueOpenRequestsOnANewConnection() throws Exception {
    TestExecutor reader = start(new TestExecutor.Options(1).faults("drop-connection@3"));
    TestExecutor server = start(2);
    server.outputs().write(1, random, random.ints(200, 50_000, 60_000).toArray());
    List<BlockRange> blocks = new ArrayList<>();
    for (int i = 0; i < 200; i += 2) {
      blocks.add(block(1, i, i + 1));
    }
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
    reader.transport().fetch(server.endpoint(), blocks, null, collected);
    reader.transport().close();
    collected.await();
    assertThat(collected.reason(0)).isEqualTo(FallbackReason.STOPPED);
    CollectedBlocks late = fetch(reader, server, blocks);
    assertThat(late.reason(1)).isEqualTo(FallbackReason.STOPPED);
  }

  @Test
  void shouldFinishWithAPoolSmallerThanTheRequest() throws Exception {
    TestExecutor reader = start(new TestExecutor.Options(1).pinned(256L << 20, 4L << 20));
    TestExecutor server = start(2);
    server.outputs().write(1, random, random.ints(100, 200_000, 200_001).toArray());
    List<BlockRange> blocks = new ArrayList<>();
    for (int i = 0; i < 100; i++) {
      blocks.add(block(1, i, i + 1));
    }
    CollectedBlocks collected = fetch(reader, server, blocks);
    int byRead = 0;
    for (int i = 0; i < blocks.size(); i++) {
      if (!collected.failed(i)) {
        assertThat(collected.bytes(i)).isEqualTo(server.outputs().expected(blocks.get(i)));
        byRead++;
      } else {
        assertThat(collected.reason(i)).isEqualTo(FallbackReason.POOL_EMPTY);
      }
    }
    assertThat(byRead).as("at least the half of the pool that one reader gets").isGreaterThan(9);
  }

  @Test
  void shouldSendABlockLargerThanThePoolByTcp() throws Exception {
    TestExecutor reader =
        start(
            new TestExecutor.Options(1)
                .pinned(256L << 20, 4L << 20)
                .requestTimeout(Duration.ofSeconds(1)));
    TestExecutor server = start(2);
    server.outputs().write(1, random, 6_000_000, 100);
    CollectedBlocks collected = fetch(reader, server, List.of(block(1, 0, 1)));
    assertThat(collected.reason(0)).isEqualTo(FallbackReason.POOL_EMPTY);
    List<BlockRange> small = List.of(block(1, 1, 2));
    assertRight(server, small, fetch(reader, server, small));
  }

  @Test
  void shouldCloseAnIdleConnectionAndReconnect() throws Exception {
    TestExecutor reader = start(new TestExecutor.Options(1).idleTimeout(Duration.ofMillis(50)));
    TestExecutor server = start(2);
    server.outputs().write(1, random, 1000);
    List<BlockRange> blocks = List.of(block(1, 0, 1));
    assertRight(server, blocks, fetch(reader, server, blocks));
    awaitCount(reader, Counter.CONNECTIONS_CLOSED, 1);
    assertRight(server, blocks, fetch(reader, server, blocks));
    assertThat(reader.count(Counter.CONNECTIONS_ESTABLISHED)).isEqualTo(2);
  }

  /** Counters outlive the transport of an executor, which starts another one. */
  @Test
  void shouldCountTheConnectionsThatItsEndCloses() throws Exception {
    TestExecutor reader = start(1);
    TestExecutor server = start(2);
    server.outputs().write(1, random, 1000);
    List<BlockRange> blocks = List.of(block(1, 0, 1));
    assertRight(server, blocks, fetch(reader, server, blocks));
    assertThat(reader.counters().openConnections()).isEqualTo(1);
    reader.transport().close();
    assertThat(reader.counters().openConnections()).isZero();
  }

  @Test
  void shouldMakeRoomForANewPeerByClosingTheLongestIdleConnection() throws Exception {
    TestExecutor reader = start(new TestExecutor.Options(1).maxConnections(2));
    List<BlockRange> blocks = List.of(block(1, 0, 1));
    for (int i = 2; i < 6; i++) {
      TestExecutor server = start(i);
      server.outputs().write(1, random, 1000);
      assertRight(server, blocks, fetch(reader, server, blocks));
    }
    assertThat(reader.count(Counter.CONNECTIONS_CLOSED)).isGreaterThanOrEqualTo(2);
  }

  @Test
  void shouldNotQuarantineAPeerWithoutRoomForAConnection() throws Exception {
    TestExecutor reader = start(1);
    TestExecutor server = start(new TestExecutor.Options(2).pinned(4096, 4096));
    server.outputs().write(1, random, 1000);
    List<BlockRange> blocks = List.of(block(1, 0, 1));
    if (TestEngine.isHelloBySend()) {
      // The device rejects without a reason.
      assertThat(fetch(reader, server, blocks).reason(0)).isEqualTo(FallbackReason.CONNECT_FAILED);
      return;
    }
    assertThat(fetch(reader, server, blocks).reason(0)).isEqualTo(FallbackReason.PEER_BUSY);
    assertThat(fetch(reader, server, blocks).reason(0)).isEqualTo(FallbackReason.PEER_BUSY);
  }

  @Test
  void shouldNotQuarantineAPeerWithoutRoomForAConnectionHere() throws Exception {
    TestExecutor reader = start(new TestExecutor.Options(1).pinned(4096, 4096));
    TestExecutor server = start(2);
    server.outputs().write(1, random, 1000);
    List<BlockRange> blocks = List.of(block(1, 0, 1));
    assertThat(fetch(reader, server, blocks).reason(0)).isEqualTo(FallbackReason.POOL_EMPTY);
    assertThat(fetch(reader, server, blocks).reason(0)).isEqualTo(FallbackReason.POOL_EMPTY);
  }

  @Test
  void shouldWaitForItsOwnLeasesWhenThePeersBudgetIsFullOfThem() throws Exception {
    TestExecutor reader = start(1);
    // Control buffers take 256 KiB; what is left holds three windows of 1 MiB, for eight files.
    TestExecutor server =
        start(
            new TestExecutor.Options(2).mode(ServeSettings.Mode.WINDOW).pinned(7L << 19, 1 << 19));
    List<BlockRange> blocks = new ArrayList<>();
    for (int map = 0; map < 8; map++) {
      server.outputs().write(map, random, random.ints(40, 90_000, 90_001).toArray());
    }
    for (int partition = 0; partition < 40; partition++) {
      for (int map = 0; map < 8; map++) {
        blocks.add(block(map, partition, partition + 1));
      }
    }
    assertRight(server, blocks, fetch(reader, server, blocks));
    assertThat(server.count(Counter.WINDOWS_EVICTED)).isPositive();
    assertThat(server.budget().pinnedBytes()).isLessThanOrEqualTo(7L << 19);
  }

  private static void awaitCount(TestExecutor executor, Counter counter, long atLeast) {
    for (int i = 0; i < 100_000 && executor.count(counter) < atLeast; i++) {
      LockSupport.parkNanos(100_000);
    }
    assertThat(executor.count(counter)).isGreaterThanOrEqualTo(atLeast);
  }
}
