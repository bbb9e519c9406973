// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.soft;

import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.util.UUID;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;
import org.sparkrdma.verbs.soft.shared.HostIdentity;
import org.sparkrdma.verbs.soft.shared.SharedDirectory;
import org.sparkrdma.verbs.soft.shared.SharedTable;

/**
 * Identity of one end of a connection: the body of REQUEST and REPLY.
 *
 * <pre>
 *   0  magic "SRDM"      4  version (16 bit), 0      8  boot id (16 bytes)
 *  24  pid namespace    32  mount namespace         40  user id      44  queue pair number
 *  48  nonce (16 bytes) 64  proof (32 bytes)        96  length and name of the shared directory
 *      length and bytes of the private data
 * </pre>
 *
 * <p>All fields little-endian. The proof shows that the sender can read the secret in the table of
 * that directory: HMAC-SHA256 of nonce, initiator port and listener port with that secret.
 *
 * @param directory name of its shared directory
 * @param privateData of the application
 */
record LinkHello(
    HostIdentity host,
    int queuePairNumber,
    byte[] nonce,
    byte[] proof,
    String directory,
    byte[] privateData) {
  static final int VERSION = 3;
  static final int MAX_BYTES = 512;
  static final int NONCE_BYTES = 16;
  static final int MAX_PRIVATE_DATA_BYTES = 56;

  private static final int MAGIC = 0x4d445253;
  private static final String MAC = "HmacSHA256";

  /** Writes it at the position of the buffer. */
  void encode(ByteBuffer out) {
    out.putInt(MAGIC).putInt(VERSION);
    out.putLong(host.bootId().getMostSignificantBits());
    out.putLong(host.bootId().getLeastSignificantBits());
    out.putLong(host.pidNamespace()).putLong(host.mountNamespace()).putInt(host.userId());
    out.putInt(queuePairNumber).put(nonce).put(proof);
    byte[] name = directory.getBytes(StandardCharsets.US_ASCII);
    out.put((byte) name.length).put(name);
    out.put((byte) privateData.length).put(privateData);
  }

  /**
   * Reads what {@link #encode} wrote.
   *
   * @throws ProtocolException when it is no LinkHello, or of another version
   */
  static LinkHello decode(ByteBuffer in) throws ProtocolException {
    try {
      if (in.getInt() != MAGIC) {
        throw new ProtocolException("not a soft device: wrong magic");
      }
      int version = in.getInt();
      if (version != VERSION) {
        throw new ProtocolException(
            "another version of the soft engine: version=" + VERSION + " peer=" + version);
      }
      var boot = new UUID(in.getLong(), in.getLong());
      var host = new HostIdentity(boot, in.getLong(), in.getLong(), in.getInt());
      int number = in.getInt();
      byte[] nonce = bytes(in, NONCE_BYTES);
      byte[] proof = bytes(in, SharedTable.SECRET_BYTES);
      byte[] name = bytes(in, length(in, SharedDirectory.MAX_NAME_BYTES));
      byte[] data = bytes(in, length(in, LinkHello.MAX_PRIVATE_DATA_BYTES));
      if (in.hasRemaining()) {
        throw new ProtocolException("hello too long: extraBytes=" + in.remaining());
      }
      return new LinkHello(
          host, number, nonce, proof, new String(name, StandardCharsets.US_ASCII), data);
    } catch (BufferUnderflowException e) {
      throw new ProtocolException("hello cut short");
    }
  }

  private static int length(ByteBuffer in, int most) throws ProtocolException {
    int length = in.get() & 0xff;
    if (length > most) {
      throw new ProtocolException("hello with a field too long: lengthBytes=" + length);
    }
    return length;
  }

  private static byte[] bytes(ByteBuffer in, int length) {
    byte[] bytes = new byte[length];
    in.get(bytes);
    return bytes;
  }

  /** Computes the proof with a secret. */
  static byte[] proof(byte[] secret, byte[] nonce, int initiatorPort, int listenerPort) {
    try {
      Mac mac = Mac.getInstance(MAC);
      mac.init(new SecretKeySpec(secret, MAC));
      mac.update(nonce);
      mac.update(ByteBuffer.allocate(8).putInt(initiatorPort).putInt(listenerPort).array());
      return mac.doFinal();
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException("every JDK has " + MAC, e);
    }
  }
}
