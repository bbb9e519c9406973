// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.serve;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.function.LongUnaryOperator;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.sparkrdma.shuffle.metrics.Counter;
import org.sparkrdma.shuffle.output.MapOutput;
import org.sparkrdma.shuffle.output.MapOutputs;
import org.sparkrdma.shuffle.output.PartitionRange;
import org.sparkrdma.shuffle.settings.ServeSettings;
import org.sparkrdma.shuffle.wire.Locate;
import org.sparkrdma.shuffle.wire.Located;

/**
 * A server of a cold shuffle, in virtual time, with the prices of a card: whatever it may pin, and
 * however many map outputs, blocks and readers there are, no block goes to TCP; at 64 MiB with
 * forty readers, hardly any.
 */
@Tag("slow")
@Timeout(120)
class ScarcityTest extends BlockServerFixture {
  private static final int CHUNK = 256 << 10;
  private static final int WINDOW = 16 << 20;
  private static final int THREADS = 4;
  private static final int BLOCKS_OF_A_REQUEST = 128;
  private static final long BYTES_OF_A_REQUEST = 48L << 20;
  private static final int LIMIT_MS = 500;
  private static final long BYTES_OF_A_RUN = 8L << 30;

  /** 25 Gb/s. */
  private static final double LINK_BYTES_PER_NS = 3.1;

  /** Of handing a job to a thread and its results to the agent. */
  private static final double JOB_NS = 10_000;

  private static final double CALL_NS = 6_000;
  private static final double PAGE_NS = 300;
  private static final long TURN_NS = 10_000;

  /** Of the files of an index and its checksums; with those of each partition, and of a block. */
  private static final double INDEX_NS = 16_000;

  private static final double INDEX_PARTITION_NS = 4.1;
  private static final double INDEX_PART_NS = 9_000;
  private static final int MAX_PARTITIONS = 2 << 20;

  /** What Spark's server takes of a processor, measured: for a block of many files, and a byte. */
  private static final double SPARK_BLOCK_NS = 27_000;

  private static final double SPARK_BYTE_NS = 0.29;

  private final List<Reader> readers = new ArrayList<>();
  private long[] threadsFreeNs = new long[THREADS];
  private final long[] registerFreeNs = new long[2];
  private LongUnaryOperator windowNs = pages -> 125_000 + 370 * pages;
  private long linkFreeNs;

  /** What jobs have taken of processors, and registrations. */
  private double cpuNs;

  private long registrationNs;

  private long jobs;

  /** What indexes and bytes have cost that were read and not charged to a thread. */
  private double jobNs;

  /** Of the indexes that were read as a whole. */
  private long wholePartitions;

  private int byTcp;
  private int served;

  /** A shuffle: its map outputs, their blocks and who reads them. */
  private record Shape(int maps, int partitions, int blockBytes, int readers) {}

  static Stream<Arguments> cells() {
    List<Arguments> cells = new ArrayList<>();
    for (int pinnedMib : new int[] {64, 281, 768, 4_096}) {
      cells.add(Arguments.of(pinnedMib, new Shape(64, 64, 256 << 10, 3)));
      cells.add(Arguments.of(pinnedMib, new Shape(200, 200, 64 << 10, 3)));
      cells.add(Arguments.of(pinnedMib, new Shape(400, 16, 8 << 20, 3)));
      cells.add(Arguments.of(pinnedMib, new Shape(2_000, 20, 4 << 10, 3)));
      cells.add(Arguments.of(pinnedMib, new Shape(300, 10_000, 2 << 10, 3)));
      cells.add(Arguments.of(pinnedMib, new Shape(200, 200, 64 << 10, 40)));
    }
    return cells.stream();
  }

  private final class Output extends MapOutput {
    private final int disk;
    private final boolean whole;

    Output(Path file, long[] offsets, long[] sums, int disk, boolean whole) {
      super(file, offsets, sums);
      this.disk = disk;
      this.whole = whole;
    }

    @Override
    public boolean isWhole() {
      return whole;
    }

    @Override
    public void read(long fileOffset, ByteBuffer target) {
      jobNs += CALL_NS + target.remaining() * PAGE_NS / 4_096;
      target.position(target.limit());
    }
  }

