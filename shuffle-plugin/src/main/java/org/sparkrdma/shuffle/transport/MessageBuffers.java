// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.transport;

import java.util.Optional;
import java.util.Set;
import org.sparkrdma.memory.OpenDevice;
import org.sparkrdma.memory.RegisteredChunk;
import org.sparkrdma.memory.RegisteredPool;
import org.sparkrdma.verbs.AccessFlag;

/**
 * The buffers of messages of an executor, all of one length. A connection takes its own when it is
 * made, all or none, and keeps them to its end; answers of servers take one each until they are
 * sent. Confined to the agent; closed after it has ended.
 */
final class MessageBuffers implements AutoCloseable {
  /** Length of a buffer: a LOCATE of 128 blocks, or a LOCATED of as many with one checksum each. */
  static final int MESSAGE_BYTES = 8 << 10;

  /** Buffers that are registered with one call, also the first one. */
  static final int BUFFERS_PER_REGION = 8;

  /** Answers that may be written or sent at a time, for all peers together. */
  static final int MAX_ANSWERS = 64;

  private final RegisteredPool pool;
  private int answers;

  /**
   * @param maxBuffers of all connections together
   */
  MessageBuffers(OpenDevice device, int maxBuffers) {
    long bytes = (long) (maxBuffers + MAX_ANSWERS) * MESSAGE_BYTES;
    pool =
        new RegisteredPool(
            device, Set.of(AccessFlag.LOCAL_WRITE), MESSAGE_BYTES, BUFFERS_PER_REGION, bytes);
  }

  /**
   * Takes the buffers of a connection.
   *
   * @return null when there is no memory for all of them
   */
  RegisteredChunk[] tryTake(int count) {
    RegisteredChunk[] buffers = new RegisteredChunk[count];
    for (int i = 0; i < count; i++) {
      Optional<RegisteredChunk> taken = pool.tryTake();
      if (taken.isEmpty()) {
        for (int j = 0; j < i; j++) {
          buffers[j].release();
        }
        return null;
      }
      buffers[i] = taken.get();
    }
    return buffers;
  }

  /** Takes the buffer of an answer; null when there is none now. */
  RegisteredChunk tryTakeForAnswer() {
    if (answers == MAX_ANSWERS) {
      return null;
    }
    RegisteredChunk taken = pool.tryTake().orElse(null);
    answers += taken == null ? 0 : 1;
    return taken;
  }

  /** Returns the buffer of an answer. */
  void releaseAnswer(RegisteredChunk buffer) {
    answers--;
    buffer.release();
  }

  /** Deregisters buffers that were unused since the last call. */
  void trim() {
    pool.trimUnused();
  }

  @Override
  public void close() {
    pool.close();
  }
}
