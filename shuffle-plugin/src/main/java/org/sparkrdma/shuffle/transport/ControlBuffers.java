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
 * answers are always sent, however many requests wait for memory.
 */
final class ControlBuffers implements AutoCloseable {
  /** Number of buffers that only answers use. */
  static final int ANSWER_RESERVE = 8;

  private final RegisteredPool pool;
  private final ArrayDeque<ControlBuffer> reserve = new ArrayDeque<>();
  private final ArrayDeque<Consumer<ControlBuffer>> waitingAnswers = new ArrayDeque<>();
  private int reserved;
  private boolean handingOut;

  ControlBuffers(RegisteredPool pool) {
    this.pool = pool;
  }

  /** Takes a buffer for a receive or a request; empty when there is no memory now. */
  Optional<ControlBuffer> tryTake() {
    return pool.tryTake().map(ControlBuffer::new);
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

  private void handOut() {
    if (handingOut) {
      return;
    }
    handingOut = true;
    try {
      while (!waitingAnswers.isEmpty()) {
        ControlBuffer buffer = tryTake().orElseGet(reserve::poll);
        if (buffer == null) {
          return;
        }
        waitingAnswers.poll().accept(buffer);
      }
    } finally {
      handingOut = false;
    }
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

  /** Number of answers that wait for a buffer. */
  int answersWaiting() {
    return waitingAnswers.size();
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
