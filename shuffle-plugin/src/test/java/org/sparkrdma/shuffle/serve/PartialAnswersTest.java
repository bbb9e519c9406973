// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.serve;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Random;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.sparkrdma.shuffle.output.MapOutput;
import org.sparkrdma.shuffle.serve.ServerFixture.Sum;
import org.sparkrdma.shuffle.serve.ServerFixture.Wanted;
import org.sparkrdma.shuffle.settings.ServeSettings;
import org.sparkrdma.shuffle.settings.ServeSettings.Mode;
import org.sparkrdma.shuffle.wire.Located.Kind;
import org.sparkrdma.verbs.device.Capability;

@Timeout(120)
class PartialAnswersTest {
  private static final int SEEDS = 15;
  @TempDir Path folder;

  static Stream<Arguments> waysAndMessages() {
    return Stream.of(Mode.values())
        .flatMap(
            mode ->
                Stream.of(BlockServer.MIN_ANSWER_BYTES, 200, 1000, 16 << 10)
                    .map(messageBytes -> Arguments.of(mode, messageBytes)));
  }

  @ParameterizedTest
  @MethodSource("waysAndMessages")
  void shouldReassembleAnyBlocksOfAnyMapOutputs(Mode mode, int messageBytes) throws IOException {
    for (int seed = 0; seed < SEEDS; seed++) {
      Random random = new Random(seed);
      long budgetBytes = (long) ServerFixture.WINDOW * (1 + random.nextInt(5));
      int slots = mode == Mode.WINDOW ? 0 : 1 + random.nextInt(3);
      try (var on = ServerFixture.of(folder, mode, slots, budgetBytes, messageBytes)) {
        fetchAndCompare(on, random);
        assertThat(on.domain.maxRegisteredBytes()).isLessThanOrEqualTo(budgetBytes);
      }
    }
  }

  private static void fetchAndCompare(ServerFixture on, Random random) throws IOException {
    List<Wanted> blocks = new ArrayList<>();
    for (int map = 0; map < 5; map++) {
      int partitions = 1 + random.nextInt(30);
      int longest = random.nextInt(4) == 0 ? 200_000 : 5_000;
      int[] lengths = random.ints(partitions, 0, longest).map(n -> n % 4 == 0 ? 0 : n).toArray();
      on.outputs.write(1, map, random, random.nextBoolean(), lengths);
      int start = 0;
      while (start < partitions) {
        int end = start + 1 + random.nextInt(partitions - start);
        blocks.add(Wanted.of(1, map, start, end));
        start = end;
      }
    }
    List<ByteArrayOutputStream> got = new ArrayList<>();
    blocks.forEach(block -> got.add(new ByteArrayOutputStream()));
    // One by one and all at once: a request is never BUSY without other peers.
    for (int i = 0; i < blocks.size(); i++) {
      ByteArrayOutputStream bytes = got.get(i);
      var kinds =
          new TestReader(on, 9)
              .fetch(List.of(blocks.get(i)), (piece, answer, p) -> bytes.write(answer.read(p)));
      assertThat(kinds).containsOnly(Kind.LOCATED);
      assertThat(bytes.toByteArray()).isEqualTo(expected(on, blocks.get(i)));
    }
    long[] total = new long[1];
    var kinds =
        new TestReader(on, 9)
            .fetch(blocks, (piece, answer, p) -> total[0] += answer.read(p).length);
    assertThat(kinds).containsOnly(Kind.LOCATED);
    assertThat(total[0]).isEqualTo(got.stream().mapToLong(ByteArrayOutputStream::size).sum());
  }

  private static byte[] expected(ServerFixture on, Wanted block) {
    return on.outputs.expected(
        block.shuffleId(), block.mapId(), block.startReduceId(), block.endReduceId());
  }

  @Test
  void shouldLocateABlockOfManyGigabytesOverManyWindows() throws IOException {
    int windowBytes = 16 << 20;
    long lengthBytes = (5L << 30) + 12_345;
    Path file = folder.resolve("sparse");
    try (FileChannel channel =
        FileChannel.open(file, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE)) {
      for (long at = 0; at < lengthBytes; at += windowBytes) {
        channel.write(ByteBuffer.allocate(8).putLong(0, at), at);
      }
      channel.write(ByteBuffer.allocate(1), lengthBytes - 1);
    }
    try (var on = windows(windowBytes, 256L << 20)) {
      on.outputs.add(1, 0, new MapOutput(file, new long[] {0, lengthBytes}, new long[] {42}));
      long[] at = new long[1];
      var reader = new TestReader(on, 9);
      var kinds =
          reader.fetch(
              List.of(Wanted.of(1, 0, 0, 1)),
              (piece, answer, p) -> {
                assertThat(piece.offset()).isEqualTo(at[0]);
                byte[] head = on.domain.read(piece.address(), piece.key(), 8);
                assertThat(ByteBuffer.wrap(head).getLong()).isEqualTo(at[0]);
                assertThat(piece.sums())
                    .isEqualTo(
                        at[0] + piece.lengthBytes() == lengthBytes
                            ? List.of(new Sum(lengthBytes, 42))
                            : List.of());
                at[0] += piece.lengthBytes();
              });
      assertThat(kinds).containsExactly(Kind.LOCATED);
      assertThat(at[0]).isEqualTo(lengthBytes);
      assertThat(reader.pieces()).isEqualTo(321);
      assertThat(reader.answers()).as("64 MiB per answer").isEqualTo(81);
    }
  }

