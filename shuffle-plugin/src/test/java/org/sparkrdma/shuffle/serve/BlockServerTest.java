// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.serve;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Queue;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.sparkrdma.memory.OpenDevice;
import org.sparkrdma.memory.PinnedBudget;
import org.sparkrdma.shuffle.fetch.BlockRange;
import org.sparkrdma.shuffle.metrics.Counter;
import org.sparkrdma.shuffle.metrics.ShuffleCounters;
import org.sparkrdma.shuffle.output.MapOutput;
import org.sparkrdma.shuffle.pinned.SystemFiles;
import org.sparkrdma.shuffle.settings.ServeSettings;
import org.sparkrdma.shuffle.transport.TestOutputs;
import org.sparkrdma.shuffle.wire.Locate;
import org.sparkrdma.shuffle.wire.Located;
import org.sparkrdma.shuffle.wire.Located.Kind;
import org.sparkrdma.verbs.StubDevice;

/** A server whose agent, disk threads and clock are this test. */
class BlockServerTest {
  private static final int WINDOW = 64 << 10;
  private static final int SLOT = 4 << 10;
  private static final int TIMEOUT_MS = 1_000;
  private static final Duration LEASE = Duration.ofSeconds(30);
  private static final Duration IDLE = Duration.ofSeconds(10);

  @TempDir private Path folder;

  private final Queue<Runnable> commands = new ArrayDeque<>();
  private final HandWorkers workers = new HandWorkers(2);
  private final StubDevice domain = new StubDevice();
  private final ShuffleCounters counters = new ShuffleCounters();
  private long nowNs = 1_000;
  private TestOutputs outputs;
  private PinnedBudget budget;
  private BlockServer server;

  @BeforeEach
  void createOutputs() {
    outputs = new TestOutputs(folder, null);
  }

  @AfterEach
  void close() {
    assertThat(server.close(Duration.ZERO, this::runCommands)).isTrue();
    assertThat(domain.regionCount()).isZero();
    budget.close();
  }

  private void start(ServeSettings.Mode mode, int slots, long budgetBytes) {
    start(mode, slots, budgetBytes, true, 3);
  }

  private void start(
      ServeSettings.Mode mode,
      int slots,
      long budgetBytes,
      boolean computeSums,
      int cachedOutputs) {
    budget = new PinnedBudget(budgetBytes, StubDevice.PAGE);
    server =
        new BlockServer(
            new ServerParameters(
                new ServeSettings(
                    mode, WINDOW, SLOT, slots, LEASE, cachedOutputs, 4, IDLE, computeSums),
                outputs,
                new OpenDevice(domain, domain, budget, () -> nowNs),
                counters,
                commands::add),
            workers,
            new SystemFiles(folder));
  }

