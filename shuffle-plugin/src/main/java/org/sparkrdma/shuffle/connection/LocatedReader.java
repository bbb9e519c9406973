/*
 * Licensed under the Apache License, Version 2.0 (the "License");
 * you may not use this file except in compliance with the License.
 * You may obtain a copy of the License at
 *
 *     http://www.apache.org/licenses/LICENSE-2.0
 *
 * Unless required by applicable law or agreed to in writing, software
 * distributed under the License is distributed on an "AS IS" BASIS,
 * WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
 * See the License for the specific language governing permissions and
 * limitations under the License.
 */
package org.sparkrdma.shuffle.connection;

import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.List;
import java.util.function.Predicate;
import org.sparkrdma.memory.RegisteredPool;
import org.sparkrdma.shuffle.block.Segment;
import org.sparkrdma.shuffle.fetch.BlockProgress;
import org.sparkrdma.shuffle.fetch.Delivery;
import org.sparkrdma.shuffle.fetch.ReadBatch;
import org.sparkrdma.shuffle.metrics.FallbackReason;
import org.sparkrdma.shuffle.wire.Located;
import org.sparkrdma.shuffle.wire.MalformedMessageException;

/**
 * Turns the pieces of a LOCATED into READs: as many as there is receive memory for, neighbours
 * merged. Owned by the agent.
 */
final class LocatedReader {
  /** Most of a block to disk that is read before it is written. */
  private static final long DISK_PART_BYTES = 8L << 20;

  private final RegisteredPool sinks;
  private final Delivery delivery;
  private final ReadOperation.Listener listener;
  private final ArrayDeque<ReadOperation> unposted;
  private final Predicate<BlockProgress> mayWaitForRoom;
  private boolean poolEmpty;
  private boolean peerBusy;

  /**
   * @param unposted where READs go, in the order they are to be posted
   * @param mayWaitForRoom whether a block for which the peer has no room is asked for again,
   *     instead of going by TCP
   */
  LocatedReader(
      RegisteredPool sinks,
      Delivery delivery,
      ReadOperation.Listener listener,
      ArrayDeque<ReadOperation> unposted,
      Predicate<BlockProgress> mayWaitForRoom) {
    this.sinks = sinks;
    this.delivery = delivery;
    this.listener = listener;
    this.unposted = unposted;
    this.mayWaitForRoom = mayWaitForRoom;
  }

  /** Whether the last message found too little receive memory. */
  boolean poolEmpty() {
    return poolEmpty;
  }

  /** Whether the last message had blocks that now wait for room at the peer. */
  boolean peerBusy() {
    return peerBusy;
  }

  /**
   * Takes the pieces of a message.
   *
   * @param blocks those asked for; entries that the message fails are set to null
   * @param told set for each block that the message says something of
   * @throws MalformedMessageException when the pieces do not fit the question
   */
  void read(Located.Decoder message, BlockProgress[] blocks, boolean[] told, ReadBatch batch) {
    poolEmpty = false;
    peerBusy = false;
    int pieces = 0;
    int before = 0;
    try (SinkCursor cursor = new SinkCursor(sinks)) {
      while (message.nextPiece()) {
        int index = message.blockIndex();
        if (index < before || index >= blocks.length || blocks[index] == null) {
          throw new MalformedMessageException("bad LOCATED: blockIndex=" + index);
        }
        before = index;
        told[index] = true;
        pieces++;
        if (message.kind() == Located.Kind.LOCATED) {
          readPiece(message, blocks[index], batch, cursor);
        } else if (message.kind() == Located.Kind.BUSY && mayWaitForRoom.test(blocks[index])) {
          peerBusy = true;
          told[index] = false;
        } else {
          blocks[index] = fail(blocks[index], message.kind(), batch);
        }
      }
    }
    if (pieces == 0) {
      throw new MalformedMessageException("bad LOCATED: no piece at all");
    }
  }

  private BlockProgress fail(BlockProgress block, Located.Kind kind, ReadBatch batch) {
    List<ReadBatch.Part> parts = batch.parts();
    if (!parts.isEmpty() && parts.get(parts.size() - 1).block() == block) {
      // Its first pieces are being read; the next LOCATE will tell about the rest.
      return block;
    }
    delivery.fail(
        block,
        kind == Located.Kind.BUSY ? FallbackReason.PEER_BUSY : FallbackReason.PEER_UNKNOWN_BLOCK,
        "peer answered " + kind);
    return null;
  }

  private void readPiece(
      Located.Decoder piece, BlockProgress block, ReadBatch batch, SinkCursor cursor) {
    if (!block.learn(piece.blockBytes(), piece.checksumKind())) {
      throw new MalformedMessageException("bad LOCATED: block changed its length");
    }
    ReadBatch.Part part = batch.partOf(block);
    long expected = block.bytesRead() + part.bytes();
    if (piece.blockOffset() != expected) {
      if (piece.blockOffset() > expected && part.cutOff()) {
        return;
      }
      throw new MalformedMessageException("bad LOCATED: blockOffset=" + piece.blockOffset());
    }
    int placed = 0;
    while (placed < piece.lengthBytes()) {
      if (block.toDisk() && part.bytes() >= DISK_PART_BYTES) {
        part.cutOffHere();
        break;
      }
      int room = cursor.room();
      if (room == 0) {
        poolEmpty = true;
        part.cutOffHere();
        break;
      }
      int step = Math.min(room, piece.lengthBytes() - placed);
      place(piece, placed, step, part, batch, cursor);
      placed += step;
    }
    long end = block.bytesRead() + part.bytes();
    for (int i = 0; i < piece.sumCount() && piece.sumEnd(i) <= end; i++) {
      part.sum(piece.sumEnd(i), piece.sum(i));
    }
  }

  private void place(
      Located.Decoder piece,
      int from,
      int lengthBytes,
      ReadBatch.Part part,
      ReadBatch batch,
      SinkCursor cursor) {
    long address = piece.address() + from;
    ReadOperation last = unposted.peekLast();
    boolean grown =
        last != null
            && last.batch() == batch
            && last.append(
                address, piece.remoteKey(), cursor.chunk(), cursor.position(), lengthBytes);
    if (!grown) {
      batch.readAdded();
      unposted.add(
          new ReadOperation(
              batch,
              listener,
              address,
              piece.remoteKey(),
              cursor.chunk(),
              cursor.position(),
              lengthBytes));
    }
    cursor.chunk().retain();
    part.add(new Segment(cursor.chunk(), cursor.position(), lengthBytes));
    cursor.advance(lengthBytes);
  }

  /** A view of a received LOCATED, to be decoded once. */
  static Located.Decoder decoder(ByteBuffer message) {
    return new Located.Decoder().begin(message);
  }
}
