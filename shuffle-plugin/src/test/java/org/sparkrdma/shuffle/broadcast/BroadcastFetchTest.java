// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.broadcast;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.FileNotFoundException;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.apache.spark.SparkConf;
import org.apache.spark.SparkEnv;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.broadcast.Broadcast;
import org.apache.spark.memory.MemoryManager;
import org.apache.spark.memory.MemoryMode;
import org.apache.spark.network.shuffle.BlockFetchingListener;
import org.apache.spark.serializer.SerializerInstance;
import org.apache.spark.shuffle.IndexShuffleBlockResolver;
import org.apache.spark.storage.BlockData;
import org.apache.spark.storage.BlockManager;
import org.apache.spark.storage.BroadcastBlockId;
import org.apache.spark.storage.StorageLevel;
import org.apache.spark.util.Utils;
import org.apache.spark.util.io.ChunkedByteBuffer;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.sparkrdma.shuffle.LocalSpark;
import org.sparkrdma.shuffle.fetch.BlockManagerAddress;
import org.sparkrdma.shuffle.fetch.CountedBuffer;
import org.sparkrdma.shuffle.fetch.FirstFetch;
import org.sparkrdma.shuffle.links.MissingLinks;
import org.sparkrdma.shuffle.output.MapOutput;
import org.sparkrdma.shuffle.settings.ShuffleSettings;
import scala.Option;
import scala.reflect.ClassTag$;

/** Faults of one broadcast variable's way, with a real block manager and scripted sources. */
@Timeout(120)
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
final class BroadcastFetchTest {
  private static final int PIECES = 20;
  private static final int PIECE_BYTES = 4_096;
  private static final int LAST_BYTES = 100;
  private static final String GOOD = "good";
  private static final String BAD = "bad";

  private final Random random = new Random(1);
  private JavaSparkContext spark;
  private BlockManager blocks;
  private long lastId = 1_000;

  /** Settings for an application in this JVM. */
  static SparkConf conf() {
    return LocalSpark.conf(1);
  }

  @BeforeAll
  void start() {
    spark = new JavaSparkContext(conf());
    blocks = SparkEnv.get().blockManager();
  }

  @AfterAll
  void stop() {
    spark.stop();
  }

  /** Fate of a piece that is requested from a source. */
  private enum Act {
    SEND,
    FLIP_BIT,
    CUT,
    LENGTHEN,
    FAIL,
    HANG,
    /** Spark's storage fails an assertion. */
    ASSERT,
    /** It cannot be requested. */
    REFUSE
  }

  /** A variable, and sources that deliver it or not. */
  private final class Way implements BroadcastFetch.Sources {
    private final long id = ++lastId;
    private final byte[][] bytes = new byte[PIECES][];
    private final Pieces pieces;
    private final BroadcastFetch fetch;
    private final Thread gate;
    private final List<CountedBuffer> sent = new ArrayList<>();
    private Act read = Act.REFUSE;
    private Act tcp = Act.SEND;
    private Act tcpOfBad = Act.SEND;
    private boolean driverIsSilent;
    private boolean driverNamesNoChunk;
    private boolean neverEnds;
    private int badPiece = -1;
    private int removeAfterChunks = -1;
    private int removeAtPiece = -1;
    private int unpersistAtPiece = -1;
    private int fillAfterChunks = -1;
    private long filledBytes;
    private int pieceBytes = PIECE_BYTES;

    private final List<Integer> missing = new ArrayList<>();
    private int failures;
    private boolean left;
    private BlockFetchingListener late;
    private String lateName;

    Way(Consumer<Way> script) {
      script.accept(this);
      long[] sums = new long[PIECES];
      for (int i = 0; i < PIECES; i++) {
        bytes[i] = new byte[i == PIECES - 1 ? LAST_BYTES : PIECE_BYTES];
        random.nextBytes(bytes[i]);
        sums[i] = BroadcastFetch.crc32c(ByteBuffer.wrap(bytes[i]));
      }
      pieces = new Pieces(id, pieceBytes, LAST_BYTES, sums);
      for (int i = 0; i < pieces.chunks(); i++) {
        missing.add(i);
      }
      BroadcastGate closed = new BroadcastGate(blocks.blockInfoManager(), id);
      gate = new Thread(closed);
      gate.start();
      fetch = new BroadcastFetch(SparkEnv.get(), pieces, closed, this);
    }

    /** What all sources do by TCP. */
    void everywhere(Act act) {
      tcpOfBad = act;
      tcp = act;
    }