  private void runCommands() {
    workers.runOthers();
    for (Runnable command = commands.poll(); command != null; command = commands.poll()) {
      command.run();
    }
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

  private void pass(Duration time) {
    nowNs += time.toNanos();
    server.doWork(nowNs);
  }

  /** A block: its shuffle, map and partitions. */
  private record Wanted(
      int shuffleId, long mapId, int first, int end, long startOffset, boolean freshSums) {
    Wanted(int shuffleId, long mapId, int first, int end, boolean freshSums) {
      this(shuffleId, mapId, first, end, 0, freshSums);
    }

    static Wanted of(int shuffleId, long mapId, int partition) {
      return new Wanted(shuffleId, mapId, partition, partition + 1, false);
    }
  }

  private final class Call extends OpenLocate {
    private final List<Kind> kinds = new ArrayList<>();
    private final List<Integer> blocks = new ArrayList<>();
    private final List<byte[]> bytes = new ArrayList<>();
    private final List<Long> sums = new ArrayList<>();
    private long leaseId;
    private boolean copied;
    private boolean answered;

    Call(long peer, ByteBuffer request, int owner, Wanted... blocks) {
      super(peer, request, nowNs);
      setAnswer(ByteBuffer.allocate(16 << 10));
      Locate.Encoder encoder = new Locate.Encoder().begin(request, 7, TIMEOUT_MS, owner);
      for (Wanted block : blocks) {
        encoder.block(
            block.shuffleId,
            block.mapId,
            block.first,
            block.end,
            block.startOffset,
            block.freshSums);
      }
      int lengthBytes = encoder.finish();
      request.position(0).limit(lengthBytes);
    }

    @Override
    protected void suspended() {
      assertThat(answered).isFalse();
    }

    @Override
    protected void resumed() {
      server.locate(this);
    }

    @Override
    protected void answered(int lengthBytes) {
      assertThat(answered).isFalse();
      answered = true;
      Located.Decoder in = new Located.Decoder().begin(answer().slice(0, lengthBytes));
      leaseId = in.leaseId();
      while (in.nextExtent()) {
        kinds.add(in.kind());
        blocks.add(in.blockIndex());
        copied |= in.isCopied();
        for (int i = 0; i < in.sumCount(); i++) {
          sums.add(in.sum(i));
        }
        if (in.kind() == Kind.LOCATED && in.lengthBytes() > 0) {
          bytes.add(read(in.address(), (int) in.remoteKey(), in.lengthBytes()));
        }
      }
    }

    @Override
    protected void malformed(String reason) {
      throw new AssertionError(reason);
    }
  }

  private byte[] read(long address, int key, int lengthBytes) {
    try {
      return domain.read(address, key, lengthBytes);
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

  private Call locateOf(int owner, long peer, Wanted... blocks) {
    Call call = new Call(peer, ByteBuffer.allocate(16 << 10), owner, blocks);
    server.locate(call);
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

  @Test
  void shouldSendBlocksOfAShuffleToTcpThatIsRemovedWhileTheyLoad() throws Exception {
    start(ServeSettings.Mode.AUTO, 2, 1 << 20);
    write(1, 1, 100);
    Call call = locate(1, Wanted.of(1, 1, 0));
    workOnce();
    // Its window is registered now, and the command with it waits.
    workers.runOne(0);
    outputs.delete(1);
    Runnable registered = commands.remove();
    server.unregisterShuffle(1);
    runCommands();
    commands.add(registered);
    work();
    assertThat(call.kinds).containsExactly(Kind.UNKNOWN);
    assertThat(domain.regionCount()).isZero();
  }

  @Test
  void shouldDeregisterARemovedShuffleWhenItsLastLeaseEnds() throws Exception {
    start(ServeSettings.Mode.AUTO, 2, 1 << 20);
    write(1, 1, 100);
    Call call = served(1, Wanted.of(1, 1, 0));
    outputs.delete(1);
    server.unregisterShuffle(1);
    work();
    assertThat(domain.regionCount()).isEqualTo(1);
    assertThat(server.release(1, call.leaseId)).isTrue();
    assertThat(domain.regionCount()).as("not on the agent").isEqualTo(1);
    work();
    assertThat(domain.regionCount()).isZero();
  }

  @Test
  void shouldEvictNoWindowThatIsLeasedOrAwaited() throws Exception {
    // Room for two windows.
    start(ServeSettings.Mode.WINDOW, 0, 2 * WINDOW);
    for (int map = 1; map <= 3; map++) {
      write(1, map, WINDOW);
    }
    Call leased = served(1, Wanted.of(1, 1, 0));
    Call awaited = locate(2, Wanted.of(1, 2, 0));
    workOnce();
    // The window of map 2 loads.
    Call third = locate(3, Wanted.of(1, 3, 0));
    workers.runOne(0);
    work();
    assertThat(awaited.kinds).containsExactly(Kind.LOCATED);
    assertThat(third.kinds).containsExactly(Kind.BUSY);
    server.release(1, leased.leaseId);
    Call again = served(3, Wanted.of(1, 3, 0));
    assertThat(again.kinds).containsExactly(Kind.LOCATED);
    assertThat(counters.value(Counter.WINDOWS_EVICTED)).isEqualTo(1);
    assertThat(domain.maxRegisteredBytes()).isLessThanOrEqualTo(2 * WINDOW);
  }

  @Test
  void shouldNotOverwriteACopyThatAReaderHasNotReleased() throws Exception {
    start(ServeSettings.Mode.COPY, 1, 1 << 20);
    write(1, 1, SLOT, SLOT);
    Call held = served(1, Wanted.of(1, 1, 0));
    pass(LEASE);
    assertThat(server.hasExpiredLease(1)).isTrue();
    Call other = served(2, Wanted.of(1, 1, 1));
    assertThat(other.kinds).as("a deadline frees nothing").containsExactly(Kind.BUSY);
    assertThat(held.kinds).containsExactly(Kind.LOCATED);
    server.onConnectionGone(1);
    Call later = served(2, Wanted.of(1, 1, 1));
    assertThat(later.kinds).containsExactly(Kind.LOCATED);
  }

  @Test
  void shouldCopyAgainSoonAfterOthersHaveTakenTheMemoryOfItsBuffers() throws Exception {
    start(ServeSettings.Mode.AUTO, 2, WINDOW);
    write(1, 1, SLOT);
    write(1, 2, SLOT);
    PinnedBudget.Grant others = budget.tryGrant(WINDOW - 2 * SLOT).orElseThrow();
    Call first = served(1, Wanted.of(1, 1, 0));
    server.release(1, first.leaseId);
    domain.refuseFiles(true);
    Call second = locate(1, Wanted.of(1, 2, 0));
    // Its index, and its window, which the device refuses.
    for (int i = 0; i < 2; i++) {
      workOnce();
    }
    PinnedBudget.Grant taken = budget.tryGrant(SLOT).orElseThrow();
    work();
    assertThat(second.kinds).containsExactly(Kind.BUSY);
    taken.close();
    pass(Duration.ofMillis(10));
    Call third = served(1, Wanted.of(1, 2, 0));
    assertThat(third.kinds).containsExactly(Kind.LOCATED);
    others.close();
  }

  @Test
  void shouldNotTakeAnOutputThatWasEvictedForOneThatWasRemoved() throws Exception {
    start(ServeSettings.Mode.COPY, 1, 1 << 20, true, 2);
    for (int map = 1; map <= 5; map++) {
      write(1, map, SLOT, SLOT);
    }
    Call leased = served(1, Wanted.of(1, 1, 0));
    // Keeps as many map outputs as fit, and waits for one more.
    locate(3, Wanted.of(1, 2, 0), Wanted.of(1, 3, 0), Wanted.of(1, 4, 0));
    for (int i = 0; i < 2; i++) {
      workOnce();
    }
    Call waits = locate(2, Wanted.of(1, 5, 0), Wanted.of(1, 1, 1));
    server.release(1, leased.leaseId);
    server.onConnectionGone(3);
    // Takes the one slot.
    served(4, Wanted.of(1, 2, 0));
    assertThat(waits.kinds).containsExactly(Kind.BUSY, Kind.BUSY);
  }

  @Test
  void shouldDropTheLocatesOfAConnectionThatHasEnded() throws Exception {
    start(ServeSettings.Mode.AUTO, 2, 1 << 20);
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

  @Test
  void shouldEvictTheLeastRecentlyUsedIndexWithItsWindows() throws Exception {
    start(ServeSettings.Mode.AUTO, 2, 1 << 20);
    for (int map = 1; map <= 4; map++) {
      write(1, map, 100);
      Call call = served(1, Wanted.of(1, map, 0));
      server.release(1, call.leaseId);
    }
    work();
    assertThat(domain.regionCount()).isEqualTo(3);
    assertThat(locate(1, Wanted.of(1, 4, 0)).answered).isTrue();
    assertThat(locate(1, Wanted.of(1, 1, 0)).answered).isFalse();
    work();
  }

  @Test
  void shouldFreeIdleMemoryThatOthersLack() throws Exception {
    start(ServeSettings.Mode.AUTO, 2, 4 * WINDOW);
    for (int map = 1; map <= 3; map++) {
      write(1, map, WINDOW);
      Call call = served(1, Wanted.of(1, map, 0));
      server.release(1, call.leaseId);
    }
    assertThat(budget.couldGrant(2 * WINDOW, 0)).isFalse();
    for (int i = 0; i < 100; i++) {
      budget.reportShortage(2 * WINDOW);
    }
    work();
    assertThat(budget.couldGrant(2 * WINDOW, 0)).isTrue();
    assertThat(counters.value(Counter.WINDOWS_EVICTED)).isEqualTo(1);
  }

  /** Map outputs of one shuffle with empty blocks, but for the first one of each. */
  private Wanted[] addOutputs(int count, int partitions, int firstBytes, int wanted)
      throws IOException {
    Path file = folder.resolve("shuffle_1_0.data");
    Files.write(file, new byte[firstBytes]);
    long[] offsets = new long[partitions + 1];
    Arrays.fill(offsets, 1, offsets.length, firstBytes);
    Wanted[] blocks = new Wanted[count];
    for (int map = 0; map < count; map++) {
      outputs.add(1, map, new MapOutput(file, offsets, null));
      blocks[map] = Wanted.of(1, map, wanted);
    }
    return blocks;
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
    start(ServeSettings.Mode.COPY, 1, 1 << 20, true, 10_000);
    // 104 of them fit.
    Wanted[] empty = addOutputs(128, 20_000, 1, 5);
    Call first = locate(1, empty);
    workOneByOne(1_000);
    assertThat(first.answered).isTrue();
    assertThat(outputs.opened()).isEqualTo(128);
    assertThat(first.kinds).hasSize(104).containsOnly(Kind.LOCATED);

    // The reader requests the rest again.
    Call rest = locate(1, Arrays.copyOfRange(empty, 104, 128));
    workOneByOne(1_000);
    assertThat(rest.kinds).hasSize(24).containsOnly(Kind.LOCATED);
    assertThat(outputs.opened()).isEqualTo(128 + 24);
  }

  @Test
  void shouldServeAnOutputAloneThatIsLargerThanTheCache() throws Exception {
    start(ServeSettings.Mode.AUTO, 2, 1 << 20);
    Wanted[] blocks = addOutputs(2, IndexCache.MAX_PARTITIONS + 1, 1_000, 0);
    Call both = served(1, blocks);
    assertThat(both.blocks).containsExactly(0);
    assertThat(both.kinds).containsExactly(Kind.LOCATED);
    Call other = served(1, blocks[1]);
    assertThat(other.kinds).containsExactly(Kind.LOCATED);
  }

  /** An index that loads must not cause the whole answers to be written that wait for it. */
  @Test
  void shouldDoWorkForAColdStageThatIsLinearInItsBlocks() throws Exception {
    int readers = 64;
    start(ServeSettings.Mode.AUTO, 2, 1 << 20, true, 10_000);
    Wanted[] blocks = addOutputs(128, 64, 1_000, 0);
    AtomicLong looks = new AtomicLong();
    for (Wanted block : blocks) {
      MapOutput output = outputs.get(1, block.mapId);
      outputs.add(
          1,
          block.mapId,
          new MapOutput(output.dataFile(), new long[] {0, 1_000}, new long[] {1}) {
            @Override
            public int partitions() {
              looks.incrementAndGet();
              return super.partitions();
            }
          });
    }
    List<Call> calls = new ArrayList<>();
    for (int reader = 0; reader < readers; reader++) {
      calls.add(locate(reader, blocks));
    }
    workOneByOne(1_000);
    assertThat(calls).allMatch(call -> call.kinds.size() == 128 && !call.kinds.contains(Kind.BUSY));
    long cold = looks.getAndSet(0);
    for (int reader = 0; reader < readers; reader++) {
      assertThat(locate(100 + reader, blocks).answered).isTrue();
    }
    assertThat(cold).isLessThanOrEqualTo(3 * looks.get());
  }

  @Test
  void shouldEndABlockOnceAtTheDeadlineWhateverLoads() throws Exception {
    start(ServeSettings.Mode.AUTO, 2, 1L << 30);
    Path file = folder.resolve("shuffle_1_1.data");
    long bytes = 66L << 20;
    try (RandomAccessFile sparse = new RandomAccessFile(file.toFile(), "rw")) {
      sparse.setLength(bytes);
    }
    outputs.add(1, 1, new MapOutput(file, new long[] {0, bytes}, null));
    Call warm = served(1, Wanted.of(1, 1, 0));
    assertThat(warm.kinds).containsOnly(Kind.LOCATED);
    // The checksums are there of the first 64 MiB, in which a window loads, and not of the rest.
    server.release(1, warm.leaseId);
    pass(IDLE);
    work();
    Call rest = locate(1, new Wanted(1, 1, 0, 1, 63L << 20, false));
    pass(Duration.ofMillis(TIMEOUT_MS));
    assertThat(rest.kinds).containsExactly(Kind.OVERLOADED);
  }

  @Test
  void shouldEndABlockOnceWhoseFileCannotBeRead() throws Exception {
    for (boolean sums : new boolean[] {false, true}) {
      start(sums ? ServeSettings.Mode.WINDOW : ServeSettings.Mode.COPY, 2, 1 << 20);
      write(1, 1, 100, 100);
      Files.delete(outputs.get(1, 1).dataFile());
      Call call = served(1, new Wanted(1, 1, 0, 1, sums), new Wanted(1, 1, 1, 2, sums));
      assertThat(call.blocks).as("sums=%s", sums).doesNotHaveDuplicates();
      assertThat(call.kinds).containsOnly(Kind.UNKNOWN);
      if (!sums) {
        close();
      }
    }
  }

  @Test
  void shouldLeaveOutFirstBlocksThatLoadLast() throws Exception {
    Path file = secondDisk().resolve("shuffle_2_1.data");
    start(ServeSettings.Mode.COPY, 20_000, 1L << 30, false, 200);
    long bytes = 65L << 20;
    try (RandomAccessFile sparse = new RandomAccessFile(file.toFile(), "rw")) {
      sparse.setLength(bytes);
    }
    long[] none = new long[1];
    write(1, 1, 100);
    outputs.add(2, 1, new MapOutput(file, new long[] {0, bytes}, none));
    Call call = locate(1, Wanted.of(1, 1, 0), Wanted.of(2, 1, 0));
    // The disk of the second block is faster.
    int done = 1;
    while (done > 0) {
      done = 0;
      while (workers.waiting(1) > 0) {
        workers.runOne(1);
        runCommands();
        done++;
      }
      if (workers.waiting(0) > 0) {
        workOnce();
        done++;
      }
    }
    assertThat(call.answered).isTrue();
    assertThat(call.kinds).containsOnly(Kind.LOCATED);
  }

  @Test
  void shouldCopyALargeBlockWhoseWindowsTheDeviceRefuses() throws Exception {
    // A block of the greatest length that one answer locates, and a little more.
    start(ServeSettings.Mode.AUTO, 32 << 10, 1L << 30);
    domain.refuseFiles(true);
    int bytes = (64 << 20) + 1;
    addOutputs(1, 1, bytes, 0);
    Call call = served(1, Wanted.of(1, 0, 0));
    assertThat(call.kinds).isNotEmpty().containsOnly(Kind.LOCATED);
    assertThat(call.copied).isTrue();
  }

  @Test
  void shouldRefuseAStartOffsetBehindTheBlockWhateverItIs() throws Exception {
    start(ServeSettings.Mode.COPY, 2, 1 << 20);
    write(1, 1, 100, 200);
    for (long from : new long[] {200, 201, Long.MAX_VALUE - 100, Long.MAX_VALUE}) {
      Call call = served(1, new Wanted(1, 1, 1, 2, from, false));
      assertThat(call.kinds).as("start offset %d", from).containsExactly(Kind.UNKNOWN);
    }
  }

  @Test
  void shouldFreeIdleWindowsOfADiskThatHangsAndOfOthers() throws Exception {
    Path second = secondDisk().resolve("shuffle_2_1.data");
    start(ServeSettings.Mode.WINDOW, 0, 3 * WINDOW);
    Files.write(second, new byte[WINDOW]);
    outputs.add(2, 1, new MapOutput(second, new long[] {0, WINDOW}, null));
    server.release(1, served(1, Wanted.of(2, 1, 0)).leaseId);
    for (int map = 1; map <= 2; map++) {
      write(1, map, WINDOW);
      server.release(1, served(1, Wanted.of(1, map, 0)).leaseId);
    }
    // Receive memory lacks room twice, and no disk does any work.
    for (int i = 1; i <= 2; i++) {
      budget.reportShortage((long) i * WINDOW);
      runCommands();
      runCommands();
      assertThat(budget.couldGrant((long) i * WINDOW, 0)).isTrue();
    }
  }

  @Test
  void shouldDeregisterAtTheCloseWhatItsLastResultsEvict() throws Exception {
    start(ServeSettings.Mode.AUTO, 2, 1 << 20);
    for (int map = 1; map <= 4; map++) {
      write(1, map, 100);
      Call call = locate(1, Wanted.of(1, map, 0));
      if (map < 4) {
        work();
        server.release(1, call.leaseId);
      }
    }
    // The index of the fourth is read, and the cache is full: see close().
    workers.runOne(0);
    assertThat(domain.regionCount()).isEqualTo(3);
  }

  @Test
  void shouldDeregisterAtTheCloseTheWindowOfAShuffleThatIsRemovedMeanwhile() throws Exception {
    start(ServeSettings.Mode.AUTO, 2, 1 << 20);
    write(1, 1, 100);
    locate(1, Wanted.of(1, 1, 0));
    workOnce();
    server.unregisterShuffle(1);
    workers.runOne(0);
    assertThat(domain.regionCount()).isEqualTo(1);
  }

  @Test
  void shouldCloseMemoryOfCopiesAfterTheIdleTimeHoweverTheyHaveEnded() throws Exception {
    start(ServeSettings.Mode.COPY, 1, 1 << 20);
    write(1, 1, 100);
    Call call = served(1, Wanted.of(1, 1, 0));
    server.release(1, call.leaseId);
    server.unregisterShuffle(1);
    work();
    assertThat(domain.regionCount()).as("not at once").isEqualTo(1);
    pass(IDLE.minusMillis(1));
    work();
    assertThat(domain.regionCount()).isEqualTo(1);
    pass(IDLE);
    work();
    assertThat(domain.regionCount()).isZero();
  }

  @Test
  void shouldServeOutputsOfAnEndedExecutorWhenItsDirectoriesAreKnown() throws Exception {
    start(ServeSettings.Mode.AUTO, 2, 1 << 20);
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
    assertThat(workers.waiting(1)).as("the disk of an own directory there").isEqualTo(1);
    work();
    assertThat(ofEnded.bytes.get(0)).isEqualTo(ended.expected(new BlockRange(0, 1, 1, 2)));
    assertThat(ofEnded.sums).as("computed: its checksum file is gone").hasSize(1);
    // A LOCATE after the removal of the shuffle may register a file that the service deletes later.
    server.release(1, own.leaseId);
    server.release(1, ofEnded.leaseId);
    server.unregisterShuffle(0);
    work();
    assertThat(domain.regionCount()).isZero();
    Call late = locateOf(17, 1, Wanted.of(0, 1, 1));
    work();
    assertThat(late.kinds).containsExactly(Kind.LOCATED);
    ended.delete(0);
    server.release(1, late.leaseId);
    pass(IDLE);
    work();
    assertThat(domain.regionCount()).as("after the idle time-out").isZero();
  }

  @Test
  void shouldSendBlocksOfAnEndedExecutorToTcpWhoseDirectoriesAreNotKnown() throws Exception {
    start(ServeSettings.Mode.AUTO, 2, 1 << 20);
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
    start(ServeSettings.Mode.AUTO, 4, 6 * WINDOW);
    Random random = new Random(20_261_126);
    for (int map = 0; map < 6; map++) {
      int[] lengths = new int[8];
      Arrays.setAll(lengths, i -> random.nextInt(WINDOW / 2));
      write(1, map, lengths);
    }
    List<Call> open = new ArrayList<>();
    int located = 0;
    int whole = 0;
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
      if (call.answered && call.kinds.get(0) == Kind.LOCATED) {
        located++;
        byte[] bytes = join(call.bytes);
        byte[] block = expected(1, map, partition);
        // An answer may end early: it has the beginning of the block then.
        assertThat(bytes).hasSizeBetween(1, block.length);
        assertThat(Arrays.equals(bytes, Arrays.copyOf(block, bytes.length))).isTrue();
        whole += bytes.length == block.length ? 1 : 0;
      }
      open.add(call);
      if (open.size() > random.nextInt(8)) {
        Call released = open.remove(random.nextInt(open.size()));
        server.release(released.connection(), released.leaseId);
      }
      if (random.nextInt(100) == 0) {
        server.onConnectionGone(peer);
        open.removeIf(of -> of.connection() == peer);
      }
    }
    assertThat(located).isGreaterThan(1_000);
    assertThat(whole).isGreaterThan(located / 2);
  }

  private static byte[] join(List<byte[]> parts) {
    ByteBuffer all = ByteBuffer.allocate(parts.stream().mapToInt(part -> part.length).sum());
    parts.forEach(all::put);
    return all.array();
  }
}
