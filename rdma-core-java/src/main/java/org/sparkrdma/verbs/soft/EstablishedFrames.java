// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.soft;

import java.io.IOException;
import java.nio.ByteBuffer;
import org.sparkrdma.verbs.soft.wire.FrameHeader;
import org.sparkrdma.verbs.soft.wire.ProtocolException;

/** The frames of an established connection, for its queue pair. Confined to the device thread. */
final class EstablishedFrames {
  private EstablishedFrames() {}

  /** Whether a frame belongs to an established connection. The others belong to the handshake. */
  static boolean includes(FrameHeader header) {
    return header.type >= FrameHeader.SEND;
  }

  static void onFrame(FrameHeader header, SoftQueuePair queuePair) throws IOException {
    int expected = header.type == FrameHeader.SEND ? header.extent : 0;
    if (header.length != expected) {
      throw unexpected(header);
    }
    switch (header.type) {
      case FrameHeader.SEND, FrameHeader.WRITTEN -> queuePair.receiveSide().onMessage(header);
      case FrameHeader.ACKNOWLEDGE -> queuePair.sendSide().onAcknowledged(header.sequence);
      case FrameHeader.NOT_READY -> queuePair.sendSide().onNotReady(header.sequence);
      case FrameHeader.FAILED -> queuePair.sendSide().onFailed(header.sequence, header.extent == 1);
      default -> throw unexpected(header);
    }
  }

  static void onPayload(ByteBuffer piece, SoftQueuePair queuePair) {
    queuePair.receiveSide().onPayload(piece);
  }

  static void onFrameEnd(FrameHeader header, SoftQueuePair queuePair) {
    if (header.type == FrameHeader.SEND || header.type == FrameHeader.WRITTEN) {
      queuePair.receiveSide().onMessageEnd(header);
    }
  }

  static ProtocolException unexpected(FrameHeader header) {
    return new ProtocolException(
        "unexpected frame: type=" + header.type + " lengthBytes=" + header.length);
  }
}