    /** Bad sources first; the good one takes over when they have failed. */
    @Override
    public BroadcastFetch.Source next(long variable, int done, String failed) throws Exception {
      if (driverIsSilent) {
        throw new IOException("no answer");
      }
      if (driverNamesNoChunk) {
        return new BroadcastFetch.Source(pieces.chunks(), new BlockManagerAddress(GOOD, "host", 1));
      }
      missing.remove((Integer) done);
      if (missing.isEmpty()) {
        // Before the driver answers.
        gate.join();
      }
      failures += failed.isEmpty() ? 0 : 1;
      if (pieces.chunks() - missing.size() == removeAfterChunks) {
        fetch.remove();
      }
      if (pieces.chunks() - missing.size() == fillAfterChunks) {
        MemoryManager memory = SparkEnv.get().memoryManager();
        filledBytes = memory.maxOnHeapStorageMemory() / 2 - memory.storageMemoryUsed();
        BroadcastBlockId value = new BroadcastBlockId(id, "");
        assertThat(memory.acquireStorageMemory(value, filledBytes, MemoryMode.ON_HEAP)).isTrue();
        fillAfterChunks = -1;
      }
      if (missing.isEmpty() || (failures > 3 && !neverEnds)) {
        return null;
      }
      String source = failures > 0 ? GOOD : BAD;
      return new BroadcastFetch.Source(missing.get(0), new BlockManagerAddress(source, "host", 1));
    }

    @Override
    public void leave(long variable) {
      left = true;
    }

    @Override
    public boolean read(BlockManagerAddress from, long of, int piece, PieceArrivals arrivals) {
      if (read == Act.REFUSE) {
        return false;
      }
      send(read, piece, arrivals.listener(piece, true));
      return true;
    }

    @Override
    public void fetch(BlockManagerAddress from, long of, int piece, PieceArrivals arrivals) {
      Act act = from.executorId().equals(BAD) ? tcpOfBad : tcp;
      send(act, piece, arrivals.listener(piece, false));
    }

    private void send(Act act, int piece, BlockFetchingListener listener) {
      if (piece == removeAtPiece) {
        fetch.remove();
      }
      String name = Pieces.block(id, piece).name();
      byte[] right = bytes[piece];
      switch (piece == badPiece ? Act.FLIP_BIT : act) {
        case SEND -> deliver(listener, name, right.clone(), piece == unpersistAtPiece);
        case FLIP_BIT -> {
          byte[] wrong = right.clone();
          wrong[random.nextInt(wrong.length)] ^= 4;
          deliver(listener, name, wrong);
        }
        case CUT -> deliver(listener, name, Arrays.copyOf(right, 50));
        case ASSERT -> throw new AssertionError("scripted");
        case LENGTHEN -> deliver(listener, name, Arrays.copyOf(right, right.length + 1));
        case FAIL -> listener.onBlockFetchFailure(name, new IOException("scripted"));
        default -> {
          late = listener;
          lateName = name;
        }
      }
    }

    private void deliver(BlockFetchingListener listener, String name, byte[] all) {
      deliver(listener, name, all, false);
    }

    private void deliver(
        BlockFetchingListener listener, String name, byte[] all, boolean unpersist) {
      CountedBuffer buffer =
          new CountedBuffer(all) {
            @Override
            public InputStream createInputStream() throws IOException {
              if (unpersist) {
                blocks.removeBroadcast(id, false);
              }
              return super.createInputStream();
            }
          };
      sent.add(buffer);
      listener.onBlockFetchSuccess(name, buffer);
      buffer.release();
    }

    /** Runs it; whatever happened, tasks go on, all memory is free and no byte is wrong. */
    int run() throws Exception {
      fetch.run();
      gate.join();
      SparkEnv.get().memoryManager().releaseStorageMemory(filledBytes, MemoryMode.ON_HEAP);
      assertThat(fetch.cleanUp()).isTrue();
      int found = 0;
      for (int i = 0; i < PIECES; i++) {
        BroadcastBlockId block = Pieces.block(id, i);
        Option<BlockData> data = blocks.getLocalBytes(block);
        if (data.isDefined()) {
          found++;
          assertThat(data.get().toByteBuffer()).isEqualTo(ByteBuffer.wrap(bytes[i]));
          blocks.releaseLock(block, Option.empty());
        }
      }
      if (late != null) {
        deliver(late, lateName, bytes[0]);
      }
      assertThat(sent).allMatch(buffer -> buffer.references() == 0, "released");
      assertThat(left).isEqualTo(found < PIECES || failures > 3);
      blocks.removeBroadcast(id, false);
      return found;
    }
  }

  private record Row(String name, int pieces, Consumer<Way> script) {
    @Override
    public String toString() {
      return name;
    }
  }

