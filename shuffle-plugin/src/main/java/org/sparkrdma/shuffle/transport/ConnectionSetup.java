// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.transport;

import java.nio.ByteBuffer;
import org.sparkrdma.shuffle.wire.Confirm;
import org.sparkrdma.shuffle.wire.ConnectionBinding;
import org.sparkrdma.shuffle.wire.Hello;
import org.sparkrdma.shuffle.wire.MalformedMessageException;

/**
 * Set-up of one connection: its state, and the mutual proof of both ends. Owned by the agent.
 *
 * <pre>
 *  initiator  RESOLVING ──request──► CONNECTING ──takeAnswer──► PROVEN ──establish──► ESTABLISHED
 *  responder  WAITING ──takeRequest──► ACCEPTING ──takeConfirm──► PROVEN ──establish──► ESTABLISHED
 *  both       any state ──close──► CLOSED
 *
 *  and where request and answer are messages on a connected queue pair:
 *  initiator  RESOLVING ──open──► OPENING ──request──► CONNECTING
 *  responder  WAITING ──refuse──► REFUSED
 * </pre>
 *
 * <p>Only in PROVEN and ESTABLISHED may the peer have remote access and are messages accepted. The
 * class does not depend on how the three messages travel, see {@link SetupExchange}.
 */
final class ConnectionSetup {
  /** State of the set-up. */
  enum State {
    /** Initiator: address and route are being resolved. */
    RESOLVING,
    /** Initiator: the queue pair is being connected, without a request. */
    OPENING,
    /** Initiator: the request is sent. */
    CONNECTING,
    /** Responder: waiting for a proven request. */
    WAITING,
    /** Responder: the request was refused by a message. */
    REFUSED,
    /** Responder: the request is proven and answered, but not confirmed. */
    ACCEPTING,
    PROVEN,
    ESTABLISHED,
    CLOSED
  }

  private final byte[] calleeKey;
  private final boolean initiator;
  private State state;
  private ConnectionBinding binding;
  private Hello request;
  private Hello answer;

  private ConnectionSetup(byte[] calleeKey, State state) {
    this.calleeKey = calleeKey;
    this.initiator = state == State.RESOLVING;
    this.state = state;
  }

  /** Set-up of a connection that this executor initiates. */
  static ConnectionSetup ofInitiator(byte[] calleeKey) {
    return new ConnectionSetup(calleeKey, State.RESOLVING);
  }

  /** Set-up of a connection that a peer initiates. */
  static ConnectionSetup ofResponder(byte[] ownKey) {
    return new ConnectionSetup(ownKey, State.WAITING);
  }

  State state() {
    return state;
  }

  /** Whether this executor initiated the connection. */
  boolean isInitiator() {
    return initiator;
  }

  /** Initiator: whether there is no proven answer yet. */
  boolean isAttempt() {
    return state == State.RESOLVING || state == State.OPENING || state == State.CONNECTING;
  }

  /** Responder: whether there is no CONFIRM yet. */
  boolean isUnconfirmed() {
    return state == State.WAITING || state == State.REFUSED || state == State.ACCEPTING;
  }

  /** Whether the next message of the peer is its request or answer, if those are messages. */
  boolean expectsHello() {
    return state == State.CONNECTING || state == State.WAITING;
  }

  boolean isEstablished() {
    return state == State.ESTABLISHED;
  }

  /** Whether the peer has proven that it belongs to the application. */
  boolean isPeerProven() {
    return state == State.PROVEN || state == State.ESTABLISHED;
  }

  /** Generation of the connection; known after the answer. */
  int generation() {
    return answer.generation();
  }

  /** Initiator: the queue pair is connected first, and the request sent as a message. */
  void open() {
    move(State.RESOLVING, State.OPENING);
  }

  /** Initiator: returns the request to send. */
  byte[] request(Hello hello, ConnectionBinding ownBinding) {
    move(state == State.OPENING ? State.OPENING : State.RESOLVING, State.CONNECTING);
    request = hello;
    binding = ownBinding;
    return hello.encodeRequest(calleeKey, binding);
  }

  /** Responder: takes a proven request, to be answered with this answer. */
  void takeRequest(ConnectionBinding requestBinding, Hello provenRequest, Hello ownAnswer) {
    move(State.WAITING, State.ACCEPTING);
    binding = requestBinding;
    request = provenRequest;
    answer = ownAnswer;
  }

  /** Responder: the request is refused by a message. */
  void refuse() {
    move(State.WAITING, State.REFUSED);
  }

  /** Responder: returns the answer to send. */
  byte[] answer() {
    return answer.encodeAnswer(calleeKey, binding, request);
  }

  /**
   * Initiator: checks the answer.
   *
   * @return whether it proves the callee; otherwise the state is unchanged
   */
  boolean takeAnswer(byte[] privateData) {
    Hello received;
    try {
      received = Hello.decode(privateData);
    } catch (MalformedMessageException e) {
      return false;
    }
    if (state != State.CONNECTING
        || !received.answers(request)
        || !received.isProvenAnswer(privateData, calleeKey, binding, request)) {
      return false;
    }
    answer = received;
    move(State.CONNECTING, State.PROVEN);
    return true;
  }

  /** Initiator: writes the CONFIRM that answers the callee's nonce; returns its length in bytes. */
  int writeConfirm(ByteBuffer target) {
    return Confirm.encode(target, calleeKey, binding, request, answer);
  }

  /**
   * Responder: checks a CONFIRM.
   *
   * @throws MalformedMessageException when its proof is wrong or it is not expected
   */
  void takeConfirm(ByteBuffer message) {
    if (state != State.ACCEPTING
        || !Confirm.isProven(message, calleeKey, binding, request, answer)) {
      throw new MalformedMessageException("CONFIRM without a valid proof");
    }
    move(State.ACCEPTING, State.PROVEN);
  }

  /** Puts the proven connection into use. */
  void establish() {
    move(State.PROVEN, State.ESTABLISHED);
  }

  void close() {
    state = State.CLOSED;
  }

  private void move(State from, State to) {
    if (state != from) {
      throw new IllegalStateException("set-up is out of order: state=" + state + " next=" + to);
    }
    state = to;
  }
}
