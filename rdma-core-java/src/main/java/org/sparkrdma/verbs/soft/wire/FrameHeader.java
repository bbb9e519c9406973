// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.soft.wire;

import java.nio.ByteBuffer;

/**
 * The header of a frame between two soft devices. All fields are little-endian. Reused for each
 * frame; confined to the device thread.
 *
 * <pre>
 *  0  type (8 bit), flags (8 bit), 0       4  length of what follows the header
 *  8  sequence number                     16  immediate data
 * 20  extent: bytes of the message; of FAILED 1 for an invalid message
 * </pre>
 */
public final class FrameHeader {
  public static final int BYTES = 24;

  public static final byte REQUEST = 1;
  public static final byte REPLY = 2;
  public static final byte REJECT = 3;
  public static final byte REFUSED = 4;
  public static final byte READY = 5;
  public static final byte DISCONNECT = 6;
  public static final byte SEND = 16;
  public static final byte WRITTEN = 17;
  public static final byte ACKNOWLEDGE = 18;
  public static final byte NOT_READY = 19;
  public static final byte FAILED = 20;

  public static final byte WITH_IMMEDIATE = 1;

  public byte type;
  public int flags;
  public int length;
  public long sequence;
  public int immediate;
  public int extent;

  void decode(ByteBuffer in) throws ProtocolException {
    type = in.get();
    flags = in.get();
    short zero = in.getShort();
    length = in.getInt();
    sequence = in.getLong();
    immediate = in.getInt();
    extent = in.getInt();
    if (zero != 0 || length < 0 || extent < 0) {
      throw new ProtocolException("bad frame header: type=" + type + " length=" + length);
    }
  }
}