  static Stream<Row> rows() {
    return Stream.of(
        new Row("all by TCP", PIECES, way -> {}),
        new Row("all by READ", PIECES, way -> way.read = Act.SEND),
        new Row("READs bring flipped bits", PIECES, way -> way.read = Act.FLIP_BIT),
        new Row("READs bring too few bytes", PIECES, way -> way.read = Act.CUT),
        new Row("READs bring too many bytes", PIECES, way -> way.read = Act.LENGTHEN),
        new Row("READs fail", PIECES, way -> way.read = Act.FAIL),
        new Row("a source sends flipped bits", PIECES, way -> way.tcpOfBad = Act.FLIP_BIT),
        new Row("a source sends too few bytes", PIECES, way -> way.tcpOfBad = Act.CUT),
        new Row("a source is killed", PIECES, way -> way.tcpOfBad = Act.FAIL),
        new Row("a source is silent", PIECES, way -> way.tcpOfBad = Act.HANG),
        new Row("all sources are silent", 0, way -> way.everywhere(Act.HANG)),
        new Row("all sources send flipped bits", 0, way -> way.everywhere(Act.FLIP_BIT)),
        new Row(
            "READs bring flipped bits and TCP fails",
            0,
            way -> {
              way.read = Act.FLIP_BIT;
              way.everywhere(Act.FAIL);
            }),
        new Row(
            "all sources fail, and the driver names them for ever",
            0,
            way -> {
              way.everywhere(Act.FAIL);
              way.neverEnds = true;
            }),
        new Row(
            "a piece is bad everywhere, and the driver names its chunk for ever",
            3,
            way -> {
              way.badPiece = 3;
              way.neverEnds = true;
            }),
        new Row("the driver is silent", 0, way -> way.driverIsSilent = true),
        new Row("the driver names no chunk", 0, way -> way.driverNamesNoChunk = true),
        new Row("destroyed at once", 0, way -> way.removeAfterChunks = 0),
        new Row("destroyed midway", 0, way -> way.removeAfterChunks = 4),
        new Row("destroyed under its last piece", 0, way -> way.removeAtPiece = PIECES - 1),
        new Row("unpersisted under its first piece", 0, way -> way.unpersistAtPiece = 0),
        new Row("unpersisted midway", 0, way -> way.unpersistAtPiece = 6),
        new Row("unpersisted under its last piece", 0, way -> way.unpersistAtPiece = PIECES - 1),
        new Row("Spark's storage fails an assertion", 0, way -> way.tcpOfBad = Act.ASSERT),
        new Row("storage memory is full", 0, way -> way.pieceBytes = 1 << 30),
        new Row("storage memory fills up midway", 8, way -> way.fillAfterChunks = 4));
  }

  @ParameterizedTest
  @MethodSource("rows")
  void shouldLeaveRightPiecesOrNone(Row row) throws Exception {
    assertThat(new Way(row.script()).run()).isEqualTo(row.pieces());
  }

  @Test
  void shouldKeepAPieceThatTorrentHas() throws Exception {
    Way way = new Way(script -> {});
    put(Pieces.block(way.id, 3), way.bytes[3]);
    assertThat(way.run()).isEqualTo(PIECES);
  }

  private void put(BroadcastBlockId block, byte[] bytes) {
    put(block, StorageLevel.MEMORY_ONLY_SER(), false, ByteBuffer.wrap(bytes));
  }

  /** Puts a piece into the block manager of this JVM. */
  static void put(
      BroadcastBlockId block, StorageLevel level, boolean tellMaster, ByteBuffer... bytes) {
    SparkEnv.get()
        .blockManager()
        .putBytes(
            block,
            new ChunkedByteBuffer(bytes),
            level,
            tellMaster,
            ClassTag$.MODULE$.apply(Object.class));
  }

  @Test
  void shouldHoldTasksUntilTheGateOpens() throws Exception {
    Broadcast<String> variable = spark.broadcast("value");
    SerializerInstance serializer = SparkEnv.get().closureSerializer().newInstance();
    Broadcast<String> ofTask =
        Utils.clone(variable, serializer, ClassTag$.MODULE$.apply(Broadcast.class));
    BroadcastBlockId value = new BroadcastBlockId(variable.id(), "");
    BroadcastGate gate = new BroadcastGate(blocks.blockInfoManager(), variable.id());
    gate.run();
    assertThat(gate.hasValue()).as("so it was not held").isTrue();
    blocks.removeBlock(value, false);
    awaitBlocked(new Thread(gate));
    CompletableFuture<String> task = new CompletableFuture<>();
    awaitBlocked(new Thread(() -> task.complete(ofTask.value())));
    assertThat(task).isNotDone();
    // A task would fail whose look-up meets the removal of an entry.
    assertThat(blocks.blockInfoManager().get(value).isEmpty()).isTrue();
    gate.open();
    gate.open();
    assertThat(task.get(30, TimeUnit.SECONDS)).isEqualTo("value");
  }

