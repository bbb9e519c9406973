// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.soft;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import org.sparkrdma.verbs.cm.ConnectionEvent;
import org.sparkrdma.verbs.cm.ConnectionParameters;
import org.sparkrdma.verbs.soft.wire.FrameHeader;
import org.sparkrdma.verbs.soft.wire.Link;

/** The end of a connection that asks for it. Confined to the device thread. */
final class InitiatorEndpoint extends SoftEndpoint {
  InitiatorEndpoint(SoftContext context, SoftConnection connection) {
    super(context, true, State.CONNECTING);
    this.connection = connection;
  }

  void connect(Link newLink, SoftQueuePair pair, ConnectionParameters wanted) {
    link = newLink;
    parameters = wanted;
    adopt(pair);
    context.endpoints().add(this);
    timeLimit.set(
        wanted.timeout().toNanos(),
        () ->
            fail(
                ConnectionEvent.Type.UNREACHABLE,
                "no answer within the connect time-out: timeout=" + wanted.timeout()));
  }

  @Override
  public void onConnected() throws IOException {
    state = State.REQUESTING;
    connection.onBound(link.localAddress());
    sendHello(FrameHeader.REQUEST);
  }

  @Override
  public void onConnectRefused(String reason) {
    fail(ConnectionEvent.Type.REJECTED, reason);
  }

  @Override
  void onHandshakeEnd(FrameHeader header) throws IOException {
    require(state == State.REQUESTING, header);
    switch (header.type) {
      case FrameHeader.REPLY -> onReply();
      case FrameHeader.REJECT -> onReject();
      case FrameHeader.REFUSED -> onRefused();
      default -> throw EstablishedFrames.unexpected(header);
    }
  }

  private void onReply() {
    byte[] privateData;
    try {
      privateData = handshake.acceptHello(link);
    } catch (IOException e) {
      fail(ConnectionEvent.Type.REJECTED, e.getMessage());
      return;
    }
    timeLimit.cancel();
    if (!queuePair.markReady()) {
      closeNow();
      return;
    }
    queuePair.publish();
    link.putHeader(FrameHeader.READY, 0, 0, 0, 0, 0);
    establish(privateData);
  }

  private void onReject() {
    byte[] privateData = handshake.takeBody();
    closeNow();
    queuePair.fail();
    connection.onRejected(privateData, "the peer rejected the request");
  }

  private void onRefused() {
    String reason = new String(handshake.takeBody(), StandardCharsets.UTF_8);
    fail(ConnectionEvent.Type.REJECTED, "refused: " + reason);
  }
}
