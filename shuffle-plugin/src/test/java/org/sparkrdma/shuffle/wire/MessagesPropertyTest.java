// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.wire;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.ForAll;
import net.jqwik.api.From;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.Size;
import net.jqwik.api.lifecycle.AfterContainer;
import org.sparkrdma.fuzz.DecoderGuard;

/** Messages are decoded as they were encoded; everything else is refused. */
class MessagesPropertyTest {
  private static final DecoderGuard GUARD =
      new DecoderGuard("wire.properties", MalformedMessageException.class);
  private static final int MESSAGE_BYTES = 4096;

  record Block(
      int shuffleId, long mapId, int start, int end, long offset, boolean fresh, boolean noCopy) {}

  record Extent(int block, long address, int key, int length, long offset, long after, int sums) {}

  @Provide
  Arbitrary<Block> blocks() {
    Arbitrary<Integer> ids = Arbitraries.integers().greaterOrEqual(0);
    Arbitrary<Long> numbers = Arbitraries.longs().greaterOrEqual(0);
    Arbitrary<Integer> starts = Arbitraries.integers().between(0, Integer.MAX_VALUE / 2);
    Arbitrary<Integer> lengths = Arbitraries.integers().between(1, Integer.MAX_VALUE / 2);
    Arbitrary<Boolean> flags = Arbitraries.of(true, false);
    return Combinators.combine(ids, numbers, starts, lengths, numbers, flags, flags)
        .as(
            (shuffle, map, start, length, offset, fresh, noCopy) ->
                new Block(shuffle, map, start, start + length, offset, fresh, noCopy));
  }

  @Provide
  Arbitrary<Extent> extents() {
    Arbitrary<Long> offsets = Arbitraries.longs().between(0, Long.MAX_VALUE / 4);
    return Combinators.combine(
            Arbitraries.integers().between(0, 0xFFFF),
            Arbitraries.longs(),
            Arbitraries.integers(),
            Arbitraries.integers().greaterOrEqual(0),
            offsets,
            offsets,
            Arbitraries.integers().between(0, 5))
        .as(
            (block, address, key, length, offset, after, sums) ->
                new Extent(block, address, key, length, offset, after, Math.min(sums, length)));
  }

  @Property(seed = "1")
  void shouldReadALocateAsItWasWritten(
      @ForAll long requestId,
      @ForAll @IntRange(max = Integer.MAX_VALUE) int owner,
      @ForAll @Size(max = 20) List<Long> leases,
      @ForAll @Size(min = 1, max = 20) List<@From("blocks") Block> blocks) {
    ByteBuffer out = ByteBuffer.allocate(MESSAGE_BYTES);
    Locate.Encoder encoder = new Locate.Encoder().begin(out, requestId, 30_000, owner);
    leases.forEach(encoder::lease);
    for (Block block : blocks) {
      encoder.block(
          block.shuffleId,
          block.mapId,
          block.start,
          block.end,
          block.offset,
          block.fresh,
          block.noCopy);
    }
    ByteBuffer message = out.slice(0, encoder.finish());

    assertAccepted(
        message,
        () -> {
          Locate read = Locate.decode(message);
          assertThat(read.requestId()).isEqualTo(requestId);
          assertThat(read.owner()).isEqualTo(owner);
          List<Long> readLeases = new ArrayList<>();
          for (int i = 0; i < read.leaseCount(); i++) {
            readLeases.add(read.leaseId(i));
          }
          assertThat(readLeases).isEqualTo(leases);
          List<Block> readBlocks = new ArrayList<>();
          for (int i = 0; i < read.blockCount(); i++) {
            readBlocks.add(
                new Block(
                    read.shuffleId(i),
                    read.mapId(i),
                    read.startReduceId(i),
                    read.endReduceId(i),
                    read.startOffset(i),
                    read.freshSums(i),
                    read.noCopy(i)));
          }
          assertThat(readBlocks).isEqualTo(blocks);
        });
  }

