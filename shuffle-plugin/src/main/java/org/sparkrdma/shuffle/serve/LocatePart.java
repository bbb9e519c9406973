// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.serve;

import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import org.sparkrdma.shuffle.metrics.ShuffleCounters;
import org.sparkrdma.shuffle.wire.Located;

/**
 * The part of a LOCATE that one thread works on at a time: the blocks that need no disk, or those
 * that need a certain disk. It has pieces and a lease of its own, which the answer takes over, so a
 * part that hangs can be left out.
 *
 * <pre>
 *  IDLE ──queue──► QUEUED ──begin──► RUNNING ──end──► IDLE
 *    ▲               │ unqueue          │ abandon, leaveOut
 *    └───────────────┘                  ▼
 *                                   ABANDONED   its thread releases what it holds
 * </pre>
 *
 * <p>Used with the server's lock. While it runs, pieces and lease belong to its thread.
 */
final class LocatePart {
  /** The part on the server's thread or the agent's, which must not wait for a disk. */
  static final int NO_DISK = -1;

  private enum State {
    IDLE,
    QUEUED,
    RUNNING,
    ABANDONED
  }

  private final LocateTask task;
  private final int disk;
  private final ArrayDeque<WaitingBlock> waiting = new ArrayDeque<>();

  /** Blocks that wait, are located, or are in work here. */
  private final List<Integer> blocks = new ArrayList<>();

  private final Located.Encoder pieces = new Located.Encoder();
  private State state = State.IDLE;
  private long queuedSinceNs;
  private ByteBuffer buffer;
  private Lease lease;
  private PiecePlacer placer;
  private BlockWriter writer;
  private ServedOutput output;

  LocatePart(LocateTask task, int disk) {
    this.task = task;
    this.disk = disk;
  }

  LocateTask task() {
    return task;
  }

  /** Index of the disk for which it may wait, or {@link #NO_DISK}. */
  int disk() {
    return disk;
  }

  /** A block needs this part's disk. */
  void add(WaitingBlock block) {
    waiting.add(block);
    blocks.add(block.index());
  }

  boolean hasWaiting() {
    return !waiting.isEmpty();
  }

  /** Takes the next block; its map output is in use here from now on. */
  WaitingBlock next() {
    WaitingBlock next = waiting.poll();
    use(next.output());
    next.endWait();
    return next;
  }

  /** A block goes on in another part. */
  void handOver(int block) {
    blocks.remove((Integer) block);
  }

  /** Indices of its blocks; a copy. */
  List<Integer> blocks() {
    return List.copyOf(blocks);
  }

  /** Removes the blocks that wait; returns their indices. */
  List<Integer> clearWaiting() {
    List<Integer> cleared = new ArrayList<>();
    for (WaitingBlock block = waiting.poll(); block != null; block = waiting.poll()) {
      block.endWait();
      cleared.add(block.index());
    }
    blocks.removeAll(cleared);
    return cleared;
  }

  /** Waits for a thread of its disk. */
  void queue(long nowNs) {
    state = State.QUEUED;
    queuedSinceNs = nowNs;
  }

  /** Time for which it has been waiting for a thread. */
  long waitNs(long nowNs) {
    return nowNs - queuedSinceNs;
  }

  boolean isIdle() {
    return state == State.IDLE;
  }

  boolean isQueued() {
    return state == State.QUEUED;
  }

  boolean isRunning() {
    return state == State.RUNNING;
  }

  /** Whether a thread works on it or will do so. */
  boolean isActive() {
    return isQueued() || isRunning();
  }

  /** Whether it was abandoned while a thread worked on it. */
  boolean isAbandoned() {
    return state == State.ABANDONED;
  }

  void begin() {
    state = State.RUNNING;
  }

  /** Its thread does not work on it any more, also because of an Error. */
  void end() {
    state = State.IDLE;
  }

  /** Its thread finds nothing to do when it takes it. */
  List<Integer> unqueue() {
    state = State.IDLE;
    return clearWaiting();
  }

  /** Its blocks wait no longer; after an Error, so it allocates nothing. */
  void endWaits() {
    for (WaitingBlock block = waiting.poll(); block != null; block = waiting.poll()) {
      block.endWait();
    }
  }

  /** Nothing waits for a thread any more. */
  void abort() {
    state = State.IDLE;
    endWaits();
  }

  /** The answer does without it, or there is none; its thread releases what it holds. */
  void abandon() {
    state = State.ABANDONED;
    endWaits();
    if (lease != null) {
      lease.cancel();
    }
  }

  /** The same where the reader requests its blocks again. */
  void leaveOut() {
    state = State.ABANDONED;
    endWaits();
    if (lease != null) {
      lease.leaveOut();
    }
  }

  boolean hasPieces() {
    return writer != null && pieces.pieceCount() > 0;
  }

  boolean isPrepared() {
    return writer != null;
  }

  /** Begins its pieces. */
  void prepare(
      ByteBuffer newBuffer,
      int checksumKind,
      Lease newLease,
      PiecePlacer newPlacer,
      BlockWriter newWriter) {
    buffer = newBuffer;
    lease = newLease;
    placer = newPlacer;
    writer = newWriter;
    beginPieces(checksumKind);
  }

  /** Begins its pieces again. */
  void beginPieces(int checksumKind) {
    pieces.begin(buffer, task.request().requestId(), checksumKind);
    writer.beginAnswer(pieces);
  }

  /** Its pieces as a message, which is valid while nothing is written. */
  ByteBuffer message() {
    return buffer.slice(0, pieces.finish(0, 0));
  }

  Located.Encoder pieces() {
    return pieces;
  }

  Lease lease() {
    return lease;
  }

  BlockWriter writer() {
    return writer;
  }

  /** The map output in use, which stays in the cache meanwhile; null when there is none. */
  ServedOutput output() {
    return output;
  }

  boolean uses(int shuffleId, long mapId) {
    return output != null && output.is(shuffleId, mapId);
  }

  void use(ServedOutput newOutput) {
    if (newOutput != null) {
      newOutput.beginUse();
    }
    if (output != null) {
      output.endUse();
    }
    output = newOutput;
  }

  /** Ends the work; the lease and the pieces remain. */
  void endWork(ShuffleCounters counters) {
    use(null);
    if (writer != null) {
      placer.endAnswer(counters);
      writer.endAnswer();
    }
  }

  /** Forgets its pieces, after its lease has ended. */
  void reset() {
    buffer = null;
    lease = null;
    placer = null;
    writer = null;
    blocks.clear();
  }
}
