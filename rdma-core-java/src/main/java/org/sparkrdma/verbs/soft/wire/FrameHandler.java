// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.soft.wire;

import java.io.IOException;
import java.nio.ByteBuffer;

/** Receives the frames of a {@link Link}, on the device thread. */
public interface FrameHandler {
  /** The socket is connected. */
  void onConnected() throws IOException;

  /** The peer's host refused the connection. */
  void onConnectRefused(String reason);

  /** A header was received; its payload follows in pieces. */
  void onFrame(FrameHeader header) throws IOException;

  /** A piece of payload was received. Bytes that the handler leaves in the buffer are dropped. */
  void onPayload(FrameHeader header, ByteBuffer piece) throws IOException;

  /** The whole frame was received. */
  void onFrameEnd(FrameHeader header) throws IOException;

  /** The socket accepts more bytes again. */
  void onWritable();

  /** The socket was closed by the peer or after an error. */
  void onEnded(String reason);
}
