// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.sparkrdma.verbs.QueuePairState;
import org.sparkrdma.verbs.VerbsException;
import org.sparkrdma.verbs.cm.ConnectionEvent;
import org.sparkrdma.verbs.cm.ConnectionParameters;

/** The phases of a connection, and the events that its owner polls. */
class EngineConnectionTest {
  private static final ConnectionParameters PARAMETERS = ConnectionParameters.of(new byte[0]);
  private static final ConnectionParameters NO_TIME =
      new ConnectionParameters(new byte[0], 1, 1, 1, 0, Duration.ZERO);

  private FakeDevice.Objects objects;

  @BeforeEach
  void open() throws VerbsException {
    objects = new FakeDevice.Objects();
  }

  @Test
  void shouldTimeOutAnAttemptAndDisconnectWhenThePeerAnswersLater() throws VerbsException {
    FakeConnection connection = objects.resolved();
    objects.events();
    connection.connect(NO_TIME);
    assertThat(objects.channel.remainingNs(1_000)).isZero();
    assertThat(objects.events()).containsExactly(ConnectionEvent.Type.UNREACHABLE);
    assertThat(objects.channel.remainingNs(1_000)).isEqualTo(1_000);
    assertThat(objects.device.calls).doesNotContain("disconnect");
    connection.established();
    assertThat(objects.device.calls).contains("disconnect");
    assertThat(objects.events()).isEmpty();
  }

  @Test
  void shouldReportAFailureByThePhaseOfThisEnd() throws VerbsException {
    FakeConnection initiator = objects.resolved();
    initiator.connect(PARAMETERS);
    initiator.failed(ConnectionEvent.Type.REJECTED);
    objects.manager.listen(FakeDevice.ADDRESS, 1);
    FakeConnection acceptor = objects.manager.request();
    acceptor.createQueuePair(objects.domain, objects.settings());
    acceptor.accept(PARAMETERS);
    acceptor.failed(ConnectionEvent.Type.REJECTED);
    assertThat(objects.events())
        .containsExactly(
            ConnectionEvent.Type.RESOLVED,
            ConnectionEvent.Type.REJECTED,
            ConnectionEvent.Type.CONNECT_REQUEST,
            ConnectionEvent.Type.CONNECT_ERROR);
  }

  @Test
  void shouldNotReportAConnectionWhoseQueuePairBrokeWhileItWasConnected() throws VerbsException {
    FakeConnection connection = objects.resolved();
    connection.connect(PARAMETERS);
    connection.pair().fail("broken by the test");
    connection.established();
    connection.failed(ConnectionEvent.Type.REJECTED);
    assertThat(objects.events())
        .containsExactly(ConnectionEvent.Type.RESOLVED, ConnectionEvent.Type.CONNECT_ERROR);
    assertThat(objects.device.calls).as("the peer's end, too").contains("disconnect");
  }

  @Test
  void shouldReportNothingOfAClosedConnection() throws VerbsException {
    FakeConnection connection = objects.connected();
    connection.close();
    connection.established();
    assertThat(objects.events()).isEmpty();
    assertThat(objects.device.openResources().connections()).isZero();
  }

  @Test
  @Timeout(60)
  void shouldDestroyTheQueuePairBeforeTheIdentifierWhenTwoThreadsClose() throws Exception {
    FakeConnection connection = objects.connected();
    objects.device.calls.clear();
    objects.device.duringDestruction = objects.onOtherThread(connection::close);

    connection.queuePair().close();

    objects.other.join();
    assertThat(objects.device.calls)
        .containsExactly(
            "disconnect", "destroy queue pair", "free queue pair", "destroy connection");
  }

  @Test
  @Timeout(60)
  void shouldDestroyAQueuePairThatIsCreatedDuringItsClose() throws Exception {
    FakeConnection connection = objects.withoutQueuePair();
    objects.device.calls.clear();
    objects.device.duringCreation = objects.onOtherThread(connection::close);

    connection.createQueuePair(objects.domain, objects.settings());

    objects.other.join();
    assertThat(objects.device.calls)
        .containsExactly("destroy queue pair", "free queue pair", "destroy connection");
  }

  /** The thread that polls takes the event, which must not wait for the device. */
  @Test
  @Timeout(60)
  void shouldDestroyAQueuePairOfAConnectionThatEndsWhileItIsCreated() throws Exception {
    FakeConnection connection = objects.withoutQueuePair();
    objects.events();
    objects.device.calls.clear();
    objects.device.duringCreation =
        () ->
            assertThat(CompletableFuture.runAsync(connection::removed))
                .succeedsWithin(Duration.ofSeconds(10));
    assertThatThrownBy(() -> connection.createQueuePair(objects.domain, objects.settings()))
        .isInstanceOf(VerbsException.class)
        .hasMessageContaining("the connection has ended");

    assertThat(objects.events()).containsExactly(ConnectionEvent.Type.DEVICE_REMOVED);
    connection.close();
    assertThat(objects.device.calls)
        .containsExactly("destroy queue pair", "free queue pair", "destroy connection");
    objects.domain.close();
  }

  @Test
  @Timeout(60)
  void shouldDestroyAQueuePairWhoseDomainIsClosedWhileItIsCreated() throws Exception {
    FakeConnection connection = objects.withoutQueuePair();
    objects.device.calls.clear();
    objects.device.duringCreation = objects.onOtherThread(objects.domain::close);

    assertThatThrownBy(() -> connection.createQueuePair(objects.domain, objects.settings()))
        .isInstanceOf(IllegalStateException.class)
        .hasMessage("protection domain is closed");

    objects.other.join();
    assertThat(connection.queuePair()).isNull();
    objects.queue.close();
    assertThat(objects.device.calls)
        .containsExactly(
            "destroy queue pair", "free queue pair", "deallocate domain", "destroy queue");
  }

  @Test
  @Timeout(60)
  void shouldKeepItsManagerOpenUntilItsIdentifierIsDestroyed() throws Exception {
    FakeConnection connection = objects.resolved();
    objects.device.calls.clear();
    objects.device.duringIdentifierDestruction = objects.onOtherThread(objects.device::close);

    connection.close();

    objects.other.join();
    assertThat(objects.device.calls)
        .containsSubsequence("destroy queue pair", "destroy connection", "destroy manager")
        .endsWith("close device", "closed");
  }

  /** Without one the attempt would neither succeed nor fail. */
  @Test
  void shouldRefuseToResolveWithoutATimeout() {
    assertThatThrownBy(() -> objects.manager.resolve(FakeDevice.ADDRESS, null, null))
        .isInstanceOf(NullPointerException.class);
    assertThat(objects.device.openResources().connections()).isZero();
  }

  @Test
  void shouldStayBrokenWhenItsQueuePairBreaksBeforeItIsConnected() throws VerbsException {
    FakeConnection connection = objects.resolved();
    FakeQueuePair queuePair = connection.pair();
    assertThat(queuePair.markBroken()).isTrue();
    assertThat(queuePair.setReady()).isFalse();
    assertThat(queuePair.state()).isEqualTo(QueuePairState.ERROR);
    // Its receives are flushed, while the device would put messages of the peer into them.
    assertThatThrownBy(() -> connection.connect(PARAMETERS)).isInstanceOf(VerbsException.class);
  }
}
