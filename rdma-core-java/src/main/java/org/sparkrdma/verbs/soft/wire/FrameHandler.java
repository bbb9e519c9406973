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
