// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.transport;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;
import org.sparkrdma.memory.RegisteredChunk;
import org.sparkrdma.memory.RegisteredPool;

/**
 * The buffers of control messages, shared by all connections. Owned by the agent.
 *
 * <p>A reserve is kept for answers: an answer that finds no memory takes a buffer of the reserve,
 * or waits until another answer releases one. LOCATEs and receives of credits never use the
 * reserve, so answers are always sent, however many requests wait for memory. An answer to a LOCATE
 * holds its buffer while a disk is read; such answers leave a part of the reserve to others, which
 * are sent at once.
 *
 * <p>Another part is for RELEASE and RETURN, so that executors whose memory is full can always
 * release each other's leases. One connection has that part at a time.
 */
final class ControlBuffers implements AutoCloseable {
  /** Number of buffers that only answers use. */
  static final int ANSWER_RESERVE = 8;

  /** Number of buffers of the reserve that an answer to a LOCATE does not use. */
  static final int SHORT_ANSWER_RESERVE = 2;

  /** Number of buffers of the reserve that only a RELEASE with its answer, or a RETURN, uses. */
  static final int RELEASE_RESERVE = 2;

  /** Number of buffers of the reserve. */
  static final int RESERVE = ANSWER_RESERVE + RELEASE_RESERVE;

  /** Number of buffers that credits leave to this executor's own requests. */
  static final int LEFT_BY_CREDITS = 4;

  /** Time without use after which memory is deregistered. */
  private static final long IDLE_NS = 1_000_000_000;

  /**
   * Maximum number of deregistrations at a tick, those of receive memory included, since the agent
   * does nothing else meanwhile.
   */
  static final int MAX_TRIMMED = 8;

  private final RegisteredPool pool;
  private final long maxGrownBytes;
  private final ArrayDeque<ControlBuffer> reserve = new ArrayDeque<>();
  private final ArrayDeque<WaitingAnswer> waitingAnswers = new ArrayDeque<>();
  private final ArrayDeque<WaitingAnswer> waitingShortAnswers = new ArrayDeque<>();
  private int reserved;
  private boolean releaseReserveUsed;
  private boolean handingOut;

  private boolean trimming;
  private long checkedNs;

  /** Whether memory was refused since the last tick, so that a shortage is reported already. */
  private boolean refused;

  /**
   * An answer that waits for a buffer.
   *
   * @param overdueNs time after which it uses a buffer of the short answers
   */
  private record WaitingAnswer(Consumer<ControlBuffer> use, long overdueNs) {}

  /**
   * @param maxGrownBytes memory of all control buffers beyond which no connection gets more credits
   */
  ControlBuffers(RegisteredPool pool, long maxGrownBytes) {
    this.pool = pool;
    this.maxGrownBytes = maxGrownBytes;
  }

  /** Takes a buffer for a receive or a request; empty when there is no memory now. */
  Optional<ControlBuffer> tryTake() {
    if (refused && pool.availableBytes() < pool.chunkBytes()) {
      return Optional.empty();
    }
    Optional<ControlBuffer> taken = pool.tryTake().map(ControlBuffer::new);
    refused |= taken.isEmpty();
    return taken;
  }

  /**
   * Takes buffers of the reserve for a RELEASE and its answer, or for a RETURN, until {@link
   * #endRelease}.
   *
   * @return empty while another connection uses them
   */
  List<ControlBuffer> tryTakeForRelease(int count) {
    if (releaseReserveUsed || reserve.size() < count) {
      return List.of();
    }
    releaseReserveUsed = true;
    List<ControlBuffer> taken = new ArrayList<>();
    while (taken.size() < count) {
      taken.add(reserve.remove());
    }
    return taken;
  }

  /** The RELEASE is answered, or the RETURN is sent; as many buffers are released. */
  void endRelease() {
    releaseReserveUsed = false;
  }

