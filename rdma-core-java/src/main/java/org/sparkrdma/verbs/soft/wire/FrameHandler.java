// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.soft.wire;

import java.io.IOException;
import java.nio.ByteBuffer;

/** Receives the frames of a {@link Link}, with the lock of the device. */
public interface FrameHandler {
  /** The socket is connected. */
  void onConnected() throws IOException;

  /** The peer's host refused the connection. */
  void onConnectRefused(String reason);

  /** A frame other than WAKE was received. The body is valid during the call. */
  void onFrame(byte type, ByteBuffer body) throws IOException;

  /** The socket has accepted all bytes. */
  void onFlushed();

  /** The socket was closed by the peer or after an error. */
  void onEnded(String reason);
}