  @Property(seed = "2")
  void shouldReadALocatedAsItWasWritten(
      @ForAll long requestId,
      @ForAll long leaseId,
      @ForAll @IntRange(max = Integer.MAX_VALUE) int leaseMs,
      @ForAll @IntRange(max = 3) int kind,
      @ForAll @Size(max = 20) List<@From("extents") Extent> extents) {
    ByteBuffer out = ByteBuffer.allocate(MESSAGE_BYTES);
    Located.Encoder encoder = new Located.Encoder().begin(out, requestId, kind);
    for (Extent extent : extents) {
      long blockBytes = extent.offset + extent.length + extent.after;
      encoder.located(
          extent.block,
          extent.address,
          extent.key,
          extent.length,
          extent.offset,
          blockBytes,
          extent.sums);
      for (int i = 1; i <= extent.sums; i++) {
        encoder.sum(extent.offset + i, extent.address ^ i);
      }
    }
    ByteBuffer message = out.slice(0, encoder.finish(leaseId, leaseMs));

    assertAccepted(
        message,
        () -> {
          Located.Decoder read = new Located.Decoder().begin(message);
          assertThat(read.requestId()).isEqualTo(requestId);
          assertThat(read.leaseId()).isEqualTo(leaseId);
          assertThat(read.leaseRemainingMs()).isEqualTo(leaseMs);
          assertThat(read.checksumKind()).isEqualTo(kind);
          List<Extent> readExtents = new ArrayList<>();
          while (read.nextExtent()) {
            readExtents.add(extentOf(read));
          }
          assertThat(readExtents).isEqualTo(extents);
        });
  }

  private static Extent extentOf(Located.Decoder read) {
    for (int i = 0; i < read.sumCount(); i++) {
      assertThat(read.sumEnd(i)).isEqualTo(read.blockOffset() + i + 1);
      assertThat(read.sum(i)).isEqualTo(read.address() ^ (i + 1));
    }
    return new Extent(
        read.blockIndex(),
        read.address(),
        (int) read.remoteKey(),
        read.lengthBytes(),
        read.blockOffset(),
        read.blockBytes() - read.blockOffset() - read.lengthBytes(),
        read.sumCount());
  }

  @Property(seed = "3")
  void shouldReadAReleaseAsItWasWritten(@ForAll @Size(max = 100) List<Long> leases) {
    ByteBuffer out = Release.begin(ByteBuffer.allocate(MESSAGE_BYTES), leases.size());
    leases.forEach(out::putLong);
    ByteBuffer message = out.slice(0, out.position());
    assertAccepted(
        message,
        () ->
            assertThat(Release.leases(message))
                .isEqualTo(leases.stream().mapToLong(Long::longValue).toArray()));
  }

  /** A type and plausible counts, so that not all inputs fail at the first check. */
  @Provide
  Arbitrary<byte[]> nearly() {
    return Combinators.combine(
            Arbitraries.bytes().between((byte) 0, (byte) 5),
            Arbitraries.bytes().between((byte) 0, (byte) 4),
            Arbitraries.bytes().array(byte[].class).ofMaxSize(300))
        .as(
            (type, count, rest) -> {
              byte[] message = Arrays.copyOf(rest, Math.max(6, rest.length));
              System.arraycopy(new byte[] {type, 0, count, 0, count, 0}, 0, message, 0, 6);
              return message;
            });
  }

  @Property(seed = "5")
  void shouldDecodeAnyBytesOrRefuseThem(@ForAll("nearly") byte[] bytes) {
    ByteBuffer message = ByteBuffer.wrap(bytes);
    GUARD.accepts(bytes.length, () -> Locate.decode(message));
    GUARD.accepts(bytes.length, () -> Release.leases(message));
    GUARD.accepts(bytes.length, () -> Release.checkReleased(message));
    GUARD.accepts(bytes.length, () -> SetupMessages.refusal(message));
    GUARD.accepts(
        bytes.length,
        () -> {
          Located.Decoder read = new Located.Decoder().begin(message);
          while (read.nextExtent()) {
            read.kind();
          }
        });
  }

  private static void assertAccepted(ByteBuffer message, DecoderGuard.Decoding decoding) {
    // Memory that the assertions allocate is not the decoder's.
    assertThat(GUARD.accepts(MESSAGE_BYTES + message.remaining(), decoding)).isTrue();
  }

  @AfterContainer
  static void report() throws IOException {
    GUARD.report();
  }
}
