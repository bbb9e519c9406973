// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.serve;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.sparkrdma.memory.PinnedBudget;
import org.sparkrdma.shuffle.metrics.ShuffleCounters;
import org.sparkrdma.shuffle.wire.Locate;
import org.sparkrdma.shuffle.wire.Located;

/**
 * Map outputs whose index and data are on different disks, as Spark puts them: a block moves from
 * the part of one disk to that of another. A server in virtual time; closing checks for leaks.
 */
@Timeout(60)
class SplitFilesTest {
  private static final Duration TIMEOUT = Duration.ofSeconds(30);
  private static final long OVER_HOLD_NS =
      LoadLimits.of(TIMEOUT).maxHoldNs() + 2 * OpenLocates.CHECK_NS;

  /** Index and data on disk 0. */
  private static final int ON_0 = 1;

  /** Index and data on disk 1. */
  private static final int ON_1 = 2;

  /** Index on disk 1, data on disk 0. */
  private static final int FROM_1_TO_0 = 3;

  /** Index on disk 0, data on disk 1, of two windows. */
  private static final int FROM_0_TO_1 = 4;

  /** Index and data on disk 0; the index is slow. */
  private static final int SLOW_INDEX = 5;

  private static final int SHUFFLES = 5;

  @TempDir Path folder;
  private final AtomicLong nowNs = new AtomicLong(Long.MAX_VALUE - 1_000_000);
  private final FakeDomain domain = new FakeDomain();
  private final PinnedBudget budget = new PinnedBudget(1 << 30, FakeDomain.PAGE);
  private final List<ConcurrentLinkedQueue<Runnable>> jobs =
      List.of(new ConcurrentLinkedQueue<>(), new ConcurrentLinkedQueue<>());
  private final CountDownLatch reached = new CountDownLatch(1);
  private final CountDownLatch returns = new CountDownLatch(1);
  private BlockServer server;

  @BeforeEach
  void create() throws IOException {
    FakeMapOutputs outputs = new FakeMapOutputs(folder);
    outputs.spreadOver(2);
    outputs.indexOn(FROM_1_TO_0, 1);
    outputs.indexOn(FROM_0_TO_1, 0);
    outputs.beforeOpen(
        shuffleId -> {
          if (shuffleId == SLOW_INDEX) {
            hang();
          }
        });
    for (int shuffle = 1; shuffle <= SHUFFLES; shuffle++) {
      for (int map = 0; map < 3; map++) {
        outputs.write(shuffle, map, new Random(map), true, 1000, ServerFixture.WINDOW);
      }
    }
    server =
        DiskServers.of(
            outputs,
            domain,
            budget,
            new ShuffleCounters(),
            TIMEOUT,
            nowNs::get,
            1000,
            jobs.stream()
                .map(queue -> new DiskQueue(queue::add, DiskServers.THREADS, nowNs::get))
                .toList());
  }

  @AfterEach
  void closeAndCheckForLeaks() {
    server.onPeerGone(1);
    int[] shuffles = IntStream.rangeClosed(1, SHUFFLES).toArray();
    DiskServers.closeWithoutLeases(server, () -> pass(0), shuffles);
    domain.close();
    budget.close();
  }

  @Test
  void shouldNotRefuseBlocksWhileTheOnlyLocatedOnesAreInAPartThatWorksAgain() throws Exception {
    Call call = ask(new Range(ON_0, 1), new Range(FROM_1_TO_0, 1));
    runOne(0);
    pass(LoadLimits.of(TIMEOUT).maxHoldNs() / 2);
    runOne(1);
    domain.beforeRegistration(
        file -> {
          if (file.getFileName().toString().contains("shuffle_" + FROM_1_TO_0)) {
            hang();
          }
        });
    Thread disk = startOne(0);
    pass(OVER_HOLD_NS);
    assertThat(call.answers).as("nothing could be answered").isZero();
    returns.countDown();
    disk.join();
    pass(0);

    assertThat(call.pieces()).containsExactly("0 LOCATED 0", "1 LOCATED 0");
  }

  @Test
  void shouldNotSendTheRestOfABlockWhoseBeginningIsInAPartThatIsLeft() throws Exception {
    Call first = ask(new Range(FROM_0_TO_1, 1));
    Call call = ask(new Range(FROM_0_TO_1, 2), new Range(SLOW_INDEX, 1), new Range(ON_1, 1));
    // Both LOCATEs wait for the index on disk 0. The first one's block goes on to disk 1, which
    // registers the first window: the second LOCATE begins its block on disk 0.
    runOne(0);
    Runnable ofThird = jobs.get(1).remove();
    runOne(1);
    assertThat(first.pieces()).containsExactly("0 LOCATED 0");
    Thread disk = startOne(0);
    ofThird.run();
    runAll(1);
    pass(OVER_HOLD_NS);

    assertThat(call.pieces()).containsExactly("2 LOCATED 0");
    assertThat(call.isHeldBack()).isTrue();
    returns.countDown();
    disk.join();
    pass(0);
  }

  private void hang() {
    reached.countDown();
    try {
      returns.await();
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  private Thread startOne(int disk) throws InterruptedException {
    Thread thread = new Thread(jobs.get(disk).remove());
    thread.start();
    reached.await();
    return thread;
  }

  private void runOne(int disk) {
    jobs.get(disk).remove().run();
    pass(0);
  }

  private void runAll(int disk) {
    while (!jobs.get(disk).isEmpty()) {
      runOne(disk);
    }
  }

  private void pass(long ns) {
    nowNs.addAndGet(ns);
    while (server.doWork() > 0) {
      // Until nothing is left to do.
    }
  }

  private Call ask(Range... ranges) {
    Call call = new Call(ranges);
    server.locate(call);
    pass(0);
    return call;
  }

  /** Partitions from 0 of a map output; its map id is the position in the request. */
  private record Range(int shuffle, int endReduceId) {}

  private static final class Call extends TestLocateCall {
    private int answers;
    private int lengthBytes;

    Call(Range... ranges) {
      super(1, ByteBuffer.allocate(1000), ByteBuffer.allocate(Located.HEADER_BYTES + 1000));
      Locate.Encoder encoder = new Locate.Encoder().begin(request(), 1);
      for (int map = 0; map < ranges.length; map++) {
        encoder.block(ranges[map].shuffle(), map, 0, ranges[map].endReduceId(), 0, false);
      }
      int length = encoder.finish();
      request().position(0).limit(length);
    }

    private Located.Decoder decoder() {
      assertThat(answers).isEqualTo(1);
      return new Located.Decoder().begin(answer().slice(0, lengthBytes));
    }

    /** Block, kind and offset in the block, for each piece. */
    List<String> pieces() {
      List<String> pieces = new ArrayList<>();
      for (Located.Decoder in = decoder(); in.nextPiece(); ) {
        pieces.add(in.blockIndex() + " " + in.kind() + " " + in.blockOffset());
      }
      return pieces;
    }

    boolean isHeldBack() {
      Located.Decoder in = decoder();
      return in.nextPiece() && in.isHeldBack();
    }

    @Override
    public void answered(int newLengthBytes) {
      answers++;
      lengthBytes = newLengthBytes;
    }

    @Override
    public void malformed(String reason) {
      throw new AssertionError(reason);
    }
  }
}
