// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.serve;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import java.util.zip.CRC32C;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.sparkrdma.memory.PinnedBudget;
import org.sparkrdma.shuffle.fetch.BlockRange;
import org.sparkrdma.shuffle.metrics.Counter;
import org.sparkrdma.shuffle.output.MapOutput;
import org.sparkrdma.shuffle.settings.ServeSettings;
import org.sparkrdma.shuffle.transport.TestOutputs;
import org.sparkrdma.shuffle.wire.Locate;
import org.sparkrdma.shuffle.wire.Located;
import org.sparkrdma.shuffle.wire.Located.Kind;
import org.sparkrdma.verbs.VerbsException;

@Timeout(60)
class BlockServerTest extends BlockServerFixture {
  private static final int WINDOW = 64 << 10;
  private static final int CHUNK = 4 << 10;
  private static final int TIMEOUT_MS = 1_000;
  private static final Duration LEASE = Duration.ofSeconds(30);
  private static final Duration IDLE = Duration.ofSeconds(10);
  private static final int INDEX = 2 << 20;

  private int chunkBytes = CHUNK;
  private int indexPartitions = INDEX;
  private TestOutputs outputs;

  @BeforeEach
  void createOutputs() {
    outputs = new TestOutputs(folder, null);
  }

  /** Windows cost nothing, and copies something. */
  private static WindowPrice cheapWindows() {
    return price(0, 1_000);
  }

  /** Of windows for each page, and of copies for each block; both also cost a call. */
  private static WindowPrice price(long pageNs, long copyNs) {
    WindowPrice.Cost nothing = new WindowPrice.Cost(0, 0);
    return new WindowPrice(
        new WindowPrice.Cost(10, pageNs), nothing, new WindowPrice.Cost(copyNs, 0));
  }

  /** 16 pages of 10 ns: 250 ns with the margin; the copy of a page costs 20 ns. */
  private static WindowPrice pagesCostLessThanCopies() {
    WindowPrice.Cost nothing = new WindowPrice.Cost(0, 0);
    return new WindowPrice(new WindowPrice.Cost(10, 10), nothing, new WindowPrice.Cost(0, 20));
  }

  /** Chunks are longer than in most tests. */
  private void budgetOfChunks(int lengthBytes) {
    chunkBytes = lengthBytes;
  }

  private void start(ServeSettings.Mode mode, long budgetBytes) {
    start(mode, budgetBytes, true, cheapWindows());
  }

  private void start(
      ServeSettings.Mode mode, long budgetBytes, boolean computeSums, WindowPrice price) {
    start(
        new ServeSettings(mode, WINDOW, chunkBytes, LEASE, 4, indexPartitions, IDLE, computeSums),
        outputs,
        budgetBytes,
        price);
  }

  /** Lets the disk threads and the agent work until nothing is left to do. */
  private void work() {
    int done = 1;
    while (done > 0) {
      done = workers.runAll() + commands.size();
      runCommands();
    }
  }

  /** The disk gives one result to the agent. */
  private void workOnce() {
    workers.runOne(0);
    runCommands();
  }

  private void release(Call call) {
    server.release(call.locate.connection(), call.leaseId);
    work();
  }

  private void pass(Duration time) {
    nowNs += time.toNanos();
    server.doWork(nowNs);
  }

  /** A block: its shuffle, map and partitions. */
  private record Wanted(
      int shuffleId,
      long mapId,
      int first,
      int end,
      long startOffset,
      boolean freshSums,
      boolean noCopy) {
    Wanted(int shuffleId, long mapId, int first, int end, long startOffset, boolean freshSums) {
      this(shuffleId, mapId, first, end, startOffset, freshSums, false);
    }

    Wanted(int shuffleId, long mapId, int first, int end, boolean freshSums) {
      this(shuffleId, mapId, first, end, 0, freshSums);
    }

    static Wanted withoutCopy(int shuffleId, long mapId, int partition) {
      return new Wanted(shuffleId, mapId, partition, partition + 1, 0, false, true);
    }

    static Wanted of(int shuffleId, long mapId, int partition) {
      return new Wanted(shuffleId, mapId, partition, partition + 1, false);
    }
  }

  private final class Call implements OpenLocate.Replies {
    private final OpenLocate locate;
    private final List<Kind> kinds = new ArrayList<>();
    private final List<Integer> blocks = new ArrayList<>();
    private final List<byte[]> bytes = new ArrayList<>();

    /** The last extent that it has read. */
    private Runnable readAgain;

    private final List<Long> sums = new ArrayList<>();
    private final List<Long> lengths = new ArrayList<>();
    private long leaseId;
    private boolean copied;
    private boolean answered;

    Call(long connection, long reader, ByteBuffer request, int owner, Wanted... blocks) {
      locate = new OpenLocate(this, connection, reader, 0, request, nowNs);
      locate.setAnswer(ByteBuffer.allocate(16 << 10));
      Locate.Encoder encoder = new Locate.Encoder().begin(request, 7, TIMEOUT_MS, owner);
      for (Wanted block : blocks) {
        encoder.block(
            block.shuffleId,
            block.mapId,
            block.first,
            block.end,
            block.startOffset,
            block.freshSums,
            block.noCopy);
      }
      int lengthBytes = encoder.finish();
      request.position(0).limit(lengthBytes);
    }

    @Override
    public void suspended(OpenLocate self) {
      assertThat(answered).isFalse();
    }

    @Override
    public void resumed(OpenLocate self) {
      server.locate(self);
    }

    @Override
    public void answered(OpenLocate self, int lengthBytes) {
      assertThat(answered).isFalse();
      answered = true;
      Located.Decoder in = new Located.Decoder().begin(self.answer().slice(0, lengthBytes));
      leaseId = in.leaseId();
      while (in.nextExtent()) {
        kinds.add(in.kind());
        blocks.add(in.blockIndex());
        lengths.add(in.blockBytes());
        copied |= in.isCopied();
        for (int i = 0; i < in.sumCount(); i++) {
          sums.add(in.sum(i));
        }
        if (in.kind() == Kind.LOCATED && in.lengthBytes() > 0) {
          long address = in.address();
          int key = (int) in.remoteKey();
          int length = in.lengthBytes();
          bytes.add(read(address, key, length));
          readAgain = () -> read(address, key, length);
        }
      }
    }

    @Override
    public void malformed(String reason) {
      throw new AssertionError(reason);
    }
  }

  private byte[] read(long address, int key, int lengthBytes) {
    try {
      return device.read(address, key, lengthBytes);
    } catch (IOException e) {
      throw new AssertionError("an answer names memory that is not registered", e);
    }
  }

  private Call locate(long peer, Wanted... blocks) {
    return locateOf(Locate.OWN, peer, blocks);
  }

  /** A LOCATE after which nothing is left to do. */
  private Call served(long peer, Wanted... blocks) {
    Call call = locate(peer, blocks);
    work();
    return call;
  }

  /** The same, after which the reader has the blocks. */
  private void readOnce(long peer, Wanted... blocks) {
    server.release(peer, served(peer, blocks).leaseId);
  }

  /** Reads a block of a map output that was not named before, and its window is registered. */
  private void readTwice(long peer, Wanted block) {
    readOnce(peer, block);
    readOnce(peer, block);
  }

  /** Writes map outputs of sixteen blocks, the first of which is read. */
  private void writeAndRead(int firstMap, int lastMap) throws IOException {
    for (int map = firstMap; map <= lastMap; map++) {
      write(1, map, lengths(16, CHUNK));
      readTwice(1, Wanted.of(1, map, 0));
    }
  }

  /** Blocks of a map output of the first shuffle. */
  private static Wanted[] partitions(int map, int from, int to) {
    return IntStream.range(from, to).mapToObj(i -> Wanted.of(1, map, i)).toArray(Wanted[]::new);
  }

  private Call locateOf(int owner, long peer, Wanted... blocks) {
    Call call = new Call(peer, peer, ByteBuffer.allocate(16 << 10), owner, blocks);
    server.locate(call.locate);
    return call;
  }

  private void write(int shuffleId, long mapId, int... lengths) throws IOException {
    outputs.writeIn(folder, shuffleId, mapId, new Random(mapId), lengths);
  }

  private Path secondDisk() throws IOException {
    Path second = Files.createDirectory(folder.resolve("second"));
    outputs = new TestOutputs(folder, second);
    return second;
  }

  private byte[] expected(int shuffleId, long mapId, int partition) {
    return outputs.expected(new BlockRange(shuffleId, mapId, partition, partition + 1));
  }

  /** Files that are registered. */
  private int windowCount() {
    return device.fileCount();
  }

  private static int[] lengths(int count, int lengthBytes) {
    int[] lengths = new int[count];
    Arrays.fill(lengths, lengthBytes);
    return lengths;
  }

  // What is kept, and for how long.

  @Test
  void shouldKeepNothingOfAShuffleThatIsRemovedWhileItLoads() throws Exception {
    start(ServeSettings.Mode.AUTO, 1 << 20);
    write(1, 1, 100, 100);
    Call call = locate(1, Wanted.of(1, 1, 0));
    workers.runOne(0);
    // Its index and bytes are read now, and the command with them waits.
    Runnable loaded = commands.remove();
    outputs.delete(1);
    server.unregisterShuffle(1);
    runCommands();
    commands.add(loaded);
    work();
    assertThat(call.kinds).containsExactly(Kind.LOCATED);
    assertThat(windowCount()).isZero();
    Call late = served(1, Wanted.of(1, 1, 1));
    assertThat(late.kinds).containsExactly(Kind.UNKNOWN);
  }

