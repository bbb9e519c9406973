// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.wire;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Every message is decoded as it was encoded, and everything else is refused. */
@Timeout(60)
class MessagesTest {
  private static final int ROUNDS = 500;
  private static final int GARBAGE_ROUNDS = 50_000;
  private final Random random = new Random(6);
  private final ByteBuffer buffer = ByteBuffer.allocateDirect(4096);

  private record Block(int shuffleId, long mapId, int start, int end, long offset) {}

  private record Piece(
      int block,
      Located.Kind kind,
      long address,
      int key,
      int length,
      long offset,
      long blockBytes,
      List<Long> sums) {}

  @Test
  void shouldReadALocateAsItWasWritten() {
    for (int round = 0; round < ROUNDS; round++) {
      long requestId = random.nextLong();
      List<Long> leases = new ArrayList<>();
      List<Block> blocks = new ArrayList<>();
      ByteBuffer message = writeLocate(requestId, leases, blocks);
      Locate read = Locate.decode(message);
      assertThat(Messages.type(message)).isEqualTo(Messages.LOCATE);
      assertThat(read.requestId()).isEqualTo(requestId);
      assertThat(read.timeoutMs()).isEqualTo(30_000);
      assertThat(read.leaseCount()).isEqualTo(leases.size());
      for (int i = 0; i < leases.size(); i++) {
        assertThat(read.leaseId(i)).isEqualTo(leases.get(i));
      }
      assertThat(read.blockCount()).isEqualTo(blocks.size());
      for (int i = 0; i < blocks.size(); i++) {
        assertThat(
                new Block(
                    read.shuffleId(i),
                    read.mapId(i),
                    read.startReduceId(i),
                    read.endReduceId(i),
                    read.startOffset(i)))
            .isEqualTo(blocks.get(i));
      }
    }
  }

  private ByteBuffer writeLocate(long requestId, List<Long> leases, List<Block> blocks) {
    Locate.Encoder encoder = new Locate.Encoder().begin(target(), requestId, 30_000);
    int wantedLeases = random.nextInt(20);
    while (leases.size() < wantedLeases && encoder.hasRoomForLease()) {
      long lease = random.nextLong();
      leases.add(lease);
      encoder.lease(lease);
    }
    int wantedBlocks = 1 + random.nextInt(200);
    while (blocks.size() < wantedBlocks && encoder.hasRoomForBlock()) {
      int start = random.nextInt(Integer.MAX_VALUE - 1);
      int end = start + 1 + random.nextInt(Integer.MAX_VALUE - start - 1);
      Block block =
          new Block(
              random.nextInt() >>> 1, random.nextLong() >>> 1, start, end, random.nextLong() >>> 1);
      blocks.add(block);
      encoder.block(block.shuffleId, block.mapId, block.start, block.end, block.offset, false);
    }
    assertThat(encoder.blockCount()).isEqualTo(blocks.size()).isPositive();
    return buffer.slice(0, encoder.finish());
  }

  @Test
  void shouldReadALocatedAsItWasWritten() {
    Located.Decoder read = new Located.Decoder();
    for (int round = 0; round < ROUNDS; round++) {
      long requestId = random.nextLong();
      int kind = random.nextInt(4);
      long lease = random.nextLong();
      int remainingMs = random.nextInt() >>> 1;
      List<Piece> pieces = new ArrayList<>();
      Located.Encoder encoder = new Located.Encoder().begin(target(), requestId, kind);
      writePieces(encoder, pieces);
      read.begin(buffer.slice(0, encoder.finish(lease, remainingMs)));
      assertThat(read.requestId()).isEqualTo(requestId);
      assertThat(read.checksumKind()).isEqualTo(kind);
      assertThat(read.leaseId()).isEqualTo(lease);
      assertThat(read.leaseRemainingMs()).isEqualTo(remainingMs);
      for (Piece piece : pieces) {
        assertThat(read.nextPiece()).isTrue();
        assertThat(pieceOf(read)).isEqualTo(piece);
        assertThat(read.isCopied()).isEqualTo(read.sumCount() % 2 == 1);
      }
      assertThat(read.nextPiece()).isFalse();
    }
  }

