// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.transport;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.ObjIntConsumer;
import org.sparkrdma.memory.RegisteredChunk;
import org.sparkrdma.shuffle.fetch.BlockProgress;
import org.sparkrdma.shuffle.fetch.ReadBatch;
import org.sparkrdma.shuffle.fetch.ReceiveMemory;
import org.sparkrdma.shuffle.wire.Located;
import org.sparkrdma.shuffle.wire.MalformedMessageException;

/**
 * Turns the pieces of a LOCATED into READs, as far as receive memory allows; adjacent pieces are
 * merged. A message is applied as a whole or not at all. Owned by the agent.
 */
final class LocatedReader {
  /** An answer with fewer bytes of an unfinished block counts as small progress. */
  private static final int SMALL_PROGRESS_BYTES = 4_096;

  private final ReceiveMemory memory;
  private final MemoryQueue queue;
  private final ReadPool pool;
  private final boolean verify;
  private final ObjIntConsumer<ReadBatch> onReadDone;

  /**
   * @param queue decides which block gets memory first
   * @param verify whether the checksums of blocks are needed
   * @param onReadDone called with its batch and length when a READ completes
   */
  LocatedReader(
      ReceiveMemory memory,
      MemoryQueue queue,
      ReadPool pool,
      boolean verify,
      ObjIntConsumer<ReadBatch> onReadDone) {
    this.memory = memory;
    this.queue = queue;
    this.pool = pool;
    this.verify = verify;
    this.onReadDone = onReadDone;
  }

  /**
   * Result of one message.
   *
   * @param reads READs to post, in this order; valid until the next message
   * @param refused blocks that use TCP, with the answer of the server
   * @param askAgain blocks to locate again, in their order
   * @param tooLong blocks that never fit into receive memory; they use TCP
   * @param peerBusy whether a block waits for room at the server
   */
  record Result(
      List<ReadOperation> reads,
      Map<BlockProgress, Located.Kind> refused,
      List<BlockProgress> askAgain,
      Set<BlockProgress> tooLong,
      boolean peerBusy) {}

  /**
   * Reads the pieces of a message.
   *
   * @param asked the blocks of the request
   * @param mayWait whether a block may be located again when the server has no room for it, instead
   *     of using TCP
   * @param batch receives the parts of blocks to read
   * @throws MalformedMessageException when the pieces do not match the request; the batch is then
   *     unusable and holds no memory
   */
  Result read(
      Located.Decoder message, List<BlockProgress> asked, boolean mayWait, ReadBatch batch) {
    Reading reading = new Reading(message, asked, mayWait, batch);
    try {
      return reading.run();
    } catch (MalformedMessageException e) {
      // Its READs are not posted.
      batch.releaseSinks();
      throw e;
    }
  }

  /** A view of a received LOCATED, decoded once. */
  static Located.Decoder decoder(ByteBuffer message) {
    return new Located.Decoder().begin(message);
  }

  /** State while reading one message. */
  private final class Reading {
    private final Located.Decoder message;
    private final List<BlockProgress> asked;
    private final boolean mayWait;
    private final ReadBatch batch;
    private final List<ReadOperation> reads = pool.reads();
    private final Map<BlockProgress, Located.Kind> refused = new LinkedHashMap<>();
    private final boolean[] reported;
    private int current = -1;
    private boolean currentEnded;
    private final Set<BlockProgress> tooLong = new LinkedHashSet<>();
    private boolean peerBusy;

    Reading(Located.Decoder message, List<BlockProgress> asked, boolean mayWait, ReadBatch batch) {
      this.message = message;
      this.asked = asked;
      this.mayWait = mayWait;
      this.batch = batch;
      this.reported = new boolean[asked.size()];
    }

