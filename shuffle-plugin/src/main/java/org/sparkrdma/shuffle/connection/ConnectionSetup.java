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
package org.sparkrdma.shuffle.connection;

import java.net.InetAddress;
import java.nio.ByteBuffer;
import org.sparkrdma.shuffle.wire.Binding;
import org.sparkrdma.shuffle.wire.Confirm;
import org.sparkrdma.shuffle.wire.Hello;
import org.sparkrdma.shuffle.wire.MalformedMessageException;

/**
 * Set-up of one connection: where it stands, and how both ends prove themselves to each other.
 * Owned by the agent.
 *
 * <pre>
 *  initiator  RESOLVING ──request──► CONNECTING ──takeAnswer──► PROVEN ──establish──► ESTABLISHED
 *  responder  ACCEPTING ─────────────takeConfirm──────────────► PROVEN ──establish──► ESTABLISHED
 *  both       any state ──close──► CLOSED
 * </pre>
 *
 * <p>In PROVEN and ESTABLISHED, and only there, the peer may have remote access and messages are
 * taken. The class knows nothing of how the three messages travel.
 */
final class ConnectionSetup {
  /** Where it stands. */
  enum State {
    RESOLVING,
    CONNECTING,
    ACCEPTING,
    PROVEN,
    ESTABLISHED,
    CLOSED
  }

  private final byte[] calleeKey;
  private final boolean initiator;
  private State state;
  private Binding binding;
  private Hello request;
  private Hello answer;

  private ConnectionSetup(byte[] calleeKey, State state) {
    this.calleeKey = calleeKey;
    this.initiator = state == State.RESOLVING;
    this.state = state;
  }

  /** Of a connection that this end asks for. */
  static ConnectionSetup ofInitiator(byte[] calleeKey) {
    return new ConnectionSetup(calleeKey, State.RESOLVING);
  }

  /** Of a connection that the peer has asked for, with a proven request. */
  static ConnectionSetup ofResponder(byte[] ownKey, Binding binding, Hello request, Hello answer) {
    ConnectionSetup setup = new ConnectionSetup(ownKey, State.ACCEPTING);
    setup.binding = binding;
    setup.request = request;
    setup.answer = answer;
    return setup;
  }

  State state() {
    return state;
  }

  /** Whether this end has asked for the connection. */
  boolean isInitiator() {
    return initiator;
  }

  boolean isEstablished() {
    return state == State.ESTABLISHED;
  }

  /** Whether the peer has proven that it belongs to the application. */
  boolean isPeerProven() {
    return state == State.PROVEN || state == State.ESTABLISHED;
  }

  /** Connections between the two from this one on; once the answer is known. */
  int generation() {
    return answer.generation();
  }

  /** Initiator: returns the request, which is sent now. */
  byte[] request(Hello hello, int queuePairNumber, InetAddress source, InetAddress destination) {
    move(State.RESOLVING, State.CONNECTING);
    request = hello;
    binding = new Binding(queuePairNumber, source, destination);
    return hello.encodeRequest(calleeKey, binding);
  }

  /** Responder: returns the answer, which is sent now. */
  byte[] answer() {
    return answer.encodeAnswer(calleeKey, binding, request);
  }

  /**
   * Initiator: takes the answer.
   *
   * @return whether it proves the callee; otherwise nothing has changed
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
   * Responder: takes a CONFIRM.
   *
   * @throws MalformedMessageException when it proves nothing, or is not expected
   */
  void takeConfirm(ByteBuffer message) {
    if (state != State.ACCEPTING
        || !Confirm.isProven(message, calleeKey, binding, request, answer)) {
      throw new MalformedMessageException("CONFIRM that proves nothing");
    }
    move(State.ACCEPTING, State.PROVEN);
  }

  /** The connection is used from now on. */
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