  private static void awaitBlocked(Thread thread) {
    thread.start();
    while (thread.getState() != Thread.State.WAITING) {
      assertThat(thread.isAlive()).isTrue();
      Thread.onSpinWait();
    }
  }

  @Test
  void shouldOpenTheGateOfAFetchThatHangs() throws InterruptedException {
    new Way(script -> {}).gate.join();
  }

  @Test
  void shouldNotWaitForATaskThatReadsALatePiece() {
    Way way = new Way(script -> {});
    BroadcastBlockId late = Pieces.block(way.id, 3);
    put(late, way.bytes[3]);
    BroadcastBlockId ofTorrent = Pieces.block(way.id, 4);
    put(ofTorrent, StorageLevel.MEMORY_AND_DISK_SER(), true, ByteBuffer.wrap(way.bytes[4]));
    assertThat(blocks.getLocalBytes(late).isDefined()).isTrue();
    assertThat(way.fetch.cleanUp()).as("a task reads it").isFalse();
    blocks.releaseLock(late, Option.empty());
    assertThat(way.fetch.cleanUp()).isTrue();
    assertThat(blocks.getStatus(late).isEmpty()).isTrue();
    assertThat(blocks.getStatus(ofTorrent).isDefined()).as("of a task after unpersist").isTrue();
    blocks.removeBroadcast(way.id, true);
  }

  @ParameterizedTest
  @ValueSource(strings = {"MEMORY_ONLY_SER", "DISK_ONLY"})
  void shouldServePiecesThatAreThere(String level) throws IOException {
    SparkEnv env = SparkEnv.get();
    var resolver = (IndexShuffleBlockResolver) env.shuffleManager().shuffleBlockResolver();
    PieceOutputs outputs =
        new PieceOutputs(blocks, resolver, List.of(), env.conf(), true, new MissingLinks());
    long id = ++lastId;
    assertThat(outputs.open(Pieces.SHUFFLE_ID, Pieces.mapId(id, 5))).isNull();
    assertThat(FirstFetch.SHUFFLE_ID).as("asks for no piece").isNotEqualTo(Pieces.SHUFFLE_ID);
    byte[] bytes = new byte[PIECE_BYTES];
    random.nextBytes(bytes);
    // Spark or this package may have divided it.
    ByteBuffer[] parts = {
      ByteBuffer.wrap(bytes, 0, 100).slice(), ByteBuffer.wrap(bytes, 100, PIECE_BYTES - 100).slice()
    };
    put(Pieces.block(id, 5), StorageLevel.fromString(level), false, parts);
    MapOutput piece = outputs.open(Pieces.SHUFFLE_ID, Pieces.mapId(id, 5));
    assertThat(piece.lengthBytes()).isEqualTo(PIECE_BYTES);
    assertThat(piece.isIn(List.of(Path.of("/")))).as("never registered").isTrue();
    ByteBuffer part = ByteBuffer.allocateDirect(1_000);
    piece.read(7, part);
    assertThat(part.flip()).isEqualTo(ByteBuffer.wrap(bytes, 7, 1_000));
    assertThatThrownBy(() -> piece.read(PIECE_BYTES, ByteBuffer.allocate(1)))
        .isInstanceOf(IOException.class);
    blocks.removeBroadcast(id, false);
    assertThatThrownBy(() -> piece.read(0, ByteBuffer.allocate(1)))
        .isInstanceOf(FileNotFoundException.class);
  }

  @Test
  void shouldBeAbsentWhereItIsOffOrTheNetworkIsEncrypted() {
    SparkEnv env = SparkEnv.get();
    assertThat(Broadcasts.onDriver(env, ShuffleSettings.of(Map.of()), context -> {}))
        .isSameAs(Broadcasts.NONE);
    ShuffleSettings settings =
        ShuffleSettings.of(Map.of("spark.shuffle.rdma.broadcast.mode", "auto"));
    env.conf().set("spark.network.crypto.enabled", "true");
    assertThat(Broadcasts.onDriver(env, settings, context -> {})).isSameAs(Broadcasts.NONE);
    env.conf().set("spark.network.crypto.enabled", "false");
    try (Broadcasts used = Broadcasts.onDriver(env, settings, context -> {})) {
      assertThat(used).isNotSameAs(Broadcasts.NONE);
    }
  }
}
