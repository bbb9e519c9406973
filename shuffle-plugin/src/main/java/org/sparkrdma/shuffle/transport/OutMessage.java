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
  private boolean sending;
  private boolean awaitsAnswer;
  private long askedNs;

  /** Of a LOCATE. */
  private long id;

  /** Null unless it is a LOCATE that awaits its answer. */
  private BlockRead[] blocks;

  OutMessage(RegisteredChunk chunk) {
    this.chunk = chunk;
    this.bytes = chunk.slice(0, chunk.lengthBytes());
  }

  ByteBuffer bytes() {
    return bytes;
  }

  boolean isFree() {
    return !sending && !awaitsAnswer;
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

  /** It is a LOCATE, which is posted next. */
  void setLocate(long newId, BlockRead[] named) {
    id = newId;
    blocks = named;
  }

  /** The blocks of the LOCATE with this id, if it awaits an answer; otherwise null. */
  BlockRead[] blocks(long ofId) {
    return id == ofId ? blocks : null;
  }

  /** The blocks of the LOCATE that awaits an answer; null without. */
  BlockRead[] blocks() {
    return blocks;
  }

  /** The device has sent it. */
  void onSent() {
    sending = false;
  }

  /** It was answered; returns the time at which it was sent. */
  long onAnswered() {
    awaitsAnswer = false;
    blocks = null;
    return askedNs;
  }

  boolean awaitsAnswer() {
    return awaitsAnswer;
  }

  /** Whether it is a LOCATE that awaits its answer. */
  boolean isLocate() {
    return awaitsAnswer && blocks != null;
  }

  /** Time at which it was sent. */
  long askedNs() {
    return askedNs;
  }

  boolean isOverdue(long nowNs, long timeoutNs) {
    return awaitsAnswer && nowNs - askedNs > timeoutNs;
  }
}