  /** Map outputs of one sparse file; every second one has its data on the second disk. */
  private final class Outputs implements MapOutputs {
    private final Path file = folder.resolve("shuffle.data");
    private final long[] offsets;
    private final long[] sums;

    Outputs(Shape shape) throws IOException {
      offsets = new long[shape.partitions + 1];
      sums = new long[shape.partitions];
      for (int i = 0; i < shape.partitions; i++) {
        offsets[i + 1] = offsets[i] + shape.blockBytes;
      }
      try (RandomAccessFile sparse = new RandomAccessFile(file.toFile(), "rw")) {
        sparse.setLength(offsets[shape.partitions]);
      }
    }

    @Override
    public MapOutput open(int shuffleId, long mapId) {
      return new Output(file, offsets, sums, indexDisk(shuffleId, mapId), true);
    }

    @Override
    public MapOutput openRange(int owner, int shuffleId, long mapId, PartitionRange range) {
      boolean whole = range.readsWhole().test(sums.length);
      wholePartitions += whole ? sums.length : 0;
      jobNs += whole ? INDEX_NS + sums.length * INDEX_PARTITION_NS : INDEX_PART_NS;
      return new Output(file, offsets, sums, indexDisk(shuffleId, mapId), whole);
    }

    @Override
    public int disks() {
      return 2;
    }

    @Override
    public int indexDisk(int shuffleId, long mapId) {
      return (int) mapId % 2;
    }

    @Override
    public int dataDisk(MapOutput mapOutput) {
      return ((Output) mapOutput).disk;
    }

    @Override
    public List<Path> directories() {
      return List.of(folder, folder.resolve("second"));
    }

    @Override
    public int checksumKind() {
      return 3;
    }
  }

  /** A reader that fetches one partition after the other, with two LOCATEs open. */
  private final class Reader {
    private final int number;
    private final int partitions;
    private final Queue<long[]> wanted = new ArrayDeque<>();
    private final List<Long> releases = new ArrayList<>();
    private boolean frozen;
    private int open;

    Reader(int number, Shape shape, int partitions) {
      this.number = number;
      this.partitions = partitions;
      for (int partition = 0; partition < partitions; partition++) {
        for (int map = 0; map < shape.maps; map++) {
          wanted.add(new long[] {map, (number * partitions + partition) % shape.partitions, 0});
        }
      }
    }

    boolean isDone() {
      return wanted.isEmpty() && open == 0;
    }

    void ask(Shape shape) {
      while (open < 2 && !wanted.isEmpty() && !frozen) {
        open++;
        long most = Math.max(1, BYTES_OF_A_REQUEST / shape.blockBytes);
        List<long[]> blocks = new ArrayList<>();
        while (!wanted.isEmpty() && blocks.size() < Math.min(most, BLOCKS_OF_A_REQUEST)) {
          blocks.add(wanted.poll());
        }
        new Call(this, blocks).ask();
      }
      if (!releases.isEmpty() && !frozen) {
        releases.forEach(lease -> assertThat(server.release(number, lease)).isTrue());
        releases.clear();
      }
    }
  }

  private final class Call implements OpenLocate.Replies {
    private final Reader reader;
    private final List<long[]> blocks;

    Call(Reader reader, List<long[]> blocks) {
      this.reader = reader;
      this.blocks = blocks;
    }

    void ask() {
      OpenLocate locate =
          new OpenLocate(this, reader.number, reader.number, 0, encode(blocks), nowNs);
      locate.setAnswer(ByteBuffer.allocate(8 << 10));
      server.locate(locate);
    }

    @Override
    public void suspended(OpenLocate self) {}

    @Override
    public void resumed(OpenLocate self) {
      server.locate(self);
    }

