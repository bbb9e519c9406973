// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.transport;

import java.nio.ByteBuffer;
import org.sparkrdma.memory.RegisteredChunk;

/**
 * A buffer of messages that a reader's connection sends, and the blocks that a LOCATE in it names.
 * Guarded by the lock of the send queue.
 */
final class OutMessage {
  private final RegisteredChunk chunk;
  private final ByteBuffer bytes;
  private long id;

  /** Null unless the message is a LOCATE. */
  private BlockRead[] blocks;

  private boolean sending;
  private boolean awaitsAnswer;
  private long askedNs;

  OutMessage(RegisteredChunk chunk) {
    this.chunk = chunk;
    this.bytes = chunk.slice(0, chunk.lengthBytes());
  }

  ByteBuffer bytes() {
    return bytes;
  }

  /** The blocks that it names; null unless it is a LOCATE. */
  BlockRead[] blocks() {
    return blocks;
  }

  boolean isFree() {
    return !sending && !awaitsAnswer;
  }

  /** Becomes a LOCATE of so many blocks. */
  void beginLocate(long newId, int count) {
    id = newId;
    blocks = new BlockRead[count];
  }

  /**
   * Posts it.
   *
   * @param awaits whether the peer answers it
   */
  void send(SendQueue sends, int lengthBytes, boolean awaits, long nowNs) {
    sending = true;
    awaitsAnswer = awaits;
    askedNs = nowNs;
    sends.send(chunk, lengthBytes, this, nowNs);
  }

  /** The device has sent it. */
  void onSent() {
    sending = false;
  }

  /** Whether it is a LOCATE with this id that awaits its answer. */
  boolean isLocate(long ofId) {
    return awaitsAnswer && blocks != null && id == ofId;
  }

  /** A LOCATE is answered. */
  void onLocated() {
    awaitsAnswer = false;
    blocks = null;
  }

  /** The RELEASE is answered, if it is one. */
  void onReleased() {
    awaitsAnswer &= blocks != null;
  }

  /** Time at which it was sent. */
  long askedNs() {
    return askedNs;
  }

  boolean isOverdue(long nowNs, long timeoutNs) {
    return awaitsAnswer && nowNs - askedNs > timeoutNs;
  }
}
