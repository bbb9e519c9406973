// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.transport;

import java.util.ArrayDeque;
import java.util.Optional;
import java.util.function.Consumer;
import org.sparkrdma.memory.RegisteredChunk;
import org.sparkrdma.memory.RegisteredPool;

/**
 * The buffers of control messages, shared by all connections. Owned by the agent.
 *
 * <p>A reserve is kept for answers: an answer that finds no memory takes a buffer of the reserve,
 * or waits until another answer gives one back. Requests and receives never use the reserve, so
 * answers are always sent, however many requests wait for memory. An answer to a LOCATE holds its
 * buffer while a disk is read; such answers leave a part of the reserve to others, which are sent
 * at once.
 */
final class ControlBuffers implements AutoCloseable {
  /** Number of buffers that only answers use. */
  static final int ANSWER_RESERVE = 8;

  /** Number of buffers of the reserve that an answer to a LOCATE does not use. */
  static final int SHORT_ANSWER_RESERVE = 2;

  private final RegisteredPool pool;
  private final long maxGrownBytes;
  private final ArrayDeque<ControlBuffer> reserve = new ArrayDeque<>();
  private final ArrayDeque<Consumer<ControlBuffer>> waitingAnswers = new ArrayDeque<>();
  private final ArrayDeque<Consumer<ControlBuffer>> waitingShortAnswers = new ArrayDeque<>();
  private int reserved;
  private boolean handingOut;

  /**
   * @param maxGrownBytes memory of all control buffers beyond which no connection gets more credits
   */
  ControlBuffers(RegisteredPool pool, long maxGrownBytes) {
    this.pool = pool;
    this.maxGrownBytes = maxGrownBytes;
  }

  /** Takes a buffer for a receive or a request; empty when there is no memory now. */
  Optional<ControlBuffer> tryTake() {
    return pool.tryTake().map(ControlBuffer::new);
  }

  /**
   * Takes a buffer for a receive beyond those of an idle connection; empty when control buffers
   * have taken their share, or other memory would have to be evicted.
   */
  Optional<ControlBuffer> tryTakeToGrow() {
    boolean hasRoom =
        (pool.chunksOut() + 1L) * pool.chunkBytes() <= maxGrownBytes
            && pool.availableBytes() >= pool.chunkBytes();
    return hasRoom ? tryTake() : Optional.empty();
  }

  /** Fills the reserve before the first connection; returns false when there is no memory. */
  boolean fillReserve() {
    while (reserved < ANSWER_RESERVE) {
      Optional<RegisteredChunk> chunk = pool.tryTake();
      if (chunk.isEmpty()) {
        return false;
      }
      reserve.add(new ControlBuffer(chunk.get()));
      reserved++;
    }
    return true;
  }

  /** Takes a buffer for an answer and passes it on, at once or when one is given back. */
  void takeForAnswer(Consumer<ControlBuffer> use) {
    waitingAnswers.add(use);
    handOut();
  }

  /** As {@link #takeForAnswer}, for an answer that is sent at once. */
  void takeForShortAnswer(Consumer<ControlBuffer> use) {
    waitingShortAnswers.add(use);
    handOut();
  }

  private void handOut() {
    if (handingOut) {
      return;
    }
    handingOut = true;
    try {
      boolean found = true;
      while (found) {
        found =
            handOutOne(waitingShortAnswers, 0) || handOutOne(waitingAnswers, SHORT_ANSWER_RESERVE);
      }
    } finally {
      handingOut = false;
    }
  }

  private boolean handOutOne(ArrayDeque<Consumer<ControlBuffer>> waiting, int leftInReserve) {
    if (waiting.isEmpty()) {
      return false;
    }
    Optional<ControlBuffer> buffer = tryTake();
    if (buffer.isEmpty() && reserve.size() > leftInReserve) {
      buffer = Optional.of(reserve.remove());
    }
    buffer.ifPresent(taken -> waiting.remove().accept(taken));
    return buffer.isPresent();
  }

  /** Gives a buffer back; once for each that was taken. */
  void giveBack(ControlBuffer buffer) {
    if (reserve.size() < reserved) {
      reserve.add(buffer);
    } else {
      buffer.release();
    }
    handOut();
  }

  /** Releases the reserve if no connection has a buffer, so that the pool can be trimmed. */
  void trimUnused() {
    if (pool.chunksOut() == reserve.size()) {
      close();
    }
  }

  /** Releases the reserve; a connection fills it again. */
  @Override
  public void close() {
    reserved = 0;
    reserve.forEach(ControlBuffer::release);
    reserve.clear();
  }
}