    @Override
    public void answered(OpenLocate self, int lengthBytes) {
      Located.Decoder in = new Located.Decoder().begin(self.answer().slice(0, lengthBytes));
      long lease = in.leaseId();
      long[] ends = new long[blocks.size()];
      long bytes = 0;
      while (in.nextExtent()) {
        int block = in.blockIndex();
        if (in.kind() == Located.Kind.LOCATED) {
          bytes += in.lengthBytes();
          ends[block] = in.blockOffset() + in.lengthBytes();
          if (ends[block] == in.blockBytes()) {
            ends[block] = -1;
          }
        } else {
          byTcp++;
          ends[block] = -1;
        }
      }
      served += blocks.size();
      linkFreeNs = Math.max(linkFreeNs, nowNs) + (long) (bytes / LINK_BYTES_PER_NS);
      long doneNs = linkFreeNs;
      later(
          doneNs,
          () -> {
            reader.open--;
            if (lease != 0) {
              reader.releases.add(lease);
            }
            for (int i = blocks.size() - 1; i >= 0; i--) {
              if (ends[i] >= 0) {
                served--;
                long[] block = blocks.get(i);
                long from = Math.max(block[2], ends[i]);
                ((ArrayDeque<long[]>) reader.wanted)
                    .addFirst(new long[] {block[0], block[1], from});
              }
            }
          });
    }

    @Override
    public void malformed(String reason) {
      throw new AssertionError(reason);
    }
  }

  private static ByteBuffer encode(List<long[]> blocks) {
    ByteBuffer message = ByteBuffer.allocate(8 << 10);
    Locate.Encoder encoder = new Locate.Encoder().begin(message, 1, LIMIT_MS, Locate.OWN);
    for (long[] block : blocks) {
      encoder.block(1, block[0], (int) block[1], (int) block[1] + 1, block[2], false, false);
    }
    int lengthBytes = encoder.finish();
    return message.position(0).limit(lengthBytes);
  }

  private record Later(long atNs, Runnable work) {}

  private final Queue<Later> laters = new ArrayDeque<>();

  /** The link is first come, first served, so these are in order. */
  private void later(long atNs, Runnable work) {
    laters.add(new Later(atNs, work));
  }

  private static WindowPrice priceOfACard() {
    return new WindowPrice(
        new WindowPrice.Cost(75_000, 270),
        new WindowPrice.Cost(50_000, 100),
        new WindowPrice.Cost(CALL_NS, PAGE_NS));
  }

  private WindowPrice priceOfTheLoopbackEngine() {
    windowNs = pages -> 7_000 + 5 * pages;
    return new WindowPrice(
        new WindowPrice.Cost(5_000, 4),
        new WindowPrice.Cost(2_000, 1),
        new WindowPrice.Cost(CALL_NS, PAGE_NS));
  }

  private void start(int pinnedMib, Shape shape) throws IOException {
    start(pinnedMib, shape, priceOfACard());
    addReaders(shape);
  }

  private void start(int pinnedMib, Shape shape, WindowPrice price) throws IOException {
    device.shareMemory(4 << 20);
    receiveBytes = ((long) pinnedMib << 20) / 4;
    start(
        new ServeSettings(
            ServeSettings.Mode.AUTO,
            WINDOW,
            CHUNK,
            Duration.ofSeconds(30),
            1_024,
            MAX_PARTITIONS,
            Duration.ofSeconds(60),
            true),
        new Outputs(shape),
        (long) pinnedMib << 20,
        price);
  }

  private void addReaders(Shape shape) {
    long most = Math.min(8_000, BYTES_OF_A_RUN / shape.blockBytes);
    addReaders(
        shape, (int) Math.max(shape.readers > 20 ? 10 : 1, most / (shape.maps * shape.readers)));
  }

  private void addReaders(Shape shape, int partitions) {
    for (int i = 0; i < shape.readers; i++) {
      readers.add(new Reader(i, shape, partitions));
    }
  }

