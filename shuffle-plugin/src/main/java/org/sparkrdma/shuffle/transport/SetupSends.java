// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.transport;

import java.nio.ByteBuffer;
import java.util.function.ToIntFunction;
import org.sparkrdma.shuffle.settings.TransportSettings;

/**
 * Sends the messages of a connection's set-up, all from one buffer, which is released when the last
 * one is sent. Owned by the agent.
 */
final class SetupSends {
  private static final int MESSAGE_BYTES = 128;

  private final SendQueue sends;
  private final ConnectionBuffers buffers;
  private ControlBuffer buffer;
  private int written;
  private int outstanding;
  private boolean ended;

  /**
   * @param buffer of the connection, taken for this use
   */
  SetupSends(SendQueue sends, ConnectionBuffers buffers, ControlBuffer buffer) {
    this.sends = sends;
    this.buffers = buffers;
    this.buffer = buffer;
  }

  /**
   * Sends a message.
   *
   * @param writer writes it into a buffer and returns its length
   */
  void send(ToIntFunction<ByteBuffer> writer) {
    if (written == TransportSettings.SETUP_MESSAGES || ended) {
      throw new IllegalStateException("set-up sends too many messages: count=" + written);
    }
    int at = written * MESSAGE_BYTES;
    int length = writer.applyAsInt(buffer.bytes().slice(at, MESSAGE_BYTES));
    written++;
    outstanding++;
    sends.send(buffer.region(), buffer.regionOffset() + at, length, this::sent);
    sends.flush();
  }

  private void sent() {
    outstanding--;
    releaseWhenOver();
  }

  /** The set-up is over: no message follows. */
  void end() {
    ended = true;
    releaseWhenOver();
  }

  private void releaseWhenOver() {
    if (ended && outstanding == 0 && buffer != null) {
      buffers.release(buffer);
      buffer = null;
    }
  }
}
