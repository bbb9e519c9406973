// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.transport;

import java.nio.ByteBuffer;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.ToIntFunction;
import org.sparkrdma.shuffle.settings.PacketSettings;
import org.sparkrdma.shuffle.wire.ConnectionBinding;
import org.sparkrdma.shuffle.wire.Hello;
import org.sparkrdma.shuffle.wire.Hello.Refusal;
import org.sparkrdma.shuffle.wire.HelloMessage;
import org.sparkrdma.shuffle.wire.MalformedMessageException;
import org.sparkrdma.verbs.AccessFlag;
import org.sparkrdma.verbs.QueuePair;
import org.sparkrdma.verbs.VerbsException;
import org.sparkrdma.verbs.cm.Connection;
import org.sparkrdma.verbs.cm.ConnectionParameters;
import org.sparkrdma.verbs.device.Capability;

/**
 * Carries the messages of a {@link ConnectionSetup} over one connection, on its {@link HelloPath},
 * and grants remote access when the peer is proven. Owned by the agent.
 */
final class SetupExchange {
  static final Set<AccessFlag> REMOTE_ACCESS = Set.of(AccessFlag.REMOTE_READ);

  /**
   * Without limit. Receives are always posted, but a pause of the peer's JVM may delay them, and
   * every request has its own deadline.
   */
  private static final int RECEIVER_NOT_READY_RETRIES = 7;

  private static final byte[] NO_DATA = {};

  private final TransportContext context;
  private final Connection connection;
  private final ConnectionSetup setup;
  private final HelloPath path;
  private QueuePair queuePair;
  private Consumer<ToIntFunction<ByteBuffer>> sender;
  private byte[] receivedHello;

  /** Time of the request, later by the pauses of the agent since then. */
  private long requestedNs;

  SetupExchange(TransportContext context, Connection connection, ConnectionSetup setup) {
    this.context = context;
    this.connection = connection;
    this.setup = setup;
    this.path = HelloPath.of(context.device());
  }

  /**
   * Sets what it uses, once the queue pair exists.
   *
   * @param messageSender sends the message that a function writes into a buffer, at once
   */
  void useQueuePair(QueuePair created, Consumer<ToIntFunction<ByteBuffer>> messageSender) {
    queuePair = created;
    sender = messageSender;
  }

  /** Access of the peer from the start: none, where the device can change it later. */
  static Set<AccessFlag> initialAccess(TransportContext context) {
    return context.device().can(Capability.QUEUE_PAIR_ACCESS) ? Set.of() : REMOTE_ACCESS;
  }

  // The initiator.

  /**
   * Connects the queue pair without a request, which follows as a message.
   *
   * @throws VerbsException when the device's request cannot be sent
   */
  void open(int readsInFlight) throws VerbsException {
    assert context.owner().holds();
    setup.open();
    connection.connect(parameters(NO_DATA, readsInFlight));
  }

  /** Whether the queue pair is being connected, without a request yet. */
  boolean isOpening() {
    return setup.state() == ConnectionSetup.State.OPENING;
  }

  /** Whether the request, or that for the queue pair, is sent and not answered. */
  boolean isRequested() {
    return isOpening() || setup.state() == ConnectionSetup.State.CONNECTING;
  }

  /**
   * Whether the queue pair of an attempt is connected, as before a request that is a message, and
   * the peer has not proven itself within the time-out.
   */
  boolean isConnectedWithoutAnswer(long nowNs, long timeoutNs) {
    return path == HelloPath.SEND
        && setup.state() == ConnectionSetup.State.CONNECTING
        && nowNs - requestedNs > timeoutNs;
  }

  /** The agent did not run for so long: that time does not count for the peer. */
  void addPause(long pauseNs, long nowNs) {
    requestedNs = later(requestedNs, pauseNs, nowNs);
  }

  /** A time in the past, later by a pause, but not in the future. */
  static long later(long timeNs, long pauseNs, long nowNs) {
    return nowNs - Math.max(0, nowNs - timeNs - pauseNs);
  }