  /** Runs until all that can be read is, but not for ever; returns the virtual time. */
  private long run(Shape shape, boolean secondDiskHangs) {
    long beganNs = nowNs;
    long endNs = nowNs + Duration.ofSeconds(120).toNanos();
    while (nowNs < endNs && !readers.stream().allMatch(one -> one.frozen || one.isDone())) {
      readers.forEach(reader -> reader.ask(shape));
      long bytesBefore = counters.value(Counter.BYTES_FROM_COPIES);
      for (int thread = 0; thread < THREADS; thread++) {
        for (int disk = 0; disk < (secondDiskHangs ? 1 : 2); disk++) {
          if (threadsFreeNs[thread] <= nowNs && workers.waiting(disk) > 0) {
            workers.runOne(disk);
            jobs++;
            jobNs += JOB_NS;
            threadsFreeNs[thread] = nowNs + (long) jobNs;
            cpuNs += jobNs;
            jobNs = 0;
          }
        }
      }
      for (int disk = 0; disk < 2; disk++) {
        if (registerFreeNs[disk] <= nowNs && workers.registrations(disk) > 0) {
          workers.registerOne(disk);
          registerFreeNs[disk] = nowNs + windowNs.applyAsLong(pagesOfAWindow(shape));
          registrationNs += registerFreeNs[disk] - nowNs;
        }
      }
      runCommands();
      nowNs += bytesBefore == counters.value(Counter.BYTES_FROM_COPIES) ? 5 * TURN_NS : TURN_NS;
      while (!laters.isEmpty() && laters.peek().atNs <= nowNs) {
        laters.poll().work.run();
      }
      server.doWork(nowNs);
    }
    return nowNs - beganNs;
  }

  private static long pagesOfAWindow(Shape shape) {
    return Math.min(WINDOW, (long) shape.partitions * shape.blockBytes) / 4_096;
  }

  private long bytes(Counter counter) {
    return counters.value(counter);
  }

  @ParameterizedTest
  @MethodSource("cells")
  void shouldServeEachBlockByReadWhateverItMayPin(int pinnedMib, Shape shape) throws IOException {
    start(pinnedMib, shape);
    run(shape, false);
    assertThat(readers).allMatch(Reader::isDone);
    assertThat(byTcp).as("of %d", served).isLessThanOrEqualTo(pinnedMib < 281 ? served / 50 : 0);
    assertThat(bytes(Counter.SERVE_BYTES_REGISTERED))
        .as("registered for windows, served=%d", bytes(Counter.SERVE_BYTES))
        .isLessThanOrEqualTo((long) (1.5 * Math.max(bytes(Counter.SERVE_BYTES), fileBytes(shape))));
    if (shape.blockBytes <= BlockLoad.MAX_BYTES) {
      long most = pinnedMib < 281 ? served + served / 50 : served;
      assertThat(jobs).as("jobs for %d blocks", served).isLessThanOrEqualTo(most);
    }
    long servedBytes = bytes(Counter.SERVE_BYTES);
    double read = Math.min(1, (double) servedBytes / fileBytes(shape));
    double sparkNs = served * SPARK_BLOCK_NS + servedBytes * SPARK_BYTE_NS;
    assertThat((cpuNs + read * registrationNs) / sparkNs)
        .as("time of the server's processors, to Spark's")
        .isLessThan(1);
  }

  /**
   * The main way where memory is free and windows pay: what is read a second time comes out of
   * those that fit, and most of the first reads, too.
   */
  @ParameterizedTest
  @CsvSource({
    // As in the quick start.
    "128, 256, 4, 1, 0.95, 1",
    "200, 200, 64, 3, 0.75, 0.9",
    "64, 64, 512, 3, 0.99, 1",
    "16, 16, 8192, 3, 0.99, 1",
  })
  void shouldReadMostBytesOutOfRegisteredFiles(
      int maps, int partitions, int blockKib, int readers, double cold, double warm)
      throws IOException {
    Shape shape = new Shape(maps, partitions, blockKib << 10, readers);
    start(4_096, shape, priceOfTheLoopbackEngine());
    assertThat(windowPart(shape)).isGreaterThan(cold);
    assertThat(windowPart(shape)).isGreaterThanOrEqualTo(warm);
  }

  @Test
  void shouldReadMostBytesOutOfRegisteredFilesAlsoOnACard() throws IOException {
    Shape shape = new Shape(200, 200, 64 << 10, 3);
    start(4_096, shape, priceOfACard());
    assertThat(windowPart(shape)).isGreaterThan(0.5);
  }