  @Test
  void shouldDeregisterAWindowWhoseShuffleIsRemovedWhileItIsRegistered() throws Exception {
    start(ServeSettings.Mode.AUTO, 1 << 20);
    write(1, 1, 100);
    readOnce(1, Wanted.of(1, 1, 0));
    locate(1, Wanted.of(1, 1, 0));
    server.unregisterShuffle(1);
    runCommands();
    work();
    assertThat(device.fileCalls()).as("with the probe").isEqualTo(2);
    assertThat(windowCount()).isZero();
  }

  @Test
  void shouldDeregisterARemovedShuffleWhenItsLastLeaseEnds() throws Exception {
    start(ServeSettings.Mode.WINDOW, 1 << 20);
    write(1, 1, 100);
    Call call = served(1, Wanted.of(1, 1, 0));
    outputs.delete(1);
    server.unregisterShuffle(1);
    work();
    assertThat(windowCount()).isEqualTo(1);
    assertThat(server.release(1, call.leaseId)).isTrue();
    assertThat(windowCount()).as("not on the agent").isEqualTo(1);
    work();
    assertThat(windowCount()).isZero();
  }

  @Test
  void shouldKeepNoMorePartitionsThanItMay() throws Exception {
    indexPartitions = 1_000;
    start(ServeSettings.Mode.COPY, 1 << 20);
    Wanted[] blocks = addOutputs(2, 900, 1_000, 0);
    for (int round = 0; round < 2; round++) {
      for (Wanted block : blocks) {
        readOnce(1, block);
      }
    }
    assertThat(outputs.opened()).isEqualTo(3);
    assertThat(counters.value(Counter.INDEXES_READ)).isEqualTo(3);
  }

  @Test
  void shouldKeepAnOutputThatWasUsedRatherThanANewOne() throws Exception {
    start(ServeSettings.Mode.COPY, 1 << 20);
    int half = INDEX / 2;
    Wanted[] blocks = addOutputs(3, half, 1_000, 0);
    for (int round = 0; round < 2; round++) {
      for (Wanted block : blocks) {
        Call call = served(1, block);
        assertThat(call.kinds).containsExactly(Kind.LOCATED);
        server.release(1, call.leaseId);
      }
    }
    // One of them stays, whatever is read between.
    assertThat(outputs.opened()).isEqualTo(5);
    pass(IndexCache.RECENT);
    readOnce(1, blocks[2]);
    readOnce(1, blocks[2]);
    assertThat(outputs.opened()).as("it took the place of what was not used").isEqualTo(6);
  }

  @Test
  void shouldCloseMemoryOfCopiesAfterTheIdleTimeHoweverTheyHaveEnded() throws Exception {
    start(ServeSettings.Mode.COPY, 1 << 20);
    write(1, 1, 100);
    Call call = served(1, Wanted.of(1, 1, 0));
    server.release(1, call.leaseId);
    server.unregisterShuffle(1);
    work();
    assertThat(device.regionCount()).as("not at once").isEqualTo(1);
    for (int i = 0; i < 2; i++) {
      pass(IDLE);
      work();
    }
    assertThat(device.regionCount()).isZero();
  }

  @Test
  void shouldReturnIdleWindows() throws Exception {
    start(ServeSettings.Mode.WINDOW, 1 << 20);
    write(1, 1, 100);
    Call call = served(1, Wanted.of(1, 1, 0));
    release(call);
    pass(IDLE.minusMillis(1));
    work();
    assertThat(windowCount()).isEqualTo(1);
    call.readAgain.run();
    pass(Duration.ofMillis(1));
    work();
    assertThat(windowCount()).isZero();
    assertThatThrownBy(call.readAgain::run).hasMessageContaining("not registered");
    assertThat(counters.value(Counter.WINDOWS_RETURNED)).isEqualTo(1);
  }

  // Copies and windows.

  @Test
  void shouldCopyAtOnceAndReadLaterBlocksOutOfTheRegisteredFile() throws Exception {
    // A window pays by three blocks.
    start(ServeSettings.Mode.AUTO, 1 << 20, true, price(10, 15));
    write(1, 1, 100, 200, 300);
    readOnce(1, Wanted.of(1, 1, 0));
    assertThat(windowCount()).as("it may be the only one that is read").isZero();
    Call first = locate(1, Wanted.of(1, 1, 0));
    workOnce();
    assertThat(first.answered).as("it does not wait for a registration").isTrue();
    assertThat(first.copied).isTrue();
    assertThat(first.bytes.get(0)).isEqualTo(expected(1, 1, 0));
    work();
    Call second = locate(1, Wanted.of(1, 1, 1), Wanted.of(1, 1, 2));
    assertThat(second.answered).isTrue();
    assertThat(second.copied).isFalse();
    assertThat(second.bytes.get(1)).isEqualTo(expected(1, 1, 2));
    assertThat(counters.value(Counter.SERVE_BYTES)).isEqualTo(700);
    assertThat(counters.value(Counter.BYTES_FROM_COPIES)).isEqualTo(200);
    assertThat(counters.value(Counter.SERVE_BYTES_REGISTERED)).isEqualTo(600);
  }

  @Test
  void shouldRegisterNoWindowThatCostsMoreThanTheCopiesOfItsBlocks() throws Exception {
    // 16 pages of 10 ns each, and a margin of a half: 240 ns and more for a window.
    start(ServeSettings.Mode.AUTO, 1 << 20, true, price(10, 90));
    write(1, 1, lengths(2, WINDOW / 2));
    write(1, 2, lengths(4, WINDOW / 4));
    readTwice(1, Wanted.of(1, 1, 0));
    assertThat(windowCount()).as("180 ns of copies").isZero();
    readTwice(1, Wanted.of(1, 2, 0));
    assertThat(windowCount()).as("360 ns of copies").isEqualTo(1);
    // Two partitions for each block: half of the blocks.
    write(1, 3, lengths(4, WINDOW / 4));
    readTwice(1, new Wanted(1, 3, 0, 2, false));
    assertThat(windowCount()).isEqualTo(1);
  }

  @Test
  void shouldRegisterWindowsIntoFreeMemoryOnlyAndGiveItToCopiesAtOnce() throws Exception {
    start(ServeSettings.Mode.AUTO, 4 * WINDOW, true, price(10, 24));
    writeAndRead(1, 6);
    assertThat(windowCount()).as("a quarter is left to copies").isEqualTo(3);
    // Four readers need more than what windows leave.
    List<Call> calls = new ArrayList<>();
    for (int reader = 1; reader <= 4; reader++) {
      calls.add(locate(reader, partitions(6, 0, 12)));
      work();
    }
    assertThat(calls).allMatch(call -> call.answered && !call.kinds.contains(Kind.BUSY));
    assertThat(device.maxRegisteredBytes()).isLessThanOrEqualTo(4 * WINDOW);
  }

  @Test
  void shouldRegisterALargeBlockInPlaceOfACopyWhereThatCostsLess() throws Exception {
    start(ServeSettings.Mode.AUTO, 1 << 20, true, pagesCostLessThanCopies());
    write(1, 1, 3 * WINDOW);
    write(1, 2, CHUNK, WINDOW - CHUNK);
    served(2, Wanted.of(1, 2, 0));
    readOnce(1, Wanted.of(1, 1, 0));
    long copiedBytes = counters.value(Counter.BYTES_FROM_COPIES);
    work();
    Call call = served(1, Wanted.of(1, 1, 0));
    assertThat(join(call.bytes)).isEqualTo(expected(1, 1, 0));
    assertThat(counters.value(Counter.BYTES_FROM_COPIES)).isEqualTo(copiedBytes);
    // The second is in the cache already: no byte of it is copied.
    write(1, 3, WINDOW, WINDOW);
    readOnce(1, new Wanted(1, 3, 0, 1, WINDOW - 1, false));
    copiedBytes = counters.value(Counter.BYTES_FROM_COPIES);
    Call first = served(1, Wanted.of(1, 3, 1));
    assertThat(first.copied).isFalse();
    assertThat(join(first.bytes)).isEqualTo(expected(1, 3, 1));
    assertThat(counters.value(Counter.BYTES_FROM_COPIES)).isEqualTo(copiedBytes);
  }

  /** Its head is in another window, and is copied. */
  @Test
  void shouldWaitForTheMemoryOfTheHeadOfABlockWhoseRestHasAWindow() throws Exception {
    start(ServeSettings.Mode.AUTO, 4 * WINDOW, true, pagesCostLessThanCopies());
    write(1, 1, lengths(64, CHUNK));
    write(1, 3, WINDOW, WINDOW - CHUNK, CHUNK + WINDOW);
    readOnce(1, new Wanted(1, 3, 0, 1, WINDOW - 1, false));
    Wanted[] fresh = new Wanted[32];
    Arrays.setAll(fresh, i -> new Wanted(1, 1, i, i + 1, true));
    Call held = served(1, fresh);
    Call call = served(1, Wanted.of(1, 3, 2));
    assertThat(call.answered).as("it waits for memory").isFalse();
    release(held);
    assertThat(call.kinds).isNotEmpty().containsOnly(Kind.LOCATED);
  }