    Result run() {
      while (message.nextPiece()) {
        takePiece();
      }
      if (current < 0) {
        throw new MalformedMessageException("bad LOCATED: no piece");
      }
      if (!reads.isEmpty() && message.leaseId() == 0) {
        throw new MalformedMessageException("bad LOCATED: pieces without a lease");
      }
      for (BlockProgress block : batch.blocks()) {
        checkProgress(block);
      }
      List<BlockProgress> askAgain = new ArrayList<>(0);
      for (int i = 0; i < reported.length; i++) {
        if (!reported[i]) {
          askAgain.add(asked.get(i));
        }
      }
      ShortReads.divide(reads, pool);
      return new Result(reads, refused, askAgain, tooLong, peerBusy);
    }

    private void takePiece() {
      int index = message.blockIndex();
      if (index < current || index >= reported.length || (index == current && currentEnded)) {
        throw new MalformedMessageException("bad LOCATED: blockIndex=" + index);
      }
      boolean first = index != current;
      current = index;
      currentEnded = message.kind() != Located.Kind.LOCATED;
      BlockProgress block = asked.get(index);
      if (!currentEnded) {
        reported[index] = true;
        readPiece(block);
      } else if (first) {
        reported[index] = !tryWait(block);
        if (reported[index]) {
          refused.put(block, message.kind());
        }
      }
      // Otherwise its first pieces are being read; the next LOCATE locates the rest.
    }

    private boolean tryWait(BlockProgress block) {
      boolean waits = message.kind() == Located.Kind.BUSY && mayWait && block.tryUseWait();
      peerBusy |= waits;
      return waits;
    }

    private void readPiece(BlockProgress block) {
      if (!tooLong.isEmpty() && tooLong.contains(block)) {
        return;
      }
      if (!block.learn(message.blockBytes(), message.checksumKind())) {
        throw new MalformedMessageException("bad LOCATED: block changed its length");
      }
      if (!memory.canFit(block.neededBytes(memory))) {
        tooLong.add(block);
        return;
      }
      batch.add(block);
      long expected = block.bytesRead() + block.partBytes();
      if (message.blockOffset() != expected) {
        if (message.blockOffset() > expected && block.isPartCutOff()) {
          return;
        }
        throw new MalformedMessageException("bad LOCATED: blockOffset=" + message.blockOffset());
      }
      if (message.lengthBytes() == 0 && message.blockBytes() != 0) {
        throw new MalformedMessageException("bad LOCATED: empty piece of a block that is not");
      }
      if (message.lengthBytes() > 0 && queue.tryReserve(block)) {
        placePiece(block);
      } else if (message.lengthBytes() > 0) {
        block.cutOffPart();
      }
      long end = block.bytesRead() + block.partBytes();
      for (int i = 0; verify && i < message.sumCount() && message.sumEnd(i) <= end; i++) {
        block.addSum(message.sumEnd(i), message.sum(i));
      }
    }

    private void placePiece(BlockProgress block) {
      int length = message.lengthBytes();
      int placed = 0;
      while (placed < length) {
        int step = block.addSink(memory, length - placed);
        if (step == 0) {
          return;
        }
        if (message.isCopied()) {
          block.addPartCopied(step);
        }
        read(placed, step);
        placed += step;
      }
    }

    /** Reads into the sink that was placed last. */
    private void read(int from, int lengthBytes) {
      long address = message.address() + from;
      int key = message.remoteKey();
      RegisteredChunk chunk = memory.sinkChunk();
      int offset = memory.sinkEnd() - lengthBytes;
      ReadOperation last = reads.isEmpty() ? null : reads.get(reads.size() - 1);
      if (last == null || !last.append(address, key, chunk, offset, lengthBytes)) {
        reads.add(pool.read(batch, onReadDone, address, key, chunk, offset, lengthBytes));
        batch.countRead();
      }
    }

    /** Prevents a server from delaying a block for ever with tiny pieces. */
    private static void checkProgress(BlockProgress block) {
      boolean small = block.partBytes() < SMALL_PROGRESS_BYTES && !block.isPartCutOff();
      if (small && !block.isCompleteWithPart() && !block.tryUseSmallProgress()) {
        throw new MalformedMessageException("too many small pieces of a block");
      }
    }
  }
}
