// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.wire;

import java.net.Inet4Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * Attributes of a connection that both ends know without a message. Proofs cover them, so that a
 * recorded proof is valid for no other queue pair and no other host. Immutable.
 *
 * @param queuePairNumber the initiator's queue pair; 0 where a request does not contain it (iWARP)
 * @param source address of the initiator
 * @param destination address of the responder that the initiator has chosen
 */
public record ConnectionBinding(int queuePairNumber, InetAddress source, InetAddress destination) {
  private static final int ADDRESS_BYTES = 16;

  /**
   * Binding of a connection.
   *
   * @param source address of the initiator, as the connection manager has it
   * @param destination address of the responder
   */
  public static ConnectionBinding of(
      int queuePairNumber, InetSocketAddress source, InetSocketAddress destination) {
    return new ConnectionBinding(queuePairNumber, source.getAddress(), destination.getAddress());
  }

  /** The bytes that a proof covers: number, source, destination; IPv4 addresses as IPv6-mapped. */
  public byte[] encode() {
    ByteBuffer out =
        ByteBuffer.allocate(Integer.BYTES + 2 * ADDRESS_BYTES).order(ByteOrder.LITTLE_ENDIAN);
    out.putInt(queuePairNumber);
    put(out, source);
    put(out, destination);
    return out.array();
  }

  private static void put(ByteBuffer out, InetAddress address) {
    if (address instanceof Inet4Address) {
      out.putLong(0).putShort((short) 0).putShort((short) 0xFFFF);
    }
    out.put(address.getAddress());
  }
}
