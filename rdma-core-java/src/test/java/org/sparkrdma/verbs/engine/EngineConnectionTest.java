// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.sparkrdma.verbs.CompletionQueue;
import org.sparkrdma.verbs.ProtectionDomain;
import org.sparkrdma.verbs.QueuePairSettings;
import org.sparkrdma.verbs.VerbsException;
import org.sparkrdma.verbs.cm.ConnectionEvent;
import org.sparkrdma.verbs.cm.ConnectionParameters;
import org.sparkrdma.verbs.engine.device.FakeDevice;

/** The calls that the owner may make in each phase; the test is the engine. */
class EngineConnectionTest {
  private static final ConnectionParameters PARAMETERS = ConnectionParameters.of(new byte[] {1, 2});
  private static final InetSocketAddress LOCAL =
      new InetSocketAddress(InetAddress.getLoopbackAddress(), 1);
  private static final InetSocketAddress REMOTE =
      new InetSocketAddress(InetAddress.getLoopbackAddress(), 2);

  private final FakeDevice device = new FakeDevice();
  private final List<String> calls = new ArrayList<>();
  private EngineConnectionManager manager;
  private ProtectionDomain domain;
  private CompletionQueue queue;

  /** Whether the next reply fails. */
  private boolean replyFails;

  @BeforeEach
  void open() throws VerbsException {
    manager =
        (EngineConnectionManager) device.createConnectionManager(device.createCompletionChannel());
    domain = device.allocateProtectionDomain();
    queue = device.createCompletionQueue(8, null);
  }

  /** Records the calls that reach the engine. */
  private final class RecordedConnection extends EngineConnection<RecordedQueuePair> {
    RecordedConnection(boolean initiator) {
      super(manager, REMOTE, initiator);
    }

    @Override
    protected RecordedQueuePair newQueuePair(
        EngineProtectionDomain ofDomain, QueuePairSettings settings) {
      calls.add("create");
      return new RecordedQueuePair(ofDomain, settings, device.info().limits(), false);
    }

    @Override
    protected void sendRequest(ConnectionParameters parameters) {
      calls.add("request");
    }

    @Override
    protected void sendReply(ConnectionParameters parameters) throws VerbsException {
      if (replyFails) {
        throw new VerbsException("rdma_accept", "rdma_accept failed: refused by the test");
      }
      calls.add("reply");
    }

    @Override
    protected void sendRejection(byte[] privateData) {
      calls.add("reject " + privateData.length);
    }

    @Override
    public void disconnect() {
      moveTo(ConnectionPhase.ENDED);
    }

    @Override
    public void close() {
      moveTo(ConnectionPhase.CLOSED);
    }
  }

  private QueuePairSettings settings(CompletionQueue sends, CompletionQueue receives) {
    return new QueuePairSettings(sends, receives, 1, 1, 1, 0, Set.of());
  }

  private void create(RecordedConnection connection) throws VerbsException {
    connection.createQueuePair(domain, settings(queue, queue));
  }

  @Test
  void shouldConnectOnceWithAQueuePairAfterItsAddressIsResolved() throws VerbsException {
    RecordedConnection initiator = new RecordedConnection(true);
    assertThatThrownBy(() -> create(initiator)).hasMessageContaining("phase=RESOLVING");
    initiator.moveTo(ConnectionPhase.RESOLVED);
    assertThatThrownBy(() -> initiator.connect(PARAMETERS))
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("phase=RESOLVED queuePair=false");
    create(initiator);
    assertThatThrownBy(() -> create(initiator)).isInstanceOf(IllegalStateException.class);
    initiator.connect(PARAMETERS);
    assertThat(initiator.isIn(ConnectionPhase.CONNECTING)).isTrue();
    assertThatThrownBy(() -> initiator.connect(PARAMETERS))
        .hasMessageContaining("phase=CONNECTING queuePair=true");
    assertThat(calls).containsExactly("create", "request");
  }

  @Test
  void shouldAcceptARequestOnceWithAQueuePair() throws VerbsException {
    RecordedConnection acceptor = new RecordedConnection(false);
    assertThatThrownBy(() -> acceptor.accept(PARAMETERS))
        .hasMessageContaining("phase=REQUESTED queuePair=false");
    create(acceptor);
    acceptor.accept(PARAMETERS);
    assertThat(acceptor.isIn(ConnectionPhase.ACCEPTED)).isTrue();
    assertThatThrownBy(() -> acceptor.accept(PARAMETERS)).hasMessageContaining("phase=ACCEPTED");
    assertThatThrownBy(() -> acceptor.reject(new byte[0])).hasMessageContaining("phase=ACCEPTED");
    assertThatThrownBy(() -> acceptor.connect(PARAMETERS)).hasMessageContaining("phase=ACCEPTED");
    assertThat(calls).containsExactly("create", "reply");
  }

  @Test
  void shouldEndWhenTheReplyFailsOrTheRequestIsRejected() throws VerbsException {
    RecordedConnection failing = new RecordedConnection(false);
    create(failing);
    replyFails = true;
    assertThatThrownBy(() -> failing.accept(PARAMETERS)).isInstanceOf(VerbsException.class);
    assertThat(failing.isIn(ConnectionPhase.ENDED)).isTrue();
    RecordedConnection rejected = new RecordedConnection(false);
    rejected.reject(new byte[3]);
    assertThat(rejected.isIn(ConnectionPhase.ENDED)).isTrue();
    assertThat(calls).containsExactly("create", "reject 3");
  }

