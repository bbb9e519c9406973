// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.transport;

import java.util.ArrayDeque;
import java.util.Set;
import org.sparkrdma.memory.OpenDevice;
import org.sparkrdma.memory.RegisteredChunk;
import org.sparkrdma.memory.RegisteredPool;
import org.sparkrdma.shuffle.pinned.MemoryShares;
import org.sparkrdma.verbs.AccessFlag;

/**
 * The buffers of messages of an executor, all of one length. A connection takes its own when it is
 * made, all or none, and keeps them to its end; answers of servers take one each until they are
 * sent, and leave it to the next one. Confined to the agent; closed after it has ended.
 */
final class MessageBuffers implements AutoCloseable {
  private final RegisteredPool pool;
  private int answers;

  /** Those of them that peers do not take, which do not count. */
  private int stuck;

  /** Buffers of answers that were sent, the last one on top. */
  private final ArrayDeque<RegisteredChunk> kept = new ArrayDeque<>();

  /** The smallest number of these since the last {@link #markIdle}. */
  private int leastKept;

  MessageBuffers(OpenDevice device, MemoryShares shares) {
    pool =
        new RegisteredPool(
            device,
            Set.of(AccessFlag.LOCAL_WRITE),
            MemoryShares.MESSAGE_BYTES,
            MemoryShares.BUFFERS_PER_REGION,
            (long) shares.maxMessageBuffers() * MemoryShares.MESSAGE_BYTES);
  }

  /**
   * Takes the buffers of a connection.
   *
   * @return null when there is no memory for all of them
   */
  RegisteredChunk[] tryTake(int count) {
    RegisteredChunk[] buffers = new RegisteredChunk[count];
    for (int i = 0; i < count; i++) {
      buffers[i] = tryTake();
      if (buffers[i] == null) {
        for (int j = 0; j < i; j++) {
          buffers[j].release();
        }
        return null;
      }
    }
    return buffers;
  }

  private RegisteredChunk tryTake() {
    RegisteredChunk last = kept.pollLast();
    leastKept = Math.min(leastKept, kept.size());
    return last == null ? pool.tryTake().orElse(null) : last;
  }

  /** Takes the buffer of an answer; null when there is none now. */
  RegisteredChunk tryTakeForAnswer() {
    if (answers - stuck >= MemoryShares.MAX_ANSWERS) {
      return null;
    }
    RegisteredChunk taken = tryTake();
    answers += taken == null ? 0 : 1;
    return taken;
  }

  /** So many more of the answers, or fewer, do not count. */
  void addStuck(int more) {
    stuck += more;
  }

  /** Returns the buffer of an answer. */
  void releaseAnswer(RegisteredChunk buffer) {
    answers--;
    kept.add(buffer);
  }

  /** Marks regions of buffers that were unused since the last call, for {@link #trimIdle}. */
  void markIdle() {
    release(leastKept);
    leastKept = kept.size();
    pool.markIdle();
  }

  /** Deregisters so many marked regions at most: thousands at once would hold up the agent. */
  void trimIdle(int max) {
    pool.trimIdle(max);
  }

  private void release(int count) {
    for (int i = 0; i < count; i++) {
      kept.remove().release();
    }
  }

  @Override
  public void close() {
    release(kept.size());
    pool.close();
  }
}