  /**
   * Sends the request.
   *
   * @throws VerbsException when it cannot be sent
   */
  void request(Hello hello, int readsInFlight) throws VerbsException {
    assert context.owner().holds();
    byte[] request =
        setup.request(
            hello,
            ConnectionBinding.of(
                context.device().can(Capability.REQUEST_HAS_QUEUE_PAIR) ? queuePair.number() : 0,
                connection.localAddress(),
                connection.remoteAddress()));
    requestedNs = context.nanoClock().getAsLong();
    if (path == HelloPath.SEND) {
      send(request);
    } else {
      connection.connect(parameters(request, readsInFlight));
    }
  }

  /**
   * Checks the answer. If it proves the peer, grants remote access and sends the CONFIRM.
   *
   * @return whether the peer is proven
   * @throws VerbsException when the device cannot grant access
   */
  boolean takeAnswer(byte[] answer) throws VerbsException {
    assert context.owner().holds();
    if (!setup.takeAnswer(answer)) {
      return false;
    }
    grantRemoteAccess();
    sender.accept(setup::writeConfirm);
    return true;
  }

  // The responder.

  /**
   * Accepts the connection of a peer that has sent no request yet.
   *
   * @throws VerbsException when the device's reply cannot be sent
   */
  void acceptWithoutRequest(int readsInFlight) throws VerbsException {
    assert context.owner().holds();
    connection.accept(parameters(NO_DATA, readsInFlight));
  }

  /**
   * Sends the answer to a proven request.
   *
   * @throws VerbsException when it cannot be sent
   */
  void answer(int readsInFlight) throws VerbsException {
    assert context.owner().holds();
    if (path == HelloPath.SEND) {
      send(setup.answer());
    } else {
      connection.accept(parameters(setup.answer(), readsInFlight));
    }
  }

  /** Takes the proven request of the peer, to be answered with this answer. */
  void takeRequest(ConnectionBinding binding, Hello request, Hello answer) {
    setup.takeRequest(binding, request, answer);
  }

  /** Refuses a request by a message; the peer then ends the connection, or a time-out does. */
  void refuse(Refusal refusal) {
    assert context.owner().holds();
    setup.refuse();
    send(Hello.encodeRefusal(refusal));
  }

  /**
   * A CONFIRM was received: checks it and grants remote access.
   *
   * @throws MalformedMessageException when its proof is wrong or it is not expected
   * @throws VerbsException when the device cannot grant access
   */
  void onConfirm(ByteBuffer message) throws VerbsException {
    setup.takeConfirm(message);
    grantRemoteAccess();
  }

  // Both.

  /**
   * A HELLO was received: keeps its content.
   *
   * @throws MalformedMessageException when none is expected
   */
  void onHello(ByteBuffer message) {
    if (path != HelloPath.SEND || !setup.expectsHello() || receivedHello != null) {
      throw new MalformedMessageException("unexpected HELLO: state=" + setup.state());
    }
    receivedHello = HelloMessage.decode(message);
  }

  /** Removes and returns the content of the HELLO that was received; null without one. */
  byte[] pollHello() {
    byte[] hello = receivedHello;
    receivedHello = null;
    return hello;
  }

  private void send(byte[] hello) {
    sender.accept(target -> HelloMessage.encode(target, hello));
  }

  private void grantRemoteAccess() throws VerbsException {
    if (context.device().can(Capability.QUEUE_PAIR_ACCESS)) {
      queuePair.setRemoteAccess(REMOTE_ACCESS);
    }
  }

  private ConnectionParameters parameters(byte[] privateData, int readsInFlight) {
    PacketSettings packets = context.settings().packets();
    return new ConnectionParameters(
        privateData,
        readsInFlight,
        packets.ackRetries(),
        RECEIVER_NOT_READY_RETRIES,
        packets.ackTimeout(),
        context.settings().attemptTimeout());
  }
}