  /** It ends by an event that its owner has not polled yet. */
  @Test
  void shouldReportAConnectionThatHasEndedAsAFailureOfTheCall() throws VerbsException {
    RecordedConnection initiator = new RecordedConnection(true);
    initiator.moveTo(ConnectionPhase.ENDED);
    RecordedConnection acceptor = new RecordedConnection(false);
    create(acceptor);
    acceptor.moveTo(ConnectionPhase.ENDED);

    assertThatThrownBy(() -> create(initiator))
        .isInstanceOf(VerbsException.class)
        .hasMessageStartingWith("rdma_create_qp failed: the connection has ended");
    assertThatThrownBy(() -> initiator.connect(PARAMETERS))
        .isInstanceOf(VerbsException.class)
        .hasMessageStartingWith("rdma_connect failed: the connection has ended");
    assertThatThrownBy(() -> acceptor.accept(PARAMETERS))
        .isInstanceOf(VerbsException.class)
        .hasMessageStartingWith("rdma_accept failed: the connection has ended");
    acceptor.reject(new byte[0]);

    assertThat(calls).containsExactly("create");
  }

  @Test
  void shouldRefuseTooMuchPrivateDataBeforeAnythingIsSent() throws VerbsException {
    byte[] tooMuch = new byte[device.info().limits().maxPrivateDataBytes() + 1];
    RecordedConnection acceptor = new RecordedConnection(false);
    create(acceptor);
    assertThatThrownBy(() -> acceptor.accept(ConnectionParameters.of(tooMuch)))
        .hasMessageContaining("lengthBytes=57 limit=56");
    assertThatThrownBy(() -> acceptor.reject(tooMuch)).hasMessageContaining("lengthBytes=57");
    RecordedConnection initiator = new RecordedConnection(true);
    initiator.moveTo(ConnectionPhase.RESOLVED);
    create(initiator);
    assertThatThrownBy(() -> initiator.connect(ConnectionParameters.of(tooMuch)))
        .hasMessageContaining("lengthBytes=57");
    assertThat(acceptor.isIn(ConnectionPhase.REQUESTED)).isTrue();
    assertThat(initiator.isIn(ConnectionPhase.RESOLVED)).isTrue();
    assertThat(calls).containsExactly("create", "create");
  }

  @Test
  void shouldRefuseObjectsOfAnotherDevice() throws VerbsException {
    RecordedConnection acceptor = new RecordedConnection(false);
    var other = new FakeDevice();
    CompletionQueue foreign = other.createCompletionQueue(8, null);
    refusesForeign(acceptor, other.allocateProtectionDomain(), settings(queue, queue));
    refusesForeign(acceptor, domain, settings(foreign, queue));
    refusesForeign(acceptor, domain, settings(queue, foreign));
    assertThat(acceptor.queuePair()).isNull();
    assertThat(calls).isEmpty();
    create(acceptor);
    assertThat(acceptor.queuePair()).isNotNull();
  }

  @Test
  void shouldRefuseAClosedCompletionQueue() throws VerbsException {
    RecordedConnection acceptor = new RecordedConnection(false);
    CompletionQueue closed = device.createCompletionQueue(8, null);
    closed.close();
    for (var settings : List.of(settings(closed, queue), settings(queue, closed))) {
      assertThatThrownBy(() -> acceptor.createQueuePair(domain, settings))
          .isInstanceOf(IllegalStateException.class)
          .hasMessage("completion queue is closed");
    }
    assertThat(acceptor.queuePair()).isNull();
    assertThat(calls).isEmpty();
  }

  @Test
  void shouldRefuseAClosedProtectionDomainBeforeTheDeviceCreatesAnything() throws VerbsException {
    RecordedConnection acceptor = new RecordedConnection(false);
    ProtectionDomain closed = device.allocateProtectionDomain();
    closed.close();
    assertThatThrownBy(() -> acceptor.createQueuePair(closed, settings(queue, queue)))
        .isInstanceOf(IllegalStateException.class)
        .hasMessage("protection domain is closed");
    assertThat(acceptor.queuePair()).isNull();
    assertThat(calls).isEmpty();
    create(acceptor);
    assertThat(calls).containsExactly("create");
  }

  @Test
  void shouldCreateNoQueuePairOnceItsCloseHasBegun() {
    RecordedConnection acceptor = new RecordedConnection(false);
    assertThat(acceptor.beginClose()).isNull();
    assertThatThrownBy(() -> create(acceptor)).isInstanceOf(IllegalStateException.class);
    assertThat(calls).isEmpty();
  }

  private static void refusesForeign(
      RecordedConnection connection, ProtectionDomain ofDomain, QueuePairSettings settings) {
    assertThatThrownBy(() -> connection.createQueuePair(ofDomain, settings))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("another device");
  }

  @Test
  void shouldStayClosedAndReportNothingMore() {
    RecordedConnection open = new RecordedConnection(true);
    RecordedConnection closed = new RecordedConnection(true);
    closed.close();
    assertThat(closed.moveTo(ConnectionPhase.RESOLVED)).isFalse();
    assertThat(closed.isClosed()).isTrue();
    closed.offer(ConnectionEvent.Type.RESOLVED, "");
    open.offer(ConnectionEvent.Type.RESOLVE_FAILED, "refused by the test");
    ConnectionEvent event = manager.pollEvent();
    assertThat(event.connection()).isSameAs(open);
    assertThat(event.reason()).isEqualTo("refused by the test");
    assertThat(manager.pollEvent()).isNull();
  }

  @Test
  void shouldKeepItsAddressesAndTheAttachmentOfItsOwner() {
    RecordedConnection connection = new RecordedConnection(true);
    assertThat(connection.localAddress()).isNull();
    assertThat(connection.attachment()).isNull();
    connection.setLocalAddress(LOCAL);
    connection.attach(this);
    assertThat(connection.localAddress()).isEqualTo(LOCAL);
    assertThat(connection.remoteAddress()).isEqualTo(REMOTE);
    assertThat(connection.attachment()).isSameAs(this);
  }
}
