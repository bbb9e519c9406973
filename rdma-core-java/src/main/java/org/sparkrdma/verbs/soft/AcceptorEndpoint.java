// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.soft;

import java.io.IOException;
import org.sparkrdma.verbs.cm.ConnectionEvent;
import org.sparkrdma.verbs.cm.ConnectionParameters;
import org.sparkrdma.verbs.soft.wire.FrameHeader;
import org.sparkrdma.verbs.soft.wire.Link;

/** The end of a connection that a peer asks for. Confined to the device thread. */
final class AcceptorEndpoint extends SoftEndpoint {
  private final SoftListener listener;

  AcceptorEndpoint(SoftContext context, SoftListener listener) {
    super(context, false, State.AWAITING_HELLO);
    this.listener = listener;
  }

  /** The queue pair number in the peer's request; set before the request is offered. */
  int requestQueuePairNumber() {
    return handshake.peerNumber();
  }

  /** Begins to wait for the peer's first message. */
  void awaitHello(Link newLink) {
    link = newLink;
    context.endpoints().add(this);
    timeLimit.set(context.settings().handshakeTimeoutNs(), this::close);
  }

  void accept(SoftQueuePair pair, ConnectionParameters answer) {
    adopt(pair);
    if (state != State.REQUESTED) {
      pair.fail();
      connection.onEnded(ConnectionEvent.Type.CONNECT_ERROR, "the peer has ended the connection");
      return;
    }
    parameters = answer;
    state = State.ACCEPTED;
    pair.publish();
    sendHello(FrameHeader.REPLY);
    timeLimit.set(
        context.settings().handshakeTimeoutNs(),
        () -> fail(ConnectionEvent.Type.CONNECT_ERROR, "the peer did not confirm"));
  }

  void reject(byte[] privateData) {
    if (state == State.REQUESTED) {
      link.putHeader(FrameHeader.REJECT, 0, privateData.length, 0, 0, 0);
      link.out().put(privateData);
      linger();
    }
  }

  @Override
  public void onConnected() {
    throw new IllegalStateException("an accepted socket is connected from the start");
  }

  @Override
  public void onConnectRefused(String reason) {
    throw new IllegalStateException("an accepted socket cannot be refused");
  }

  @Override
  void onHandshakeEnd(FrameHeader header) throws IOException {
    switch (header.type) {
      case FrameHeader.REQUEST -> onRequest(header);
      case FrameHeader.READY -> onReady(header);
      default -> throw EstablishedFrames.unexpected(header);
    }
  }

  private void onRequest(FrameHeader header) throws IOException {
    require(state == State.AWAITING_HELLO, header);
    timeLimit.cancel();
    try {
      byte[] privateData = handshake.acceptHello(link);
      connection = listener.onRequest(this, link.localAddress(), link.remoteAddress());
      state = State.REQUESTED;
      connection.onRequested(listener, privateData);
    } catch (IOException e) {
      refuse(e.getMessage());
    }
  }

  private void onReady(FrameHeader header) throws IOException {
    require(state == State.ACCEPTED, header);
    timeLimit.cancel();
    establish(new byte[0]);
  }
}
