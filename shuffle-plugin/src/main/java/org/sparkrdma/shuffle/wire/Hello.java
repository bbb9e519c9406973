// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.wire;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;

/**
 * The first two of the three messages that prove both ends of a connection to each other: the
 * request of the initiator and the answer of the responder. The third is {@link Confirm}.
 *
 * <pre>
 *  request, 56 bytes                         answer, 56 bytes
 *   0  version (8 bit)                        0  version (8 bit)
 *   1  length = 56 (8 bit)                    1  length = 56 (8 bit)
 *   2  generation (16 bit)                    2  generation (16 bit)
 *   4  incarnation of the callee (64 bit)     4  incarnation of the callee (64 bit)
 *  12  incarnation of the caller (64 bit)    12  incarnation of the caller (64 bit)
 *  20  nonce of the caller (128 bit)         20  nonce of the callee (128 bit)
 *  36  proof (160 bit)                       36  proof (160 bit)
 *
 *  refusal, 4 bytes:  0  version | 1  length = 4 | 2  reason (8 bit) | 3  reserved = 0
 * </pre>
 *
 * <p>All fields little-endian. A proof is the beginning of an HMAC-SHA-256 (RFC 2104) with the
 * callee's {@link ProofKey} over a letter that names the message, the {@link ConnectionBinding},
 * the first 36 bytes of the request and, but for the request itself, those of the answer. Only
 * executors that received it from the driver know the key; so an old endpoint, another application
 * on a port used again, and a stranger all fail the same check. A replayed request cannot be
 * confirmed, because the confirmation covers the callee's nonce. The length byte is there because
 * some transports pad private data.
 */
public final class Hello {
  /** Version of the protocol: of this layout and of all messages. */
  public static final int PROTOCOL = 4;

  /** Bytes of a request and of an answer. */
  public static final int LENGTH_BYTES = 56;

  /** Bytes of a nonce. */
  public static final int NONCE_BYTES = 16;

  private static final int NONCE_AT = 20;
  private static final int REFUSAL_BYTES = 4;

  /** Reason why a connection request is refused. */
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
  private final byte[] nonce;

  private Hello(int generation, long calleeIncarnation, long callerIncarnation, byte[] nonce) {
    if (nonce.length != NONCE_BYTES) {
      throw new IllegalArgumentException("bad nonce: lengthBytes=" + nonce.length);
    }
    this.generation = generation & 0xFFFF;
    this.calleeIncarnation = calleeIncarnation;
    this.callerIncarnation = callerIncarnation;
    this.nonce = nonce.clone();
  }

  /**
   * A request.
   *
   * @param generation number of connections between the two executors by the sender's count, 0 to
   *     65535
   * @param nonce from a secure source, so that no answer fits another request
   */
  public static Hello request(
      int generation, long calleeIncarnation, long callerIncarnation, byte[] nonce) {
    return new Hello(generation, calleeIncarnation, callerIncarnation, nonce);
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
        Arrays.copyOfRange(privateData, NONCE_AT, NONCE_AT + NONCE_BYTES));
  }

  /** The refusal of private data that {@link #decode} does not take. */
  public static Refusal refusalOf(byte[] privateData) {
    boolean whole = privateData.length >= LENGTH_BYTES && privateData[1] == LENGTH_BYTES;
    return whole && privateData[0] != PROTOCOL ? Refusal.VERSION : Refusal.MALFORMED;
  }

  /** Number of connections between the two executors, by the sender's count. */
  public int generation() {
    return generation;
  }

  /** Incarnation of the executor that is called. */
  public long calleeIncarnation() {
    return calleeIncarnation;
  }

  /** Incarnation that the calling executor claims. */
  public long callerIncarnation() {
    return callerIncarnation;
  }

  /** An answer to this request. */
  public Hello answer(int newGeneration, byte[] calleeNonce) {
    return new Hello(newGeneration, calleeIncarnation, callerIncarnation, calleeNonce);
  }

  /** Whether this answer is between the same two executors as a request. */
  public boolean answers(Hello request) {
    return calleeIncarnation == request.calleeIncarnation
        && callerIncarnation == request.callerIncarnation;
  }

  /** The private data of this request, proven with the callee's key. */
  public byte[] encodeRequest(byte[] calleeKey, ConnectionBinding binding) {
    return withProof(Proof.ofRequest(calleeKey, binding, this));
  }

  /** The private data of this answer, proven with the callee's own key. */
  public byte[] encodeAnswer(byte[] calleeKey, ConnectionBinding binding, Hello request) {
    return withProof(Proof.ofAnswer(calleeKey, binding, request, this));
  }

  /** Whether the private data that this request was decoded from proves knowledge of the key. */
  public boolean isProvenRequest(byte[] privateData, byte[] calleeKey, ConnectionBinding binding) {
    return Proof.ofRequest(calleeKey, binding, this).matches(privateData, Proof.AT_OF_HELLO);
  }

  /** Whether the private data that this answer was decoded from proves knowledge of the key. */
  public boolean isProvenAnswer(
      byte[] privateData, byte[] calleeKey, ConnectionBinding binding, Hello request) {
    return Proof.ofAnswer(calleeKey, binding, request, this)
        .matches(privateData, Proof.AT_OF_HELLO);
  }

  /** The bytes that a proof covers. */
  byte[] header() {
    ByteBuffer out = ByteBuffer.allocate(Proof.AT_OF_HELLO).order(ByteOrder.LITTLE_ENDIAN);
    out.put((byte) PROTOCOL).put((byte) LENGTH_BYTES).putShort((short) generation);
    out.putLong(calleeIncarnation).putLong(callerIncarnation).put(nonce);
    return out.array();
  }

  private byte[] withProof(Proof proof) {
    ByteBuffer out = ByteBuffer.allocate(LENGTH_BYTES);
    proof.put(out.put(header()));
    return out.array();
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