  private void writePieces(Located.Encoder encoder, List<Piece> pieces) {
    int wanted = random.nextInt(60);
    while (pieces.size() < wanted && encoder.roomForSums() >= 0) {
      int block = random.nextInt(0x10000);
      if (random.nextInt(4) == 0) {
        Located.Kind kind = random.nextBoolean() ? Located.Kind.BUSY : Located.Kind.UNKNOWN;
        encoder.byTcp(block, kind);
        pieces.add(new Piece(block, kind, 0, 0, 0, 0, 0, List.of()));
        continue;
      }
      int length = random.nextInt() >>> 1;
      long offset = random.nextLong() >>> 2;
      long blockBytes = offset + length + (random.nextLong() >>> 3);
      int count = length < 100 ? 0 : random.nextInt(Math.min(encoder.roomForSums(), 30) + 1);
      List<Long> sums = new ArrayList<>();
      encoder.located(block, 5L << 60, -17, length, offset, blockBytes, count);
      if (count % 2 == 1) {
        encoder.markCopied();
      }
      for (int i = 0; i < count; i++) {
        sums.add(offset + i + 1);
        sums.add(random.nextLong());
        encoder.sum(sums.get(2 * i), sums.get(2 * i + 1));
      }
      pieces.add(
          new Piece(block, Located.Kind.LOCATED, 5L << 60, -17, length, offset, blockBytes, sums));
    }
  }

  private static Piece pieceOf(Located.Decoder read) {
    List<Long> sums = new ArrayList<>();
    for (int i = 0; i < read.sumCount(); i++) {
      sums.add(read.sumEnd(i));
      sums.add(read.sum(i));
    }
    return new Piece(
        read.blockIndex(),
        read.kind(),
        read.address(),
        (int) read.remoteKey(),
        read.lengthBytes(),
        read.blockOffset(),
        read.blockBytes(),
        sums);
  }

  @Test
  void shouldRefuseALocateThatIsCutOffOrTooLong() {
    ByteBuffer message = writeLocate(1, new ArrayList<>(), new ArrayList<>());
    for (int length = 0; length < message.capacity(); length++) {
      ByteBuffer cut = message.slice(0, length);
      assertThatThrownBy(() -> Locate.decode(cut)).isInstanceOf(MalformedMessageException.class);
    }
  }

  @Test
  void shouldRefuseALocateWithImpossibleBlocks() {
    assertThat(locateOf(0, 0, 0, 1, 0)).isNotNull();
    assertThatThrownBy(() -> locateOf(-1, 0, 0, 1, 0)).hasMessageContaining("block=0");
    assertThatThrownBy(() -> locateOf(0, -1, 0, 1, 0)).hasMessageContaining("block=0");
    assertThatThrownBy(() -> locateOf(0, 0, -1, 1, 0)).hasMessageContaining("block=0");
    assertThatThrownBy(() -> locateOf(0, 0, 1, 1, 0)).hasMessageContaining("block=0");
    assertThatThrownBy(() -> locateOf(0, 0, 0, 1, -1)).hasMessageContaining("block=0");
  }

  private Locate locateOf(int shuffleId, long mapId, int start, int end, long offset) {
    Locate.Encoder encoder = new Locate.Encoder().begin(buffer, 1, 30_000);
    encoder.block(shuffleId, mapId, start, end, offset, false);
    return Locate.decode(buffer.slice(0, encoder.finish()));
  }

