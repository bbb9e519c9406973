/*
 * Licensed under the Apache License, Version 2.0 (the "License");
 * you may not use this file except in compliance with the License.
 * You may obtain a copy of the License at
 *
 *     http://www.apache.org/licenses/LICENSE-2.0
 *
 * Unless required by applicable law or agreed to in writing, software
 * distributed under the License is distributed on an "AS IS" BASIS,
 * WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
 * See the License for the specific language governing permissions and
 * limitations under the License.
 */
package org.sparkrdma.verbs.soft;

import java.io.IOException;
import java.nio.ByteBuffer;
import org.sparkrdma.verbs.soft.wire.FrameHeader;
import org.sparkrdma.verbs.soft.wire.ProtocolException;

/** The frames of an established connection, for its queue pair. Confined to the device thread. */
final class EstablishedFrames {
  private EstablishedFrames() {}

  /** Whether a frame is one of an established connection; else it is one of the handshake. */
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
