// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.soft.wire;

/**
 * Types and layout of the frames on a {@link Link}: the set-up and the end of a connection, and the
 * wake-up of a peer that sleeps. Messages do not pass through the socket.
 *
 * <pre>
 *  0  type (8 bit), 0 (24 bit)     4  length of the body, little-endian     8  body
 * </pre>
 */
public final class Frame {
  public static final int HEADER_BYTES = 8;
  public static final int MAX_BODY_BYTES = LinkHello.MAX_BYTES;

  public static final byte REQUEST = 1;
  public static final byte REPLY = 2;
  public static final byte REJECT = 3;
  public static final byte REFUSED = 4;
  public static final byte READY = 5;
  public static final byte DISCONNECT = 6;
  public static final byte WAKE = 7;

  private Frame() {}
}