  @Test
  void shouldRefusePartitionsThatAnOutputDoesNotHaveBesideOthersThatWaitForAWindow()
      throws Exception {
    start(ServeSettings.Mode.WINDOW, 1 << 20);
    write(1, 1, 100, 200);
    Wanted[] both = {new Wanted(1, 1, 5, 6, false), Wanted.of(1, 1, 0)};
    assertThat(served(1, both).kinds).containsExactly(Kind.UNKNOWN, Kind.LOCATED);
  }

  @Test
  void shouldTryFewOfTheLocatesThatWaitForWindowsAtEachRelease() throws Exception {
    start(ServeSettings.Mode.WINDOW, WINDOW);
    write(2, 0, WINDOW);
    Call holder = served(99, Wanted.of(2, 0, 0));
    Wanted[] blocks = addOutputs(128, 64, 1, 0);
    AtomicLong looks = countLooks(blocks);
    List<Call> calls = new ArrayList<>();
    for (int reader = 0; reader < 64; reader++) {
      calls.add(served(reader, blocks));
    }
    looks.set(0);
    server.release(1, 999);
    assertThat(looks.get()).isPositive().isLessThanOrEqualTo(32L * 2 * blocks.length);
    release(holder);
    assertThat(calls).allMatch(call -> !call.kinds.isEmpty() && !call.kinds.contains(Kind.BUSY));
  }

  /** The window of the first block may end for that of the second. */
  @Test
  void shouldWaitForTheOneWindowThatFits() throws Exception {
    start(ServeSettings.Mode.WINDOW, WINDOW);
    write(1, 1, WINDOW);
    write(1, 2, WINDOW);
    PinnedBudget.Grant others = budget.tryGrant(WINDOW).orElseThrow();
    Call two = served(2, Wanted.of(1, 1, 0), Wanted.of(1, 2, 0));
    others.close();
    Call one = served(1, Wanted.of(1, 1, 0));
    assertThat(one.kinds).containsExactly(Kind.LOCATED);
    release(one);
    assertThat(two.kinds).isNotEmpty().contains(Kind.LOCATED).doesNotContain(Kind.BUSY);
  }

  /** It was ready, and nothing held it while another disk was read. */
  @Test
  void shouldWaitForTheFirstWindowAgainThatHasEndedForTheSecond() throws Exception {
    Path second = secondDisk();
    start(ServeSettings.Mode.WINDOW, WINDOW);
    write(1, 1, WINDOW);
    outputs.writeIn(second, 2, 1, new Random(2), WINDOW);
    Call call = locate(1, Wanted.of(1, 1, 0), Wanted.of(2, 1, 0));
    workOnce();
    workers.register(0);
    runCommands();
    assertThat(windowCount()).isEqualTo(1);
    work();
    assertThat(call.kinds).contains(Kind.LOCATED).doesNotContain(Kind.BUSY);
  }

  @Test
  void shouldCopyTheHeadOfABlockWhoseFirstWindowTheDeviceRefuses() throws Exception {
    start(ServeSettings.Mode.ODP, 1 << 20);
    write(1, 3, CHUNK, WINDOW);
    Call call = locate(1, Wanted.of(1, 3, 1));
    workOnce();
    device.refuseFiles(new VerbsException("ibv_reg_mr", VerbsException.ENOMEM, "", null));
    workers.runOne(2);
    runCommands();
    device.refuseFiles(false);
    work();
    assertThat(call.kinds).isNotEmpty().containsOnly(Kind.LOCATED);
  }

  /** Both have read the index of the file, and only one of these is kept. */
  @Test
  void shouldAnswerEachOfTwoThatWaitForOneWindow() throws Exception {
    start(ServeSettings.Mode.WINDOW, WINDOW);
    write(1, 1, WINDOW);
    write(1, 2, WINDOW);
    Call one = locate(1, Wanted.of(1, 1, 0));
    Call two = locate(2, Wanted.of(1, 1, 0), Wanted.of(1, 2, 0));
    workers.runOne(0);
    write(1, 1, WINDOW);
    workers.runOne(0);
    work();
    assertThat(one.kinds).containsExactly(Kind.LOCATED);
    assertThat(two.kinds).contains(Kind.LOCATED).doesNotContain(Kind.BUSY);
  }

  @Test
  void shouldMeasurePricesAgainThatCouldNotBeMeasuredAtTheStart() throws Exception {
    device.refuseFiles(new VerbsException("ibv_reg_mr", VerbsException.ENOMEM, "", null));
    start(ServeSettings.Mode.AUTO, 64 << 20, true, null);
    work();
    device.refuseFiles(false);
    AtomicBoolean measured = new AtomicBoolean();
    device.onNextFile(() -> measured.set(true));
    write(1, 1, CHUNK);
    readOnce(1, Wanted.of(1, 1, 0));
    assertThat(measured).as("at once").isFalse();
    pass(Duration.ofSeconds(5));
    readOnce(1, Wanted.of(1, 1, 0));
    assertThat(measured).isTrue();
  }

  /** EAGAIN is the answer of a control group. */
  @ParameterizedTest
  @ValueSource(ints = {VerbsException.ENOMEM, 11})
  void shouldCopyAndRegisterAgainSoonWhereTheDeviceHasNoRoom(int errno) throws Exception {
    start(ServeSettings.Mode.AUTO, 1 << 20);
    writeAndRead(1, 1);
    assertThat(windowCount()).isEqualTo(1);
    device.refuseFiles(new VerbsException("ibv_reg_mr", errno, "", null));
    writeAndRead(2, 2);
    assertThat(windowCount()).as("an idle one may hold the room").isZero();
    device.refuseFiles(false);
    assertThat(served(1, Wanted.of(1, 2, 1)).bytes).containsExactly(expected(1, 2, 1));
    assertThat(windowCount()).as("not at once").isZero();
    pass(Duration.ofMillis(10));
    readOnce(1, Wanted.of(1, 2, 2));
    assertThat(served(1, Wanted.of(1, 2, 3)).copied).isFalse();
  }

  @Test
  void shouldCopyALargeBlockWhoseWindowsTheDeviceRefuses() throws Exception {
    // A block of the greatest length that one answer locates, and a little more.
    budgetOfChunks(256 << 10);
    start(ServeSettings.Mode.AUTO, 1L << 30);
    device.refuseFiles(true);
    int bytes = (16 << 20) + 1;
    addOutputs(1, 1, bytes, 0);
    long from = 0;
    for (int answer = 0; answer < 3 && from < bytes; answer++) {
      Call call = served(1, new Wanted(1, 0, 0, 1, from, false));
      assertThat(call.kinds).isNotEmpty().containsOnly(Kind.LOCATED);
      assertThat(call.copied).isTrue();
      from += call.bytes.stream().mapToInt(one -> one.length).sum();
      server.release(1, call.leaseId);
    }
    assertThat(from).isEqualTo(bytes);
  }

  @Test
  void shouldComputeChecksumsOfTheBytesThatItCopies() throws Exception {
    start(ServeSettings.Mode.AUTO, 1 << 20);
    int bytes = 3 * CHUNK + 100;
    write(1, 1, bytes);
    Call fresh = served(1, new Wanted(1, 1, 0, 1, true));
    assertThat(fresh.copied).isTrue();
    assertThat(join(fresh.bytes)).isEqualTo(expected(1, 1, 0));
    assertThat(fresh.sums).hasSize(fresh.bytes.size());
    for (int i = 0; i < fresh.sums.size(); i++) {
      CRC32C crc = new CRC32C();
      crc.update(fresh.bytes.get(i));
      assertThat(fresh.sums.get(i)).isEqualTo(crc.getValue());
    }
  }

  // Scarce memory.

  @Test
  void shouldEvictNoWindowThatIsLeasedOrAwaited() throws Exception {
    // Room for two windows.
    start(ServeSettings.Mode.WINDOW, 2 * WINDOW);
    for (int map = 1; map <= 3; map++) {
      write(1, map, WINDOW);
    }
    Call leased = served(1, Wanted.of(1, 1, 0));
    Call awaited = locate(2, Wanted.of(1, 2, 0));
    workOnce();
    Call third = locate(3, Wanted.of(1, 3, 0));
    work();
    assertThat(awaited.kinds).containsExactly(Kind.LOCATED);
    assertThat(third.answered).as("it waits").isFalse();
    pass(Duration.ofMillis(250));
    assertThat(third.kinds).containsExactly(Kind.BUSY);
    Call fourth = served(3, Wanted.of(1, 3, 0));
    release(leased);
    assertThat(fourth.kinds).containsExactly(Kind.LOCATED);
    assertThat(counters.value(Counter.WINDOWS_EVICTED)).isEqualTo(1);
    assertThat(device.maxRegisteredBytes()).isLessThanOrEqualTo(2 * WINDOW);
  }

  @Test
  void shouldEvictNoWindowThatAnotherReaderHasNotReleased() throws Exception {
    // Room for one window.
    start(ServeSettings.Mode.WINDOW, WINDOW);
    write(1, 1, WINDOW);
    write(1, 2, WINDOW);
    Call first = served(1, Wanted.of(1, 1, 0));
    Call second = served(2, Wanted.of(1, 1, 0));
    server.release(1, first.leaseId);
    Call other = served(3, Wanted.of(1, 2, 0));
    assertThat(other.answered).as("it waits").isFalse();
    release(second);
    assertThat(other.kinds).containsExactly(Kind.LOCATED);
  }

