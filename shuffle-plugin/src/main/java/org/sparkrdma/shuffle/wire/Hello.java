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

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import javax.crypto.Mac;

/**
 * The proof in the private data of a connection request, and of its answer.
 *
 * <pre>
 *  request, 56 bytes                         answer, 56 bytes
 *   0  version (8 bit)                        0  version (8 bit)
 *   1  length = 56 (8 bit)                    1  length = 56 (8 bit)
 *   2  generation (16 bit)                    2  generation (16 bit)
 *   4  incarnation of the callee (64 bit)     4  incarnation of the callee (64 bit)
 *  12  incarnation of the caller (64 bit)    12  incarnation of the caller (64 bit)
 *  20  sequence number (64 bit)              20  sequence number of the request (64 bit)
 *  28  random (64 bit)                       28  random of the request (64 bit)
 *  36  proof (160 bit)                       36  proof (160 bit)
 *
 *  refusal, 4 bytes:  0  version | 1  length = 4 | 2  reason (8 bit) | 3  reserved = 0
 * </pre>
 *
 * <p>All fields little-endian. A proof is the beginning of an HMAC-SHA-256 (RFC 2104) with the
 * callee's {@link ProofKey} over {@code C} or {@code A}, for request or answer, and the 36 bytes
 * before it. Only who was told by the driver knows the key; so an old endpoint, another application
 * on a port used again, and a stranger all fail the same check. A caller's sequence numbers grow
 * from request to request, so that one that was overheard is good for nothing when it is sent
 * again. The length byte is there because some transports pad private data.
 */
public final class Hello {
  /** Version of the protocol: of this layout and of all messages. */
  public static final int PROTOCOL = 1;

  /** Bytes of a request and of an answer. */
  public static final int LENGTH_BYTES = 56;

  private static final int PROOF_AT = 36;
  private static final int PROOF_BYTES = 20;
  private static final int REFUSAL_BYTES = 4;

  /** Why a connection request is refused. */
  public enum Refusal {
    /** Another version of the protocol. */
    VERSION(1),
    /** The incarnation is not that of this executor: an old endpoint, or a port used again. */
    INCARNATION(2),
    /** The proof is wrong. */
    PROOF(3),
    /** Both ends began at once, and the other's request is the one that stands. */
    COLLISION(4),
    /** No room for another connection. */
    BUSY(5),
    /** Not a request of this protocol at all. */
    MALFORMED(6);

    private final byte code;

    Refusal(int code) {
      this.code = (byte) code;
    }
  }

  private final int generation;
  private final long calleeIncarnation;
  private final long callerIncarnation;
  private final long sequence;
  private final long random;

  private Hello(
      int generation, long calleeIncarnation, long callerIncarnation, long sequence, long random) {
    this.generation = generation;
    this.calleeIncarnation = calleeIncarnation;
    this.callerIncarnation = callerIncarnation;
    this.sequence = sequence;
    this.random = random;
  }

  /**
   * @param generation how many connections between the two the sender knows of, 0 to 65535
   * @param sequence larger than in any request of this caller before
   * @param random from a secure source, so that no answer fits another request
   */
  public static Hello of(
      int generation, long calleeIncarnation, long callerIncarnation, long sequence, long random) {
    return new Hello(generation & 0xFFFF, calleeIncarnation, callerIncarnation, sequence, random);
  }

  /**
   * Reads a request or an answer; its proof is yet to be checked.
   *
   * @throws MalformedMessageException when length or version is wrong
   */
  public static Hello decode(byte[] privateData) {
    if (privateData.length < LENGTH_BYTES || privateData[1] != LENGTH_BYTES) {
      throw new MalformedMessageException("not a HELLO: lengthBytes=" + privateData.length);
    }
    if (privateData[0] != PROTOCOL) {
      throw new MalformedMessageException(
          "HELLO of another version: version=" + privateData[0] + " own=" + PROTOCOL);
    }
    ByteBuffer in = ByteBuffer.wrap(privateData).order(ByteOrder.LITTLE_ENDIAN);
    return new Hello(
        Short.toUnsignedInt(in.getShort(2)),
        in.getLong(4),
        in.getLong(12),
        in.getLong(20),
        in.getLong(28));
  }

