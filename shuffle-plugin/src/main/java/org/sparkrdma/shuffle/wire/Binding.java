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
package org.sparkrdma.shuffle.wire;

import java.net.Inet4Address;
import java.net.InetAddress;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * What both ends see of a connection without telling each other. The proofs cover it, so that a
 * proof that was overheard fits no other queue pair and no other host. Immutable.
 *
 * @param queuePairNumber of the initiator; 0 where a request does not tell it (iWARP)
 * @param source address of the initiator
 * @param destination address of the responder that the initiator has chosen
 */
public record Binding(int queuePairNumber, InetAddress source, InetAddress destination) {
  private static final int ADDRESS_BYTES = 16;

  /** The bytes that a proof covers: number, source, destination; IPv4 addresses as IPv6-mapped. */
  byte[] encode() {
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