  @Test
  void shouldNotOverwriteACopyThatAReaderHasNotReleased() throws Exception {
    start(ServeSettings.Mode.COPY, CHUNK);
    write(1, 1, CHUNK, CHUNK);
    Call held = served(1, Wanted.of(1, 1, 0));
    pass(LEASE);
    assertThat(server.hasExpiredLease(1)).isTrue();
    Call other = served(2, Wanted.of(1, 1, 1));
    pass(Duration.ofMillis(250));
    assertThat(other.kinds).as("a deadline frees nothing").containsExactly(Kind.BUSY);
    assertThat(held.kinds).containsExactly(Kind.LOCATED);
    Call later = served(2, Wanted.of(1, 1, 1));
    server.onConnectionGone(1);
    work();
    assertThat(later.kinds).containsExactly(Kind.LOCATED);
    assertThat(counters.value(Counter.SERVE_WAITS)).isEqualTo(2);
    assertThat(counters.value(Counter.SERVE_WAITS_VAIN)).isEqualTo(1);
  }

  @Test
  void shouldServeALocateThatWaitsWhenOthersHaveReturnedTheMemory() throws Exception {
    start(ServeSettings.Mode.COPY, WINDOW);
    pass(Duration.ZERO);
    write(1, 1, CHUNK);
    PinnedBudget.Grant others = budget.tryGrant(WINDOW).orElseThrow();
    Call call = served(1, Wanted.of(1, 1, 0));
    assertThat(call.answered).isFalse();
    others.close();
    pass(Duration.ofMillis(20));
    work();
    assertThat(call.kinds).containsExactly(Kind.LOCATED);
  }

  @Test
  void shouldLeaveMemoryToOthersWhenAReaderReleasesNothing() throws Exception {
    start(ServeSettings.Mode.COPY, 16 * CHUNK);
    write(1, 1, lengths(64, CHUNK));
    Wanted[] all = partitions(1, 0, 64);
    Call frozen = served(1, all);
    assertThat(frozen.bytes).as("as much as it leaves").hasSize(8);
    Call again = served(1, Arrays.copyOfRange(all, 8, 64));
    for (int i = 0; i < 20; i++) {
      Call call = served(2 + i % 3, Wanted.of(1, 1, i));
      assertThat(call.kinds).containsExactly(Kind.LOCATED);
      server.release(2 + i % 3, call.leaseId);
    }
    assertThat(again.answered).isFalse();
    // A second connection of the same reader gets no share of its own.
    Call otherConnection = new Call(9, 1, ByteBuffer.allocate(16 << 10), Locate.OWN, all);
    server.locate(otherConnection.locate);
    work();
    assertThat(otherConnection.answered).isFalse();
    assertThat(server.holdsWhatOthersLack(1, 1, nowNs)).as("itself").isFalse();
    pass(Duration.ofMillis(250));
    assertThat(again.kinds).containsOnly(Kind.BUSY);
  }

  @Test
  void shouldNameTheReaderThatHoldsWhatOthersLack() throws Exception {
    start(ServeSettings.Mode.COPY, CHUNK);
    write(1, 1, CHUNK, CHUNK);
    served(1, Wanted.of(1, 1, 0));
    assertThat(server.holdsWhatOthersLack(1, 1, nowNs)).isFalse();
    served(2, Wanted.of(1, 1, 1));
    assertThat(server.holdsWhatOthersLack(1, 1, nowNs)).isTrue();
    assertThat(server.holdsWhatOthersLack(2, 2, nowNs)).isFalse();
    pass(Duration.ofSeconds(10));
    assertThat(server.holdsWhatOthersLack(1, 1, nowNs)).isFalse();
  }

  @Test
  void shouldServeTheReaderFirstThatHoldsLeast() throws Exception {
    start(ServeSettings.Mode.COPY, 4 * CHUNK);
    write(1, 1, lengths(8, CHUNK));
    List<Call> held = new ArrayList<>();
    for (int i = 0; i < 4; i++) {
      held.add(served(10 + i, Wanted.of(1, 1, i)));
    }
    Call rich = served(10, Wanted.of(1, 1, 5));
    Call poor = served(20, Wanted.of(1, 1, 6));
    release(held.get(3));
    assertThat(poor.kinds).containsExactly(Kind.LOCATED);
    assertThat(rich.answered).isFalse();
    release(poor);
    assertThat(rich.answered).as("it would leave nothing").isFalse();
    release(held.get(2));
    assertThat(rich.kinds).containsExactly(Kind.LOCATED);
  }

