// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.wire;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/** First byte of every message; the last one of the handshake among them. */
public enum MessageType {
  /** Reader to server: requests addresses of blocks and releases leases. */
  LOCATE(1),
  /** Server to reader: addresses and lease; the answer to a LOCATE. */
  LOCATED(2),
  /** Reader to server: releases leases. */
  RELEASE(3),
  /** Server to reader: the answer to a RELEASE. */
  RELEASED(4),
  /** Initiator to responder, once and first: confirms that it asked for this connection. */
  CONFIRM(5),
  /** First message of each end, where connection events show no private data. */
  HELLO(6),
  /** Reader to server: returns a credit for a LOCATE. */
  RETURN(7);

  private static final MessageType[] TYPES = values();

  private final byte code;

  MessageType(int code) {
    this.code = (byte) code;
  }

  byte code() {
    return code;
  }

  /**
   * Type of the message at the buffer's position, which does not change.
   *
   * @throws MalformedMessageException when the buffer is empty or the type unknown
   */
  public static MessageType of(ByteBuffer message) {
    if (message.hasRemaining()) {
      byte code = message.get(message.position());
      for (MessageType type : TYPES) {
        if (type.code == code) {
          return type;
        }
      }
    }
    throw new MalformedMessageException("unknown message: lengthBytes=" + message.remaining());
  }

  /** A little-endian view of the message at position 0, after checks of type and minimum length. */
  ByteBuffer view(ByteBuffer message, int minBytes) {
    ByteBuffer view = message.slice().order(ByteOrder.LITTLE_ENDIAN);
    if (view.remaining() < minBytes || view.get(0) != code) {
      throw new MalformedMessageException("not a " + name() + ": lengthBytes=" + view.remaining());
    }
    return view;
  }
}
