// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.transport;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.security.SecureRandom;
import org.sparkrdma.shuffle.directory.Endpoint;
import org.sparkrdma.shuffle.wire.ConnectionBinding;
import org.sparkrdma.shuffle.wire.Hmac;
import org.sparkrdma.shuffle.wire.MalformedMessageException;
import org.sparkrdma.shuffle.wire.Messages;
import org.sparkrdma.shuffle.wire.SetupMessages;
import org.sparkrdma.shuffle.wire.SetupMessages.Refusal;

/**
 * The mutual proof of the ends of one connection, by the first three messages on its queue pair,
 * see {@link SetupMessages}. Confined to the agent.
 *
 * <pre>
 *  initiator  NEW ──writeRequest──► REQUESTED ──takeReply──► PROVEN (it sends the CONFIRM)
 *  responder  NEW ──takeRequest──► REPLIED ──takeConfirm──► PROVEN (it grants remote access)
 *                └──► REFUSED
 * </pre>
 */
final class Handshake {
  private static final SecureRandom RANDOM = new SecureRandom();

  private enum State {
    NEW,
    REQUESTED,
    REPLIED,
    REFUSED,
    PROVEN
  }

  private final byte[] calleeKey;
  private final long calleeIncarnation;
  private final long callerIncarnation;
  private State state = State.NEW;
  private ConnectionBinding binding;
  private byte[] request;
  private byte[] reply;
  private long peerIncarnation;

  private Handshake(Endpoint callee, byte[] secret, long callerIncarnation) {
    this.calleeKey = Hmac.proofKey(callee.token(), secret);
    this.calleeIncarnation = callee.incarnation();
    this.callerIncarnation = callerIncarnation;
  }

  /** Of a connection that this executor initiates. */
  static Handshake ofInitiator(Endpoint callee, Identity self) {
    return new Handshake(callee, self.secret(), self.endpoint().incarnation());
  }

  /** Handshake of a connection that a peer initiates; the incarnation of the peer is unknown. */
  static Handshake ofResponder(Identity self) {
    return new Handshake(self.endpoint(), self.secret(), 0);
  }

  /** Responder: the incarnation of the initiator, once that is proven. */
  long peerIncarnation() {
    return peerIncarnation;
  }

  /** Whether the other end has proven that it belongs to the application. */
  boolean isProven() {
    return state == State.PROVEN;
  }

  private static byte[] nonce() {
    byte[] nonce = new byte[SetupMessages.NONCE_BYTES];
    RANDOM.nextBytes(nonce);
    return nonce;
  }

  private void move(State from, State to) {
    if (state != from) {
      throw new MalformedMessageException("set-up is out of order: state=" + state);
    }
    state = to;
  }

  /** Initiator: writes the REQUEST; returns its length in bytes. */
  int writeRequest(ByteBuffer out, ConnectionBinding ownBinding) {
    move(State.NEW, State.REQUESTED);
    binding = ownBinding;
    request = SetupMessages.request(calleeIncarnation, callerIncarnation, nonce());
    byte[] proof = SetupMessages.proof(Messages.REQUEST, calleeKey, binding, request);
    return SetupMessages.write(out, request, proof);
  }

  /**
   * Initiator: checks the REPLY.
   *
   * @return whether it proves the callee
   * @throws MalformedMessageException when it is no REPLY, or none is expected
   */
  boolean takeReply(ByteBuffer message) {
    byte[] received = bytes(message, SetupMessages.REPLY_BYTES);
    byte[] header = SetupMessages.header(received);
    if (state != State.REQUESTED) {
      throw new MalformedMessageException("unexpected REPLY: state=" + state);
    }
    byte[] proof = SetupMessages.proof(Messages.REPLY, calleeKey, binding, request, header);
    if (received[1] != Messages.PROTOCOL || !SetupMessages.hasProof(received, proof)) {
      return false;
    }
    reply = header;
    move(State.REQUESTED, State.PROVEN);
    return true;
  }

  /** Initiator: writes the CONFIRM that answers the callee's nonce; returns its length in bytes. */
  int writeConfirm(ByteBuffer out) {
    byte[] proof = SetupMessages.proof(Messages.CONFIRM, calleeKey, binding, request, reply);
    return SetupMessages.write(out, SetupMessages.confirm(), proof);
  }

  /**
   * Responder: checks the REQUEST.
   *
   * @return null when it is proven, else the reason to refuse it
   * @throws MalformedMessageException when no REQUEST is expected
   */
  Refusal takeRequest(ByteBuffer message, ConnectionBinding requestBinding) {
    if (state != State.NEW) {
      throw new MalformedMessageException("unexpected REQUEST: state=" + state);
    }
    state = State.REFUSED;
    if (message.remaining() != SetupMessages.REQUEST_BYTES) {
      return Refusal.MALFORMED;
    }
    if (SetupMessages.version(message) != Messages.PROTOCOL) {
      return Refusal.VERSION;
    }
    byte[] received = bytes(message, SetupMessages.REQUEST_BYTES);
    byte[] header = SetupMessages.header(received);
    if (ByteBuffer.wrap(header).order(ByteOrder.LITTLE_ENDIAN).getLong(8) != calleeIncarnation) {
      return Refusal.INCARNATION;
    }
    byte[] proof = SetupMessages.proof(Messages.REQUEST, calleeKey, requestBinding, header);
    if (!SetupMessages.hasProof(received, proof)) {
      return Refusal.PROOF;
    }
    binding = requestBinding;
    request = header;
    reply = SetupMessages.reply(nonce());
    state = State.REPLIED;
    return null;
  }

  /** Responder: writes the REPLY; returns its length in bytes. */
  int writeReply(ByteBuffer out) {
    byte[] proof = SetupMessages.proof(Messages.REPLY, calleeKey, binding, request, reply);
    return SetupMessages.write(out, reply, proof);
  }

  /**
   * Responder: checks the CONFIRM.
   *
   * @throws MalformedMessageException when its proof is wrong or it is not expected
   */
  void takeConfirm(ByteBuffer message) {
    byte[] received = bytes(message, SetupMessages.CONFIRM_BYTES);
    if (state != State.REPLIED
        || !SetupMessages.hasProof(
            received, SetupMessages.proof(Messages.CONFIRM, calleeKey, binding, request, reply))) {
      throw new MalformedMessageException("CONFIRM without a valid proof");
    }
    move(State.REPLIED, State.PROVEN);
    peerIncarnation = ByteBuffer.wrap(request).order(ByteOrder.LITTLE_ENDIAN).getLong(16);
  }

  private static byte[] bytes(ByteBuffer message, int lengthBytes) {
    byte[] bytes = new byte[lengthBytes];
    Messages.view(message, lengthBytes).get(bytes);
    return bytes;
  }
}