  /**
   * Takes a buffer for a receive beyond those of an idle connection. Empty when the share of
   * control buffers is used, other memory would have to be evicted, or fewer than {@value
   * #LEFT_BY_CREDITS} buffers would remain for requests.
   */
  Optional<ControlBuffer> tryTakeToGrow() {
    boolean hasRoom =
        (pool.chunksOut() + 1L) * pool.chunkBytes() <= maxGrownBytes
            && pool.availableBytes() >= (1L + LEFT_BY_CREDITS) * pool.chunkBytes();
    return hasRoom ? tryTake() : Optional.empty();
  }

  /**
   * The free part of the memory up to which connections get more credits: 1 while no buffer is
   * taken, 0 when all of it is.
   */
  double freeShare() {
    long freeBytes = maxGrownBytes - (long) pool.chunksOut() * pool.chunkBytes();
    return (double) Math.max(0, freeBytes) / maxGrownBytes;
  }

  /** Fills the reserve before the first connection; returns false when there is no memory. */
  boolean fillReserve() {
    while (reserved < RESERVE) {
      Optional<RegisteredChunk> chunk = pool.tryTake();
      if (chunk.isEmpty()) {
        return false;
      }
      reserve.add(new ControlBuffer(chunk.get()));
      reserved++;
    }
    return true;
  }

  /**
   * Takes a buffer for an answer and passes it on, at once or when there is one.
   *
   * @param overdueNs time after which the answer is a short one: that the server is overloaded
   */
  void takeForAnswer(Consumer<ControlBuffer> use, long overdueNs) {
    waitingAnswers.add(new WaitingAnswer(use, overdueNs));
    handOut();
  }

  /** Same as {@link #takeForAnswer}, for an answer that is sent at once. */
  void takeForShortAnswer(Consumer<ControlBuffer> use) {
    waitingShortAnswers.add(new WaitingAnswer(use, 0));
    handOut();
  }

  /**
   * Tries again to get memory for answers that wait: free memory is not signalled. Deregisters some
   * of the memory that is idle since the load has ended. To be called at each tick.
   *
   * @return number of deregistrations
   */
  int onTick(long nowNs) {
    refused = false;
    if (!trimming && nowNs - checkedNs >= IDLE_NS) {
      checkedNs = nowNs;
      pool.markIdle();
      trimming = true;
    }
    int trimmed = trimming ? pool.trimIdle(MAX_TRIMMED) : 0;
    trimming = trimmed == MAX_TRIMMED;
    while (!waitingAnswers.isEmpty() && nowNs - waitingAnswers.peek().overdueNs() > 0) {
      waitingShortAnswers.add(waitingAnswers.remove());
    }
    handOut();
    return trimmed;
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
            handOutOne(waitingShortAnswers, releaseReserveUsed ? 0 : RELEASE_RESERVE)
                || handOutOne(waitingAnswers, SHORT_ANSWER_RESERVE + RELEASE_RESERVE);
      }
    } finally {
      handingOut = false;
    }
  }

  private boolean handOutOne(ArrayDeque<WaitingAnswer> waiting, int leftInReserve) {
    if (waiting.isEmpty()) {
      return false;
    }
    Optional<ControlBuffer> buffer = tryTake();
    if (buffer.isEmpty() && reserve.size() > leftInReserve) {
      buffer = Optional.of(reserve.remove());
    }
    buffer.ifPresent(taken -> waiting.remove().use().accept(taken));
    return buffer.isPresent();
  }

  /** Gives a buffer back; once for each that was taken. */
  void release(ControlBuffer buffer) {
    if (reserve.size() < reserved) {
      reserve.add(buffer);
    } else {
      buffer.release();
    }
    handOut();
  }

  /** Whether {@link #onTick} has something to do: answers wait, or more memory is idle. */
  boolean needsTicks() {
    return trimming || isShortForAnswers();
  }

  /** Whether answers wait for a buffer. */
  boolean isShortForAnswers() {
    return !waitingAnswers.isEmpty() || !waitingShortAnswers.isEmpty();
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