  /** How to refuse private data that {@link #decode} does not take. */
  public static Refusal refusalOf(byte[] privateData) {
    boolean whole = privateData.length >= LENGTH_BYTES && privateData[1] == LENGTH_BYTES;
    return whole && privateData[0] != PROTOCOL ? Refusal.VERSION : Refusal.MALFORMED;
  }

  /** Connections between the two that the sender knows of. */
  public int generation() {
    return generation;
  }

  /** Whom the caller wants to reach. */
  public long calleeIncarnation() {
    return calleeIncarnation;
  }

  /** Who calls. */
  public long callerIncarnation() {
    return callerIncarnation;
  }

  /** Which request of the caller's. */
  public long sequence() {
    return sequence;
  }

  /** The same with another generation, as an answer to this request. */
  public Hello answer(int newGeneration) {
    return new Hello(
        newGeneration & 0xFFFF, calleeIncarnation, callerIncarnation, sequence, random);
  }

  /** Whether this answers a request: same ends, same numbers. */
  public boolean answers(Hello request) {
    return calleeIncarnation == request.calleeIncarnation
        && callerIncarnation == request.callerIncarnation
        && sequence == request.sequence
        && random == request.random;
  }

  /** The private data of a request, proven with the callee's key. */
  public byte[] encodeRequest(byte[] calleeKey) {
    return encode('C', calleeKey);
  }

  /** The private data of an answer, proven with the callee's own key. */
  public byte[] encodeAnswer(byte[] calleeKey) {
    return encode('A', calleeKey);
  }

  /** Whether private data that was decoded as a request proves knowledge of the callee's key. */
  public static boolean provesRequest(byte[] privateData, byte[] calleeKey) {
    return proves('C', privateData, calleeKey);
  }

  /** Whether private data that was decoded as an answer proves knowledge of the callee's key. */
  public static boolean provesAnswer(byte[] privateData, byte[] calleeKey) {
    return proves('A', privateData, calleeKey);
  }

  private byte[] encode(char role, byte[] key) {
    byte[] out = new byte[LENGTH_BYTES];
    ByteBuffer buffer = ByteBuffer.wrap(out).order(ByteOrder.LITTLE_ENDIAN);
    buffer.put((byte) PROTOCOL).put((byte) LENGTH_BYTES).putShort((short) generation);
    buffer.putLong(calleeIncarnation).putLong(callerIncarnation);
    buffer.putLong(sequence).putLong(random);
    buffer.put(proof(role, out, key), 0, PROOF_BYTES);
    return out;
  }

  private static boolean proves(char role, byte[] data, byte[] key) {
    byte[] expected = proof(role, data, key);
    int different = 0;
    for (int i = 0; i < PROOF_BYTES; i++) {
      different |= expected[i] ^ data[PROOF_AT + i];
    }
    return different == 0;
  }

  private static byte[] proof(char role, byte[] data, byte[] key) {
    Mac mac = Hmac.withKey(key);
    mac.update((byte) role);
    mac.update(data, 0, PROOF_AT);
    return mac.doFinal();
  }

  /** The private data of a refusal. */
  public static byte[] encodeRefusal(Refusal refusal) {
    return new byte[] {PROTOCOL, REFUSAL_BYTES, refusal.code, 0};
  }

  /** The reason in a refusal's private data; null when it carries none that is known. */
  public static Refusal decodeRefusal(byte[] privateData) {
    if (privateData.length >= REFUSAL_BYTES && privateData[1] == REFUSAL_BYTES) {
      for (Refusal refusal : Refusal.values()) {
        if (refusal.code == privateData[2]) {
          return refusal;
        }
      }
    }
    return null;
  }
}