  @Test
  void shouldShortenAPieceToThePartitionsWhoseChecksumsFit() throws IOException {
    int messageBytes = BlockServer.MIN_ANSWER_BYTES + 2 * 16;
    try (var on = ServerFixture.of(folder, Mode.WINDOW, 0, 1 << 20, messageBytes)) {
      on.outputs.write(1, 0, new Random(3), true, 10, 0, 20, 30, 0, 0, 40, 50);
      var answer = on.ask(9, Wanted.of(1, 0, 0, 8));
      assertThat(answer.pieces).hasSize(1);
      assertThat(answer.pieces.get(0).lengthBytes()).isEqualTo(60);
      assertThat(answer.pieces.get(0).blockBytes()).isEqualTo(150);
      assertThat(answer.pieces.get(0).sums().stream().map(Sum::end)).containsExactly(10L, 30L, 60L);
      var rest = on.ask(9, Wanted.of(1, 0, 0, 8).rest(60));
      assertThat(rest.pieces.get(0).sums().stream().map(Sum::end)).containsExactly(100L, 150L);
    }
  }

  @Test
  void shouldSumOnlyPartitionsThatEndInThePiece() throws IOException {
    try (var on = ServerFixture.of(folder, Mode.WINDOW, 0, 1 << 20)) {
      on.outputs.write(1, 0, new Random(3), true, 50, 100_000, 7);
      var pieces = on.ask(9, Wanted.of(1, 0, 1, 3)).pieces;
      assertThat(pieces).hasSize(2);
      assertThat(pieces.get(0).sums()).isEmpty();
      assertThat(pieces.get(1).sums().stream().map(Sum::end)).containsExactly(100_000L, 100_007L);
    }
  }

  @Test
  void shouldAnswerAsManyBlocksAsFitIntoTheMessage() throws IOException {
    try (var on = ServerFixture.of(folder, Mode.WINDOW, 0, 1 << 20, 24 + 3 * 56 + 55)) {
      on.outputs.write(1, 0, new Random(3), true, 10, 10, 10, 10);
      Wanted[] blocks = {
        Wanted.of(1, 0, 0, 1), Wanted.of(1, 0, 1, 2), Wanted.of(1, 0, 2, 3), Wanted.of(1, 0, 3, 4)
      };
      assertThat(on.ask(9, blocks).kinds()).hasSize(3).containsOnly(Kind.LOCATED);
    }
  }

  @Test
  void shouldLimitTheBytesRegisteredForOneAnswer() throws IOException {
    int windowBytes = 32 << 20;
    try (var on = windows(windowBytes, 1L << 30)) {
      List<Wanted> blocks = new ArrayList<>();
      for (int map = 0; map < 5; map++) {
        Path file = folder.resolve("map" + map);
        try (FileChannel channel =
            FileChannel.open(file, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE)) {
          channel.write(ByteBuffer.allocate(1), windowBytes - 1);
        }
        on.outputs.add(1, map, new MapOutput(file, new long[] {0, 10, windowBytes}, null));
        blocks.add(Wanted.of(1, map, 0, 1));
      }
      var reader = new TestReader(on, 9);
      assertThat(reader.fetch(blocks, (piece, answer, p) -> {})).containsOnly(Kind.LOCATED);
      assertThat(reader.answers()).isEqualTo(3);
      assertThat(on.ask(9, List.of(), blocks).pieces).as("once registered").hasSize(5);
      var whole = blocks.stream().map(b -> Wanted.of(1, b.mapId(), 0, 2)).toList();
      assertThat(on.ask(9, List.of(), whole).pieces).as("64 MiB").hasSize(2);
    }
  }

  /** A server with windows of that length only, and that much pinned memory. */
  private ServerFixture windows(int windowBytes, long pinnedBytes) throws IOException {
    var settings =
        new ServeSettings(
            Mode.WINDOW,
            windowBytes,
            1 << 20,
            0,
            ServerFixture.LEASE,
            10,
            1000,
            100,
            ServerFixture.IDLE,
            false,
            false);
    var can = EnumSet.of(Capability.FILE_REGIONS);
    return ServerFixture.of(folder, settings, pinnedBytes, 1000, can);
  }
}