  @Test
  void shouldFreeIdleMemoryThatOthersLack() throws Exception {
    start(ServeSettings.Mode.WINDOW, 4 * WINDOW);
    for (int map = 1; map <= 3; map++) {
      write(1, map, WINDOW);
      Call call = served(1, Wanted.of(1, map, 0));
      server.release(1, call.leaseId);
    }
    assertThat(budget.availableBytes()).isLessThan(2 * WINDOW);
    for (int i = 0; i < 100; i++) {
      budget.reportShortage(2 * WINDOW);
    }
    work();
    assertThat(budget.availableBytes()).isGreaterThanOrEqualTo(2 * WINDOW);
    assertThat(counters.value(Counter.WINDOWS_EVICTED)).isEqualTo(1);
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void shouldFreeUnusedMemoryOfCopiesThatOthersLackOrTheDeviceRefuses(boolean refused)
      throws Exception {
    start(ServeSettings.Mode.COPY, 4 * WINDOW);
    write(1, 1, CHUNK);
    readOnce(1, Wanted.of(1, 1, 0));
    assertThat(device.regionCount()).isEqualTo(1);
    if (refused) {
      budget.reportRefusal(CHUNK);
    } else {
      budget.reportShortage(4 * WINDOW);
    }
    work();
    assertThat(device.regionCount()).isZero();
  }

  @Test
  void shouldKeepWindowsThatHoldNothingOfTheMemoryThatOthersLack() throws Exception {
    start(ServeSettings.Mode.ODP, 4 * WINDOW);
    write(1, 1, CHUNK);
    write(1, 2, CHUNK);
    readOnce(1, Wanted.of(1, 1, 0));
    readOnce(1, new Wanted(1, 2, 0, 1, true));
    int windows = windowCount();
    assertThat(windows).isPositive();
    assertThat(device.regionCount()).isGreaterThan(windows);
    budget.reportShortage(4 * WINDOW);
    work();
    assertThat(windowCount()).isEqualTo(windows);
    assertThat(device.regionCount()).isEqualTo(windows);
  }

  @Test
  void shouldFreeIdleWindowsOfADiskThatHangsAndOfOthers() throws Exception {
    Path second = secondDisk().resolve("shuffle_2_1.data");
    start(ServeSettings.Mode.WINDOW, 3 * WINDOW);
    Files.write(second, new byte[WINDOW]);
    outputs.add(2, 1, new MapOutput(second, new long[] {0, WINDOW}, new long[1]));
    readOnce(1, Wanted.of(2, 1, 0));
    for (int map = 1; map <= 2; map++) {
      write(1, map, WINDOW);
      readOnce(1, Wanted.of(1, map, 0));
    }
    // Receive memory lacks room twice, and no disk does any work.
    for (int i = 1; i <= 2; i++) {
      budget.reportShortage((long) i * WINDOW);
      runCommands();
      runCommands();
      assertThat(budget.availableBytes()).isGreaterThanOrEqualTo((long) i * WINDOW);
    }
  }

  @Test
  void shouldReturnWindowsOfALocateThatEndsWithNothing() throws Exception {
    Path second = secondDisk();
    start(ServeSettings.Mode.WINDOW, 1 << 20);
    write(1, 1, 100);
    outputs.writeIn(second, 2, 1, new Random(2), 200);
    readOnce(1, Wanted.of(1, 1, 0));
    // The second disk does nothing.
    Call call = locate(1, Wanted.of(1, 1, 0), Wanted.of(2, 1, 0));
    server.unregisterShuffle(1);
    runCommands();
    pass(Duration.ofMillis(TIMEOUT_MS / 2));
    assertThat(call.kinds).containsOnly(Kind.OVERLOADED);
    work();
    assertThat(windowCount()).isZero();
  }

  @Test
  void shouldAnswerALocateThatWaitsWhenOthersHaveRegisteredItsWindow() throws Exception {
    start(ServeSettings.Mode.WINDOW, 2 * WINDOW);
    write(1, 1, WINDOW);
    PinnedBudget.Grant others = budget.tryGrant(2 * WINDOW).orElseThrow();
    Call first = served(1, Wanted.of(1, 1, 0));
    others.close();
    Call second = served(2, Wanted.of(1, 1, 0));
    release(second);
    assertThat(first.kinds).containsExactly(Kind.LOCATED);
  }

  @Test
  void shouldEvictOneWindowForANewOne() throws Exception {
    start(ServeSettings.Mode.AUTO, 4 * WINDOW, true, price(10, 24));
    writeAndRead(1, 3);
    assertThat(windowCount()).isEqualTo(3);
    pass(Duration.ofSeconds(5));
    writeAndRead(4, 4);
    assertThat(counters.value(Counter.WINDOWS_EVICTED)).isEqualTo(1);
  }

  @Test
  void shouldEndAWindowThatWasReadWholeForANewOneAtOnce() throws Exception {
    // A window pays by eleven blocks and more.
    start(ServeSettings.Mode.AUTO, 4 * WINDOW, true, price(10, 24));
    writeAndRead(1, 3);
    // It was used last.
    Wanted[] rest = partitions(3, 1, 16);
    readOnce(1, rest);
    write(1, 4, lengths(16, CHUNK));
    for (int i = 0; i < 3; i++) {
      readOnce(1, Wanted.of(1, 4, i));
    }
    assertThat(counters.value(Counter.WINDOWS_EVICTED)).isEqualTo(1);
    assertThat(served(1, Wanted.of(1, 4, 3)).copied).isFalse();
    assertThat(served(1, Wanted.of(1, 1, 1)).copied).as("not the oldest one").isFalse();
  }

  @Test
  void shouldReturnAnIdleWindowAlthoughOthersAreReadWholeMeanwhile() throws Exception {
    start(ServeSettings.Mode.AUTO, 1 << 20);
    writeAndRead(1, 2);
    pass(IDLE.minusSeconds(1));
    Wanted[] rest = partitions(2, 1, 16);
    readOnce(1, rest);
    pass(Duration.ofSeconds(2));
    work();
    assertThat(windowCount()).isEqualTo(1);
  }

  @Test
  void shouldCountBytesOfAWindowOnceThatAnAnswerNamesTwice() throws Exception {
    start(ServeSettings.Mode.AUTO, 4 * WINDOW, true, price(10, 24));
    writeAndRead(1, 1);
    write(1, 2, CHUNK);
    Wanted[] half = new Wanted[9];
    Arrays.setAll(half, i -> i < 8 ? Wanted.of(1, 1, i + 1) : Wanted.of(1, 2, 0));
    // The last one is cold, so the answer is written twice.
    readOnce(1, half);
    writeAndRead(3, 6);
    assertThat(served(1, Wanted.of(1, 1, 9)).copied).isFalse();
  }

  @Test
  void shouldEndWindowsForALocateThatWaitsWhenTheyBecomeIdle() throws Exception {
    start(ServeSettings.Mode.AUTO, 4 * WINDOW);
    List<Call> held = new ArrayList<>();
    for (int map = 1; map <= 3; map++) {
      write(1, map, lengths(16, CHUNK));
      readOnce(map, Wanted.of(1, map, 0));
      held.add(served(map, Wanted.of(1, map, 1)));
    }
    write(1, 4, WINDOW);
    Call waiting = null;
    for (int reader = 4; waiting == null || waiting.answered; reader++) {
      waiting = locate(reader, Wanted.of(1, 4, 0));
      work();
    }
    for (int map = 1; map <= 3; map++) {
      server.release(map, held.get(map - 1).leaseId);
    }
    work();
    assertThat(waiting.answered).isTrue();
    assertThat(waiting.kinds).doesNotContain(Kind.BUSY);
  }

  @Test
  void shouldGiveAReaderMemoryThatIdleWindowsHold() throws Exception {
    start(ServeSettings.Mode.AUTO, 4 * WINDOW, true, price(10, 24));
    writeAndRead(1, 3);
    write(1, 4, lengths(14, CHUNK));
    Wanted[] blocks = partitions(4, 0, 14);
    Call call = served(1, blocks);
    assertThat(call.kinds).hasSize(14);
    assertThat(counters.value(Counter.WINDOWS_EVICTED)).isZero();
    server.release(1, call.leaseId);
  }

  @Test
  void shouldKeepAnIndexWhateverAPeerAsksOfIt() throws Exception {
    start(ServeSettings.Mode.COPY, 1 << 20);
    write(1, 1, 3 * CHUNK);
    served(1, Wanted.of(1, 1, 0));
    assertThat(served(2, new Wanted(1, 1, 0, 1, 1, true)).kinds).containsExactly(Kind.UNKNOWN);
    served(1, Wanted.of(1, 1, 0));
    assertThat(outputs.opened()).isEqualTo(1);
  }

  @Test
  void shouldWakeAsManyLocatesAsThereIsMemoryFor() throws Exception {
    start(ServeSettings.Mode.COPY, 4 * CHUNK);
    write(1, 1, lengths(80, CHUNK));
    Call held = served(1, Wanted.of(1, 1, 0));
    for (int reader = 2; reader <= 4; reader++) {
      served(reader, Wanted.of(1, 1, reader));
    }
    for (int reader = 5; reader < 64; reader++) {
      served(reader, Wanted.of(1, 1, reader));
    }
    server.release(1, held.leaseId);
    server.release(1, 999);
    assertThat(workers.waiting(0)).isEqualTo(1);
    work();
  }

  /** A block has a checksum for each partition, so an answer has room for some blocks only. */
  @Test
  void shouldCopyOnlyWhatTheAnswerCanName() throws Exception {
    budgetOfChunks(256 << 10);
    start(ServeSettings.Mode.COPY, 64 << 20);
    int maps = 32;
    int partitions = 200;
    Path file = folder.resolve("shuffle_1_0.data");
    Files.write(file, new byte[partitions * 100]);
    long[] offsets = IntStream.rangeClosed(0, partitions).mapToLong(i -> i * 100L).toArray();
    AtomicLong copied = new AtomicLong();
    for (int map = 0; map < maps; map++) {
      outputs.add(
          1,
          map,
          new MapOutput(file, offsets, new long[partitions]) {
            @Override
            public void read(long fileOffset, ByteBuffer target) throws IOException {
              copied.addAndGet(target.remaining());
              super.read(fileOffset, target);
            }
          });
    }
    long[] from = new long[maps];
    int requests = 0;
    for (int left = maps; left > 0; requests++) {
      int[] asked = IntStream.range(0, maps).filter(i -> from[i] < partitions * 100L).toArray();
      Call call =
          served(
              1,
              IntStream.of(asked)
                  .mapToObj(map -> new Wanted(1, map, 0, partitions, from[map], false))
                  .toArray(Wanted[]::new));
      assertThat(call.kinds).containsOnly(Kind.LOCATED);
      for (int i = 0; i < call.blocks.size(); i++) {
        from[asked[call.blocks.get(i)]] += call.bytes.get(i).length;
      }
      left = (int) LongStream.of(from).filter(bytes -> bytes < partitions * 100L).count();
      server.release(1, call.leaseId);
    }
    assertThat(copied.get()).isEqualTo(maps * partitions * 100L);
    assertThat(requests).as("16 KiB have room for five blocks").isBetween(7, 8);
  }

  /** Its end may be copied first, and has checksums enough for the whole answer. */
  @Test
  void shouldGiveTheRoomOfAnAnswerToTheBeginningOfABlock() throws Exception {
    budgetOfChunks(256 << 10);
    start(ServeSettings.Mode.COPY, 64 << 20);
    Path file = folder.resolve("shuffle_1_1_0.data");
    Files.write(file, new byte[2 << 20]);
    long[] offsets = new long[8_194];
    Arrays.setAll(offsets, i -> Math.max(0, i - 1) * 256L);
    outputs.add(1, 1, new MapOutput(file, offsets, new long[8_193]));
    // It is empty, so that no memory is registered yet.
    readOnce(1, Wanted.of(1, 1, 0));
    Call call = locate(2, new Wanted(1, 1, 0, 8_193, false));
    device.onNextRegistration(
        () -> {
          if (workers.waiting(0) > 0) {
            workers.runOne(0);
          }
        });
    workers.runOne(0);
    work();
    assertThat(call.kinds).isNotEmpty().containsOnly(Kind.LOCATED);
  }

  @Test
  void shouldNotKeepTheEndOfABlockWhoseBeginningHasNoMemory() throws Exception {
    budgetOfChunks(256 << 10);
    start(ServeSettings.Mode.COPY, 4 << 20);
    write(1, 1, 2 << 20);
    write(1, 2, lengths(32, 256 << 10));
    readOnce(1, new Wanted(1, 1, 0, 1, (2 << 20) - 1, false));
    readOnce(1, Wanted.of(1, 2, 31));
    List<Call> holders = new ArrayList<>();
    for (int i = 0; i < 16; i++) {
      holders.add(served(10 + i, Wanted.of(1, 2, i)));
    }
    locate(1, Wanted.of(1, 1, 0));
    workers.runOne(0);
    server.release(10, holders.get(0).leaseId);
    workers.runOne(0);
    runCommands();
    assertThat(served(2, Wanted.of(1, 2, 20)).kinds).containsExactly(Kind.LOCATED);
    nowNs += Duration.ofSeconds(1).toNanos();
    server.doWork(nowNs);
    work();
  }

  @Test
  void shouldShareWhatReceiveMemoryLeaves() throws Exception {
    start(ServeSettings.Mode.COPY, 16 * CHUNK);
    write(1, 1, lengths(80, CHUNK));
    PinnedBudget.Grant received = budget.tryGrant(8 * CHUNK).orElseThrow();
    served(1, partitions(1, 0, 64));
    assertThat(served(2, Wanted.of(1, 1, 70)).kinds).containsExactly(Kind.LOCATED);
    received.close();
  }

  @Test
  void shouldCountNoChunkOfARegistrationThatEndedUnexpectedly() throws Exception {
    start(ServeSettings.Mode.COPY, CHUNK);
    write(1, 1, 100);
    device.onNextRegistration(
        () -> DiskWorkTest.<RuntimeException>fail(new OutOfMemoryError("Direct buffer memory")));
    assertThat(served(1, Wanted.of(1, 1, 0)).kinds).containsExactly(Kind.UNKNOWN);
    assertThat(served(1, Wanted.of(1, 1, 0)).kinds).containsExactly(Kind.LOCATED);
  }

  @Test
  void shouldCountAChunkForItsReaderBeforeItIsTaken() throws Exception {
    start(ServeSettings.Mode.COPY, 2 * CHUNK);
    write(1, 1, lengths(2, CHUNK));
    locate(1, Wanted.of(1, 1, 0));
    locate(1, Wanted.of(1, 1, 1));
    device.onNextRegistration(() -> workers.runOne(0));
    workers.runOne(0);
    assertThat(budget.pinnedBytes()).isEqualTo(CHUNK);
    work();
  }

  // Cold and many map outputs.

  /** Map outputs of one shuffle with empty blocks, but for the first one of each. */
  private Wanted[] addOutputs(int count, int partitions, int firstBytes, int wanted)
      throws IOException {
    Path file = folder.resolve("shuffle_1_0.data");
    Files.write(file, new byte[firstBytes]);
    long[] offsets = new long[partitions + 1];
    Arrays.fill(offsets, 1, offsets.length, firstBytes);
    long[] sums = new long[partitions];
    Wanted[] blocks = new Wanted[count];
    for (int map = 0; map < count; map++) {
      outputs.add(1, map, new MapOutput(file, offsets, sums));
      blocks[map] = Wanted.of(1, map, wanted);
    }
    return blocks;
  }

  /** Lets map outputs of one block count how often they are looked at. */
  private AtomicLong countLooks(Wanted[] blocks) {
    AtomicLong looks = new AtomicLong();
    for (Wanted block : blocks) {
      MapOutput output = outputs.get(1, block.mapId);
      outputs.add(
          1,
          block.mapId,
          new MapOutput(output.dataFile(), new long[] {0, 1}, new long[] {1}) {
            @Override
            public int partitions() {
              looks.incrementAndGet();
              return super.partitions();
            }
          });
    }
    return looks;
  }

  /** The disk gives one result for each turn of the agent; so many are enough for all loads. */
  private void workOneByOne(int turns) {
    for (int i = 0; i < turns && workers.waiting(0) + commands.size() > 0; i++) {
      if (workers.waiting(0) > 0) {
        workers.runOne(0);
      }
      runCommands();
    }
  }

  @Test
  void shouldLoadEachOfManyColdOutputsOnceWhateverTheirBlocksHold() throws Exception {
    start(ServeSettings.Mode.COPY, 1 << 20);
    // 104 of them fit.
    Wanted[] empty = addOutputs(128, 20_000, 1, 5);
    Call first = locate(1, empty);
    assertThat(workers.waiting(0)).as("16 in each job").isEqualTo(8);
    workOneByOne(1_000);
    assertThat(first.kinds).hasSize(128).containsOnly(Kind.LOCATED);
    assertThat(outputs.opened()).isEqualTo(128);
    Call again = locate(1, empty);
    workOneByOne(1_000);
    assertThat(again.kinds).hasSize(128).containsOnly(Kind.LOCATED);
    assertThat(outputs.opened()).isEqualTo(128 + 24);
  }

  /** Blocks of two map outputs by turns, as a reader names those of several partitions. */
  private static Wanted[] byTurns(int partitions) {
    Wanted[] blocks = new Wanted[2 * partitions];
    Arrays.setAll(blocks, i -> Wanted.of(1, 1 + i % 2, i / 2));
    return blocks;
  }

  @Test
  void shouldReadAColdIndexOnceForAllBlocksOfARequest() throws Exception {
    start(ServeSettings.Mode.AUTO, 8 * WINDOW);
    write(1, 1, lengths(16, CHUNK));
    write(1, 2, lengths(16, CHUNK));
    Call call = served(1, byTurns(16));
    assertThat(call.kinds).hasSize(32).containsOnly(Kind.LOCATED);
    assertThat(outputs.opened()).isEqualTo(2);
    assertThat(counters.value(Counter.EXTENTS_FROM_COPIES))
        .as("the others pay for a window")
        .isLessThanOrEqualTo(2);
  }

  /** Whatever is known of the block, and without memory. */
  @Test
  void shouldTellALengthInPlaceOfACopyForWhichTheReaderHasNoMemory() throws Exception {
    start(ServeSettings.Mode.AUTO, CHUNK);
    write(1, 1, 100, 200, 0);
    write(1, 2, 300);
    Call holds = served(1, Wanted.of(1, 2, 0));
    Wanted[] blocks = {
      Wanted.withoutCopy(1, 1, 0),
      Wanted.withoutCopy(1, 1, 1),
      Wanted.withoutCopy(1, 1, 2),
      Wanted.withoutCopy(1, 3, 0)
    };
    Call cold = served(2, blocks);
    assertThat(cold.kinds)
        .containsExactly(Kind.NOT_COPIED, Kind.NOT_COPIED, Kind.LOCATED, Kind.UNKNOWN);
    assertThat(cold.lengths).startsWith(100L, 200L, 0L);
    Call warm = locate(2, Arrays.copyOf(blocks, 3));
    assertThat(warm.answered).as("without a disk: the index is known").isTrue();
    assertThat(warm.kinds).isEqualTo(cold.kinds.subList(0, 3));
    assertThat(warm.leaseId).isZero();
    release(holds);
    assertThat(served(2, Wanted.of(1, 1, 1)).bytes.get(0)).isEqualTo(expected(1, 1, 1));
    assertThat(counters.value(Counter.BYTES_FROM_COPIES)).isEqualTo(500);
  }

  @ParameterizedTest
  @EnumSource(names = {"WINDOW", "AUTO"})
  void shouldRegisterAWindowInPlaceOfACopyAlsoForAReaderThatHasNoMemory(ServeSettings.Mode mode)
      throws Exception {
    start(mode, 8 * WINDOW);
    write(1, 1, lengths(16, CHUNK));
    Wanted[] blocks =
        IntStream.range(0, 16).mapToObj(i -> Wanted.withoutCopy(1, 1, i)).toArray(Wanted[]::new);
    Call call = served(1, blocks);
    assertThat(call.kinds).hasSize(16).containsOnly(Kind.LOCATED);
    assertThat(call.copied).isFalse();
  }

  @Test
  void shouldLocateWhatIsInAWindowForAReaderThatHasNoMemory() throws Exception {
    start(ServeSettings.Mode.AUTO, 8 * WINDOW);
    writeAndRead(1, 1);
    Call call = locate(1, Wanted.withoutCopy(1, 1, 3));
    assertThat(call.kinds).containsExactly(Kind.LOCATED);
    assertThat(call.copied).isFalse();
    assertThat(call.bytes.get(0)).isEqualTo(expected(1, 1, 3));
  }

  @Test
  void shouldServeAllBlocksOfARequestWhoseIndexIsNotKept() throws Exception {
    indexPartitions = 10;
    start(ServeSettings.Mode.AUTO, 8 * WINDOW);
    write(1, 1, lengths(16, 100));
    write(1, 2, lengths(16, 100));
    Call call = served(1, byTurns(16));
    assertThat(call.kinds).hasSize(32).containsOnly(Kind.LOCATED);
  }

  @Test
  void shouldRefuseAllBlocksOfAMapOutputThatIsGone() throws Exception {
    start(ServeSettings.Mode.AUTO, 8 * WINDOW);
    write(1, 1, lengths(3, 100));
    Call call = served(1, byTurns(3));
    assertThat(call.kinds).hasSize(6).contains(Kind.LOCATED, Kind.UNKNOWN);
    assertThat(call.kinds.stream().filter(kind -> kind == Kind.UNKNOWN)).hasSize(3);
  }

  @Test
  void shouldLoadBlocksOfManyColdOutputsInFewJobs() throws Exception {
    start(ServeSettings.Mode.COPY, 8 * CHUNK);
    for (int map = 1; map <= 16; map++) {
      write(1, map, 100, 100);
    }
    Wanted[] blocks = new Wanted[32];
    Arrays.setAll(blocks, i -> Wanted.of(1, 1 + i / 2, i % 2));
    Call call = locate(1, blocks);
    int jobs = 0;
    for (; workers.waiting(0) > 0; jobs++) {
      workOnce();
    }
    assertThat(jobs).isLessThanOrEqualTo(3);
    assertThat(call.kinds).hasSize(32);
  }

  @Test
  void shouldCopyWhatAWindowBehindAHangingOneWouldDelay() throws Exception {
    start(ServeSettings.Mode.AUTO, 8 * WINDOW);
    write(1, 1, lengths(16, CHUNK));
    write(1, 2, lengths(16, CHUNK));
    readOnce(1, Wanted.of(1, 1, 0));
    locate(1, Wanted.of(1, 1, 0));
    // Its registration hangs from now on.
    pass(Duration.ofMillis(50));
    Wanted[] all = partitions(2, 0, 16);
    Call call = locate(2, all);
    workOneByOne(100);
    assertThat(call.answered).isTrue();
    work();
  }

  /** They would keep memory from copies and receivers for as long as it hangs. */
  @Test
  void shouldBeginOneWindowBehindARegistrationThatHangs() throws Exception {
    start(ServeSettings.Mode.AUTO, 64 * WINDOW);
    for (int map = 1; map <= 10; map++) {
      write(1, map, lengths(16, CHUNK));
    }
    readOnce(1, Wanted.of(1, 1, 0));
    locate(1, Wanted.of(1, 1, 0));
    for (int map = 2; map <= 10; map++) {
      // The first registration hangs.
      pass(Duration.ofMillis(50));
      Call call = locate(1, partitions(map, 0, 16));
      workOneByOne(100);
      assertThat(call.answered).as("map output %d", map).isTrue();
    }
    assertThat(workers.registrations(0)).isLessThanOrEqualTo(2);
    work();
  }

  @Test
  void shouldCopySixteenMebibytesOfAKnownOutputWhoseWindowsAreRefused() throws Exception {
    budgetOfChunks(256 << 10);
    start(ServeSettings.Mode.AUTO, 1L << 30);
    long end = WINDOW + (16L << 20);
    Path file = folder.resolve("shuffle_1_1_0.data");
    try (RandomAccessFile sparse = new RandomAccessFile(file.toFile(), "rw")) {
      sparse.setLength(end);
    }
    outputs.add(1, 1, new MapOutput(file, new long[] {0, WINDOW, end}, new long[2]));
    readOnce(1, new Wanted(1, 1, 0, 1, WINDOW - 1, false));
    device.refuseFiles(true);
    assertThat(served(1, Wanted.of(1, 1, 1)).kinds).containsOnly(Kind.LOCATED);
  }

  @Test
  void shouldCopyTheHeadOfABlockWhoseWindowIsRefusedAfterItsTail() throws Exception {
    start(ServeSettings.Mode.AUTO, 1 << 20, true, pagesCostLessThanCopies());
    write(1, 3, WINDOW, WINDOW + CHUNK, WINDOW - CHUNK);
    readOnce(1, new Wanted(1, 3, 0, 1, WINDOW - 1, false));
    device.refuseFiles(true);
    assertThat(served(1, Wanted.of(1, 3, 1)).kinds).containsOnly(Kind.LOCATED);
  }

  @Test
  void shouldNotWaitForWindowsOfADiskThatHangs() throws Exception {
    Path second = secondDisk();
    start(ServeSettings.Mode.AUTO, 64 * WINDOW);
    outputs.writeIn(second, 2, 1, new Random(2), lengths(32, CHUNK));
    outputs.writeIn(second, 2, 2, new Random(3), 100);
    write(1, 1, 100);
    // Its index is known, its second window is not made.
    served(1, Wanted.of(2, 1, 0));
    List<Boolean> answered = new ArrayList<>();
    outputs.duringNextOpen(
        () -> {
          nowNs += Duration.ofMillis(1_001).toNanos();
          Call both = locate(2, Wanted.of(2, 1, 20), Wanted.of(1, 1, 0));
          workOnce();
          answered.add(both.answered);
        });
    locate(3, Wanted.of(2, 2, 0));
    workers.runOne(1);
    work();
    assertThat(answered).containsExactly(true);
  }

  /** The end of the test closes the server, and then the budget, which must have nothing pinned. */
  @Test
  void shouldRegisterNothingForALoadThatEndsWhileItCloses() throws Exception {
    start(ServeSettings.Mode.AUTO, 1 << 20);
    write(1, 1, 100);
    Call call = locate(1, Wanted.of(1, 1, 0));
    assertThat(call.answered).isFalse();
  }

  @Test
  void shouldServeAnOutputAloneThatIsLargerThanTheCache() throws Exception {
    start(ServeSettings.Mode.AUTO, 1 << 20);
    Wanted[] blocks = addOutputs(2, INDEX + 1, 1_000, 0);
    Call both = served(1, blocks);
    assertThat(both.kinds).containsExactly(Kind.LOCATED, Kind.LOCATED);
    assertThat(windowCount()).isZero();
  }

  /** An index that loads must not cause the whole answers to be written that wait for it. */
  @Test
  void shouldDoWorkForAColdStageThatIsLinearInItsBlocks() throws Exception {
    int readers = 64;
    start(ServeSettings.Mode.COPY, 64 << 20);
    Wanted[] blocks = addOutputs(128, 64, 1, 0);
    AtomicLong looks = countLooks(blocks);
    List<Call> calls = new ArrayList<>();
    for (int reader = 0; reader < readers; reader++) {
      calls.add(locate(reader, blocks));
    }
    workOneByOne(10_000);
    assertThat(calls).allMatch(call -> call.kinds.size() == 128 && !call.kinds.contains(Kind.BUSY));
    assertThat(looks.get()).isLessThanOrEqualTo(8L * readers * blocks.length);
  }

  @Test
  void shouldAnswerAtTheDeadlineWithWhatIsReady() throws Exception {
    Path second = secondDisk();
    start(ServeSettings.Mode.COPY, 1 << 20);
    write(1, 1, 100);
    outputs.writeIn(second, 2, 1, new Random(2), 200);
    Call call = locate(1, Wanted.of(2, 1, 0), Wanted.of(1, 1, 0));
    // The second disk does nothing.
    workOnce();
    assertThat(call.answered).isFalse();
    pass(Duration.ofMillis(TIMEOUT_MS / 2));
    assertThat(call.blocks).containsExactly(1);
    assertThat(call.kinds).containsExactly(Kind.LOCATED);
    server.release(1, call.leaseId);
    Call alone = locate(1, Wanted.of(2, 1, 0));
    pass(Duration.ofMillis(TIMEOUT_MS / 2));
    assertThat(alone.kinds).containsExactly(Kind.OVERLOADED);
    // What comes late is returned, see close().
    work();
  }

  @Test
  void shouldTakeNothingFromAMessageThatWasOverwrittenAfterItsAnswer() throws Exception {
    start(ServeSettings.Mode.COPY, 1 << 20);
    write(1, 1, 100, 100);
    write(1, 2, 300, 100);
    ByteBuffer message = ByteBuffer.allocate(16 << 10);
    Call late = new Call(1, 1, message, Locate.OWN, Wanted.of(1, 1, 0));
    server.locate(late.locate);
    pass(Duration.ofMillis(TIMEOUT_MS / 2));
    assertThat(late.kinds).containsExactly(Kind.OVERLOADED);
    // The receive has the next message, of another map output, while the disk still reads.
    Call next = new Call(1, 1, message, Locate.OWN, Wanted.of(1, 2, 0));
    workOnce();
    server.locate(next.locate);
    work();
    assertThat(next.bytes.get(0)).isEqualTo(expected(1, 2, 0));
    Call own = served(1, Wanted.of(1, 1, 1));
    assertThat(own.bytes.get(0)).isEqualTo(expected(1, 1, 1));
  }

  @Test
  void shouldLeaveAllOfADiskThatHangsToTcpAtOnceUntilItWorksAgain() throws Exception {
    Path second = secondDisk();
    start(ServeSettings.Mode.COPY, 1 << 20);
    write(1, 1, 100);
    outputs.writeIn(second, 2, 1, new Random(2), 200);
    // A thread of the second disk is inside a read for more than a second.
    List<Call> meanwhile = new ArrayList<>();
    outputs.duringNextOpen(
        () -> {
          nowNs += Duration.ofMillis(1_001).toNanos();
          meanwhile.add(locate(1, Wanted.of(2, 1, 0), Wanted.of(1, 1, 0)));
        });
    Call hangs = locate(2, Wanted.of(2, 1, 0));
    workers.runOne(1);
    work();
    assertThat(meanwhile.get(0).kinds).containsExactly(Kind.OVERLOADED, Kind.LOCATED);
    assertThat(hangs.kinds).containsExactly(Kind.LOCATED);
    assertThat(served(3, Wanted.of(2, 1, 0)).kinds).containsExactly(Kind.LOCATED);
  }

  @Test
  void shouldHoldNoMemoryForJobsThatWaitForADisk() throws Exception {
    start(ServeSettings.Mode.COPY, 1 << 20);
    write(1, 1, lengths(64, CHUNK));
    for (int i = 0; i < 64; i++) {
      locate(i, Wanted.of(1, 1, i));
    }
    assertThat(budget.pinnedBytes()).isZero();
    work();
  }

  @Test
  void shouldDropTheLocatesOfAConnectionThatHasEnded() throws Exception {
    start(ServeSettings.Mode.AUTO, 1 << 20);
    write(1, 1, 100);
    Call gone = locate(1, Wanted.of(1, 1, 0));
    Call other = locate(2, Wanted.of(1, 1, 0));
    server.onConnectionGone(1);
    work();
    pass(Duration.ofMillis(TIMEOUT_MS));
    assertThat(gone.answered).isFalse();
    assertThat(other.answered).isTrue();
    assertThat(counters.value(Counter.LOCATES_DROPPED)).isEqualTo(1);
  }

  @ParameterizedTest
  @EnumSource
  void shouldEndABlockOnceWhoseFileCannotBeRead(ServeSettings.Mode mode) throws Exception {
    start(mode, 1 << 20);
    write(1, 1, 100, 100);
    Files.delete(outputs.get(1, 1).dataFile());
    Call call = locate(1, Wanted.of(1, 1, 0), Wanted.of(1, 1, 1));
    work();
    pass(Duration.ofMillis(TIMEOUT_MS / 2));
    assertThat(call.answered).as("%s", mode).isTrue();
    assertThat(call.blocks).doesNotHaveDuplicates().hasSize(2);
    assertThat(call.kinds).doesNotContain(Kind.LOCATED);
  }

  /** An executor without a method of its Spark goes on, as after other failures of a disk's job. */
  @Test
  void shouldSendABlockToTcpWhoseLoadFailsInAnyWay() throws Exception {
    for (Throwable failure : DiskWorkTest.failures()) {
      for (ServeSettings.Mode mode : ServeSettings.Mode.values()) {
        start(mode, 1 << 20);
        write(1, 1, 100, 100);
        outputs.duringNextOpen(() -> DiskWorkTest.<RuntimeException>fail(failure));
        assertThat(served(1, Wanted.of(1, 1, 0)).kinds).containsExactly(Kind.UNKNOWN);
        Call next = served(1, Wanted.of(1, 1, 0));
        assertThat(next.kinds).as("%s %s", mode, failure).containsExactly(Kind.LOCATED);
        server.onConnectionGone(1);
        close();
      }
    }
    start(ServeSettings.Mode.COPY, 1 << 20);
  }

  @ParameterizedTest
  @MethodSource("org.sparkrdma.shuffle.serve.DiskWorkTest#failures")
  void shouldServeAFileWhoseRegistrationFailsInAnyWay(Throwable failure) throws Exception {
    start(ServeSettings.Mode.WINDOW, 1 << 20);
    write(1, 1, 100, 100);
    device.onNextFile(() -> DiskWorkTest.<RuntimeException>fail(failure));
    assertThat(served(1, Wanted.of(1, 1, 0)).kinds).as("%s", failure).hasSize(1);
    assertThat(budget.pinnedBytes()).as("%s", failure).isZero();
    nowNs += Duration.ofSeconds(2).toNanos();
    assertThat(served(1, Wanted.of(1, 1, 0)).kinds).containsExactly(Kind.LOCATED);
    server.onConnectionGone(1);
  }

  @Test
  void shouldLeaveOutFirstBlocksThatLoadLast() throws Exception {
    Path file = secondDisk().resolve("shuffle_2_1.data");
    budgetOfChunks(256 << 10);
    start(ServeSettings.Mode.COPY, 1L << 30, false, cheapWindows());
    long bytes = 17L << 20;
    try (RandomAccessFile sparse = new RandomAccessFile(file.toFile(), "rw")) {
      sparse.setLength(bytes);
    }
    write(1, 1, 100);
    outputs.add(2, 1, new MapOutput(file, new long[] {0, bytes}, new long[1]));
    Call call = locate(1, Wanted.of(1, 1, 0), Wanted.of(2, 1, 0));
    // The disk of the second block is faster.
    while (workers.waiting(1) > 0) {
      workers.runOne(1);
      runCommands();
    }
    work();
    assertThat(call.answered).isTrue();
    assertThat(call.kinds).containsOnly(Kind.LOCATED);
    assertThat(call.blocks.get(0)).isZero();
  }

  @Test
  void shouldRefuseAStartOffsetBehindTheBlockWhateverItIs() throws Exception {
    start(ServeSettings.Mode.COPY, 1 << 20);
    write(1, 1, 100, 200);
    for (boolean fresh : new boolean[] {false, true}) {
      for (long from : new long[] {200, 201, Long.MAX_VALUE - 100, Long.MAX_VALUE}) {
        Call call = served(1, new Wanted(1, 1, 1, 2, from, fresh));
        assertThat(call.kinds).as("start offset %d", from).containsExactly(Kind.UNKNOWN);
      }
    }
  }

  @ParameterizedTest
  @EnumSource
  void shouldRefusePartitionsThatAnOutputDoesNotHave(ServeSettings.Mode mode) throws Exception {
    start(mode, 1 << 20);
    write(1, 1, 100, 200);
    for (int i = 0; i < 2; i++) {
      assertThat(served(1, new Wanted(1, 1, 1, 3, false)).kinds).containsExactly(Kind.UNKNOWN);
    }
    assertThat(served(1, Wanted.of(7, 1, 0)).kinds).containsExactly(Kind.UNKNOWN);
  }

  @Test
  void shouldServeOutputsOfAnEndedExecutorWhenItsDirectoriesAreKnown() throws Exception {
    secondDisk();
    start(ServeSettings.Mode.AUTO, 1 << 20);
    write(0, 1, 100);
    TestOutputs ended = new TestOutputs(Files.createDirectory(folder.resolve("ended")), null);
    ended.write(1, new Random(5), 200, 300);
    ended.forgetSums(1);
    outputs.standInFor("16", ended);
    CompletableFuture<Integer> disk = new CompletableFuture<>();
    outputs.ownedBy(disk);
    Call own = locate(1, Wanted.of(0, 1, 0));
    Call ofEnded = locateOf(17, 1, Wanted.of(0, 1, 1));
    work();
    assertThat(own.kinds).containsExactly(Kind.LOCATED);
    assertThat(ofEnded.answered).as("the service has not answered").isFalse();
    disk.complete(1);
    runCommands();
    assertThat(workers.waiting(1)).as("the disk of an own directory there").isEqualTo(1);
    work();
    assertThat(ofEnded.bytes.get(0)).isEqualTo(ended.expected(new BlockRange(0, 1, 1, 2)));
    assertThat(ofEnded.sums).as("computed: its checksum file is gone").hasSize(1);
    // A LOCATE after the removal of the shuffle may register a file that the service deletes later.
    server.release(1, own.leaseId);
    server.release(1, ofEnded.leaseId);
    server.unregisterShuffle(0);
    work();
    assertThat(windowCount()).isZero();
    Call late = locateOf(17, 1, Wanted.of(0, 1, 1));
    work();
    assertThat(late.kinds).containsExactly(Kind.LOCATED);
    ended.delete(0);
    server.release(1, late.leaseId);
    pass(IDLE);
    work();
    assertThat(windowCount()).as("after the idle time-out").isZero();
  }

  @Test
  void shouldSendBlocksOfAnEndedExecutorToTcpWhoseDirectoriesAreNotKnown() throws Exception {
    start(ServeSettings.Mode.AUTO, 1 << 20);
    CompletableFuture<Integer> disk = new CompletableFuture<>();
    outputs.ownedBy(disk);
    locateOf(17, 1, Wanted.of(1, 1, 0));
    Call late = locateOf(18, 2, Wanted.of(1, 1, 0));
    server.onConnectionGone(1);
    pass(Duration.ofMillis(TIMEOUT_MS));
    assertThat(late.kinds).containsExactly(Kind.OVERLOADED);
    disk.completeExceptionally(new IOException("not registered"));
    work();
    Call again = locateOf(17, 3, Wanted.of(1, 1, 0));
    work();
    assertThat(again.kinds).containsExactly(Kind.UNKNOWN);
    assertThat(outputs.opened()).isZero();
  }

  @Test
  void shouldAnswerManySeededRequestsWithTheRightBytes() throws Exception {
    start(ServeSettings.Mode.AUTO, 6 * WINDOW);
    Random random = new Random(20_261_126);
    for (int map = 0; map < 6; map++) {
      int[] lengths = new int[8];
      Arrays.setAll(lengths, i -> random.nextInt(WINDOW / 2));
      write(1, map, lengths);
    }
    List<Call> open = new ArrayList<>();
    Map<Call, byte[]> all = new HashMap<>();
    for (int i = 0; i < 3_000; i++) {
      long peer = random.nextInt(4);
      int map = random.nextInt(6);
      int partition = random.nextInt(8);
      Call call = locate(peer, Wanted.of(1, map, partition));
      switch (random.nextInt(4)) {
        case 0 -> workers.runAll();
        case 1 -> runCommands();
        case 2 -> pass(Duration.ofMillis(random.nextInt(TIMEOUT_MS)));
        default -> work();
      }
      all.put(call, expected(1, map, partition));
      open.add(call);
      if (open.size() > random.nextInt(8)) {
        Call released = open.get(random.nextInt(open.size()));
        if (released.answered) {
          open.remove(released);
          server.release(released.locate.connection(), released.leaseId);
        }
      }
      if (random.nextInt(100) == 0) {
        server.onConnectionGone(peer);
        open.removeIf(of -> of.locate.connection() == peer);
      }
    }
    int located = 0;
    int whole = 0;
    for (Map.Entry<Call, byte[]> one : all.entrySet()) {
      if (one.getKey().answered && one.getKey().kinds.get(0) == Kind.LOCATED) {
        byte[] bytes = join(one.getKey().bytes);
        byte[] block = one.getValue();
        // An answer may end early: it has the beginning of the block then.
        assertThat(bytes).hasSizeBetween(1, block.length);
        assertThat(Arrays.equals(bytes, Arrays.copyOf(block, bytes.length))).isTrue();
        located++;
        whole += bytes.length == block.length ? 1 : 0;
      }
    }
    assertThat(located).isGreaterThan(1_500);
    assertThat(whole).isGreaterThan(located / 2);
  }

  private static byte[] join(List<byte[]> parts) {
    ByteBuffer all = ByteBuffer.allocate(parts.stream().mapToInt(part -> part.length).sum());
    parts.forEach(all::put);
    return all.array();
  }
}