  /** Reads all, and returns the part of the bytes that came out of registered files. */
  private double windowPart(Shape shape) {
    long servedBytes = bytes(Counter.SERVE_BYTES);
    long copiedBytes = bytes(Counter.BYTES_FROM_COPIES);
    addReaders(shape, shape.partitions / shape.readers);
    run(shape, false);
    assertThat(readers).allMatch(Reader::isDone);
    readers.clear();
    copiedBytes = bytes(Counter.BYTES_FROM_COPIES) - copiedBytes;
    return 1 - (double) copiedBytes / (bytes(Counter.SERVE_BYTES) - servedBytes);
  }

  /** Only a part of a shuffle is read here, and a window pays because all of it is read later. */
  private static long fileBytes(Shape shape) {
    return (long) shape.maps * shape.partitions * shape.blockBytes;
  }

  /**
   * Readers ask for all map outputs again and again, in an order of their own, as Spark shuffles
   * its requests: so none of them is wanted again soon.
   */
  @ParameterizedTest
  @CsvSource({"5000,1000", "6000,300"})
  void shouldKeepAsManyIndexesAsFitWhileAllAreReadAgainAndAgain(int maps, int partitions)
      throws IOException {
    Shape shape = new Shape(maps, partitions, 4 << 10, 20);
    start(281, shape);
    for (Reader reader : readers) {
      for (int i = 0; i < reader.number * maps / readers.size(); i++) {
        reader.wanted.add(reader.wanted.poll());
      }
    }
    run(shape, false);
    assertThat(readers).allMatch(Reader::isDone);
    assertThat(byTcp).as("of %d", served).isZero();
    assertThat(jobs).as("jobs for %d blocks", served).isLessThanOrEqualTo(served);
    double fit = MAX_PARTITIONS / ((double) maps * (partitions + IndexCache.ENTRY_PARTITIONS));
    long read = bytes(Counter.INDEXES_READ) + bytes(Counter.INDEX_PARTS_READ);
    assertThat(1 - (double) read / served)
        .as("blocks whose index was kept, of which %.2f fit", fit)
        .isGreaterThan(0.9 * Math.min(1, fit));
  }

  /** They take heap: all readers ask at once, when nothing is kept yet, and memory is scarce. */
  @ParameterizedTest
  @CsvSource({"500, 10000", "8000, 1000", "2000, 200"})
  void shouldReadNoMoreIndexesAsAWholeThanItKeepsWhenAStageBegins(int maps, int partitions)
      throws IOException {
    Shape shape = new Shape(maps, partitions, 2 << 10, 64);
    start(281, shape);
    run(shape, false);
    assertThat(byTcp).as("of %d", served).isZero();
    long all = (long) maps * partitions;
    assertThat(wholePartitions).isBetween(Math.min(all, MAX_PARTITIONS) * 9 / 10, 2 * all);
    assertThat(wholePartitions).isLessThanOrEqualTo(MAX_PARTITIONS * 5L / 4);
  }

  @ParameterizedTest
  @MethodSource("cells")
  void shouldServeOthersWhileAReaderReleasesNothing(int pinnedMib, Shape shape) throws IOException {
    start(pinnedMib, shape);
    Reader frozen = readers.get(0);
    frozen.ask(shape);
    frozen.frozen = true;
    run(shape, false);
    assertThat(readers).allMatch(reader -> reader == frozen || reader.isDone());
    assertThat(byTcp).as("of %d", served).isLessThanOrEqualTo(pinnedMib < 281 ? served / 25 : 0);
  }

  @ParameterizedTest
  @MethodSource("cells")
  void shouldServeBlocksOfAHealthyDiskWhileAnotherHangs(int pinnedMib, Shape shape)
      throws IOException {
    start(pinnedMib, shape);
    long ns = run(shape, true);
    assertThat(readers).allMatch(Reader::isDone);
    // Those of the disk that hangs, and hardly any others but with forty readers and 64 MiB.
    int part = shape.readers < 20 ? 50 : pinnedMib < 281 ? 5 : 24;
    assertThat(byTcp).as("of %d", served).isLessThanOrEqualTo(served / 2 + served / part + 1);
    assertThat(Duration.ofNanos(ns)).isLessThan(Duration.ofSeconds(60));
  }
}
