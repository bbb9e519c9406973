// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.wire;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class LocatedMergeTest {
  private static final int BLOCK_BYTES = 300;

  private final Located.Encoder encoder = new Located.Encoder();
  private final LocatedMerge merge = new LocatedMerge();

  private void located(int block, long offset, int lengthBytes) {
    encoder.located(block, 1000 + offset, 5, lengthBytes, offset, BLOCK_BYTES, 1);
    encoder.sum(offset + lengthBytes, 100 + block);
  }

  private void add(ByteBuffer message) {
    merge.add(message.slice(0, encoder.finish(0, 0)));
  }

  /** Two messages with blocks 0 to 3; a part of block 2 is in each. */
  private void addTwoMessages() {
    ByteBuffer first = ByteBuffer.allocate(1000);
    encoder.begin(first, 7, ChecksumKind.CRC32C_KIND);
    located(1, 0, BLOCK_BYTES);
    located(2, 0, 100);
    encoder.byTcp(2, Located.Kind.OVERLOADED);
    add(first);
    ByteBuffer second = ByteBuffer.allocate(1000);
    encoder.begin(second, 7, ChecksumKind.CRC32C_KIND);
    located(3, 0, BLOCK_BYTES);
    located(0, 0, BLOCK_BYTES);
    located(2, 100, 200);
    add(second);
  }

  private List<String> write(int capacity) {
    ByteBuffer whole = ByteBuffer.allocate(capacity);
    encoder.begin(whole, 7, ChecksumKind.CRC32C_KIND);
    int byTcp = merge.write(encoder);
    List<String> pieces = new ArrayList<>();
    Located.Decoder in = new Located.Decoder().begin(whole.slice(0, encoder.finish(0, 0)));
    while (in.nextPiece()) {
      String sum = in.sumCount() == 0 ? "" : " sum " + in.sum(0);
      pieces.add(in.blockIndex() + " " + in.kind() + " from " + in.blockOffset() + sum);
    }
    pieces.add("by TCP " + byTcp);
    return pieces;
  }

  @Test
  void shouldWritePiecesInTheOrderOfTheirBlocksAndOffsets() {
    addTwoMessages();
    assertThat(write(1000))
        .containsExactly(
            "0 LOCATED from 0 sum 100",
            "1 LOCATED from 0 sum 101",
            "2 LOCATED from 0 sum 102",
            "2 LOCATED from 100 sum 102",
            "2 OVERLOADED from 0",
            "3 LOCATED from 0 sum 103",
            "by TCP 1");
  }

  @Test
  void shouldWriteWhatFits() {
    addTwoMessages();
    int two = Located.HEADER_BYTES + 2 * (Located.PIECE_BYTES + Located.SUM_BYTES);
    assertThat(write(two + Located.PIECE_BYTES))
        .containsExactly("0 LOCATED from 0 sum 100", "1 LOCATED from 0 sum 101", "by TCP 0");
  }

  @Test
  void shouldMarkAnAnswerThatHoldsBlocksBack() {
    ByteBuffer message = ByteBuffer.allocate(1000);
    encoder.begin(message, 7, ChecksumKind.CRC32C_KIND);
    located(1, 0, BLOCK_BYTES);
    Located.Decoder in = new Located.Decoder();
    in.begin(message.slice(0, encoder.finish(1, 1)));
    assertThat(in.nextPiece() && in.isHeldBack()).isFalse();
    encoder.markHeldBack();
    in.begin(message.slice(0, encoder.finish(1, 1)));
    assertThat(in.nextPiece() && in.isHeldBack()).isTrue();
    assertThat(in.isCopied()).isFalse();
  }
}