  @Test
  void shouldRefuseGarbage() {
    List<Consumer<ByteBuffer>> decoders =
        List.of(
            MessagesTest::readLocate,
            MessagesTest::readLocated,
            message -> Messages.releasedLeases(message),
            message -> Messages.checkReleased(message));
    int accepted = 0;
    int refused = 0;
    for (int round = 0; round < GARBAGE_ROUNDS; round++) {
      ByteBuffer message = garbage();
      for (Consumer<ByteBuffer> decoder : decoders) {
        try {
          decoder.accept(message);
          accepted++;
        } catch (MalformedMessageException e) {
          refused++;
        }
      }
    }
    assertThat(accepted).isPositive();
    assertThat(refused).isGreaterThan(GARBAGE_ROUNDS);
  }

  /** Random bytes, or a valid message with some changed bytes. */
  private ByteBuffer garbage() {
    int choice = random.nextInt(3);
    if (choice == 0) {
      byte[] bytes = new byte[random.nextInt(300)];
      random.nextBytes(bytes);
      if (bytes.length > 0) {
        bytes[0] = (byte) random.nextInt(6);
      }
      return ByteBuffer.wrap(bytes);
    }
    int length;
    if (choice == 1) {
      Locate.Encoder encoder = new Locate.Encoder().begin(buffer, 1, 30_000);
      encoder.lease(3);
      encoder.block(1, 2, 3, 4, 5, false);
      encoder.block(1, 3, 3, 4, 5, false);
      length = encoder.finish();
    } else {
      Located.Encoder encoder = new Located.Encoder().begin(buffer, 1, 1);
      encoder.located(0, 1, 2, 100, 50, 200, 1);
      encoder.sum(60, 7);
      encoder.byTcp(1, Located.Kind.BUSY);
      length = encoder.finish(4, 5);
    }
    byte[] bytes = new byte[random.nextInt(8) == 0 ? random.nextInt(length) : length];
    buffer.get(0, bytes);
    for (int changes = random.nextInt(3); changes >= 0 && bytes.length > 0; changes--) {
      bytes[random.nextInt(bytes.length)] = (byte) random.nextInt();
    }
    return ByteBuffer.wrap(bytes);
  }

  private static void readLocate(ByteBuffer message) {
    Locate read = Locate.decode(message);
    for (int i = 0; i < read.leaseCount(); i++) {
      read.leaseId(i);
    }
    for (int i = 0; i < read.blockCount(); i++) {
      assertThat(read.startReduceId(i)).isBetween(0, read.endReduceId(i) - 1);
      assertThat(read.mapId(i)).isNotNegative();
      assertThat(read.startOffset(i)).isNotNegative();
    }
  }

  private static void readLocated(ByteBuffer message) {
    Located.Decoder read = new Located.Decoder().begin(message);
    assertThat(read.leaseRemainingMs()).isNotNegative();
    while (read.nextPiece()) {
      Piece piece = pieceOf(read);
      assertThat(piece.length).isNotNegative();
      assertThat(piece.offset).isNotNegative();
      if (piece.kind == Located.Kind.LOCATED) {
        assertThat(piece.offset + piece.length).isLessThanOrEqualTo(piece.blockBytes);
      }
      for (int i = 0; i < piece.sums.size(); i += 2) {
        assertThat(piece.sums.get(i)).isBetween(piece.offset + 1, piece.offset + piece.length);
      }
    }
  }

  @Test
  void shouldReadAMessageThatDoesNotBeginAtTheStartOfItsBuffer() {
    Locate.Encoder encoder = new Locate.Encoder().begin(buffer.slice(100, 200), 5, 30_000);
    encoder.block(1, 2, 3, 4, 0, false);
    buffer.clear().position(100).limit(100 + encoder.finish());
    assertThat(Messages.type(buffer)).isEqualTo(Messages.LOCATE);
    assertThat(Locate.decode(buffer).requestId()).isEqualTo(5);
    assertThat(buffer.position()).isEqualTo(100);
  }

  /** A buffer of random length without zeros, like a reused one. */
  private ByteBuffer target() {
    for (int i = 0; i < buffer.capacity(); i += Long.BYTES) {
      buffer.putLong(i, -1);
    }
    return buffer.slice(0, 100 + random.nextInt(buffer.capacity() - 100));
  }
}
