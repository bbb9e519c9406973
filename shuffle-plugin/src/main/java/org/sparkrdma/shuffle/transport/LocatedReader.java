// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.transport;

import java.util.List;
import java.util.function.ObjIntConsumer;
import org.sparkrdma.memory.RegisteredChunk;
import org.sparkrdma.shuffle.fetch.ReceivePool;
import org.sparkrdma.shuffle.wire.Located;
import org.sparkrdma.shuffle.wire.MalformedMessageException;

/**
 * Turns the pieces of a LOCATED into READs, as far as receive memory allows; adjacent pieces are
 * merged. A message is applied as a whole or not at all. Owned by the agent.
 */
final class LocatedReader {
  /** An answer with fewer bytes of an unfinished block counts as small progress. */
  private static final int SMALL_PROGRESS_BYTES = 4_096;

  private final ReceivePool memory;
  private final ReadPool pool;
  private final boolean verify;
  private final ObjIntConsumer<ReadBatch> onReadDone;

  /** Used again for each message. */
  private final LocatedOutcome outcome = new LocatedOutcome();

  private Located.Decoder message;
  private List<BlockProgress> asked;
  private boolean mayWait;
  private ReadBatch batch;
  private int current;
  private boolean currentEnded;

  /** Number of blocks before which all others are reported, or to be located again. */
  private int settled;

  /**
   * @param verify whether the checksums of blocks are needed
   * @param onReadDone called with its batch and length when a READ completes
   */
  LocatedReader(
      ReceivePool memory, ReadPool pool, boolean verify, ObjIntConsumer<ReadBatch> onReadDone) {
    this.memory = memory;
    this.pool = pool;
    this.verify = verify;
    this.onReadDone = onReadDone;
  }

  /**
   * Reads the pieces of a message.
   *
   * @param newMessage decoded once
   * @param newAsked the blocks of the request
   * @param newMayWait whether a block may be located again when the server has no room for it,
   *     instead of using TCP
   * @param newBatch receives the parts of blocks to read
   * @return what to do with the blocks; valid until the next message
   * @throws MalformedMessageException when the pieces do not match the request; the batch is then
   *     unusable and holds no memory
   */
  LocatedOutcome read(
      Located.Decoder newMessage,
      List<BlockProgress> newAsked,
      boolean newMayWait,
      ReadBatch newBatch) {
    outcome.clear();
    current = -1;
    currentEnded = false;
    settled = 0;
    message = newMessage;
    asked = newAsked;
    mayWait = newMayWait;
    batch = newBatch;
    try {
      readPieces();
      return outcome;
    } catch (MalformedMessageException e) {
      // Its READs are not posted.
      newBatch.releaseSinks();
      throw e;
    } finally {
      message = null;
      asked = null;
      batch = null;
    }
  }

  private void readPieces() {
    while (message.nextPiece()) {
      takePiece();
    }
    if (current < 0) {
      throw new MalformedMessageException("bad LOCATED: no piece");
    }
    if (!outcome.reads().isEmpty() && message.leaseId() == 0) {
      throw new MalformedMessageException("bad LOCATED: pieces without a lease");
    }
    List<BlockProgress> begun = batch.blocks();
    for (int i = 0; i < begun.size(); i++) {
      checkProgress(begun.get(i));
    }
    askAgainUntil(asked.size());
    ShortReads.divide(outcome.reads(), pool);
  }

  private void takePiece() {
    int index = message.blockIndex();
    if (index < current || index >= asked.size() || (index == current && currentEnded)) {
      throw new MalformedMessageException("bad LOCATED: blockIndex=" + index);
    }
    boolean first = index != current;
    current = index;
    currentEnded = message.kind() != Located.Kind.LOCATED;
    BlockProgress block = asked.get(index);
    if (!currentEnded) {
      settle(index);
      readPiece(block);
    } else if (first && !tryWait(block)) {
      settle(index);
      outcome.refuse(block, message.kind());
    }
    // Otherwise its first pieces are being read; the next LOCATE locates the rest.
  }

  /** The message reports this block; it leaves out those between it and the one before. */
  private void settle(int index) {
    if (index >= settled) {
      askAgainUntil(index);
      settled = index + 1;
    }
  }

  private void askAgainUntil(int end) {
    for (int i = settled; i < end; i++) {
      outcome.askAgain(asked.get(i));
    }
  }

  private boolean tryWait(BlockProgress block) {
    boolean waits = message.kind() == Located.Kind.BUSY && mayWait && block.tryUseWait();
    if (waits) {
      outcome.markPeerBusy();
    }
    return waits;
  }

  private void readPiece(BlockProgress block) {
    if (outcome.isTooLong(block)) {
      return;
    }
    if (!block.acceptLayout(message.blockBytes(), message.checksumKind())) {
      throw new MalformedMessageException("bad LOCATED: block changed its length");
    }
    if (!memory.canFit(block.neededBytes())) {
      outcome.addTooLong(block);
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
    if (message.lengthBytes() > 0 && block.tryTakeMemory(memory)) {
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
      int step = block.addSink(length - placed);
      if (step == 0) {
        return;
      }
      if (message.isCopied()) {
        block.addCopied(step);
      }
      read(block, placed, step);
      placed += step;
    }
  }

  /** Reads into the sink that was placed last. */
  private void read(BlockProgress block, int from, int lengthBytes) {
    long address = message.address() + from;
    long key = message.remoteKey();
    RegisteredChunk chunk = block.sinkChunk();
    int offset = block.sinkOffset();
    ReadOperation last = outcome.lastRead();
    if (last == null || !last.append(address, key, chunk, offset, lengthBytes)) {
      outcome.reads().add(pool.read(batch, onReadDone, address, key, chunk, offset, lengthBytes));
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
