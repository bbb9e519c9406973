// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.sparkrdma.verbs.CompletionChannel;
import org.sparkrdma.verbs.VerbsException;
import org.sparkrdma.verbs.cm.ConnectionEvent;
import org.sparkrdma.verbs.cm.Listener;
import org.sparkrdma.verbs.engine.RecordedDevice.RecordedConnection;

/** Events, listeners, connections and the end of a manager, on {@link RecordedDevice}. */
class EngineConnectionManagerTest {
  private static final Duration TIMEOUT = Duration.ofSeconds(1);

  private final RecordedDevice device = new RecordedDevice();
  private CompletionChannel channel;
  private RecordedDevice.Manager manager;

  @BeforeEach
  void open() throws VerbsException {
    channel = device.createCompletionChannel();
    manager = (RecordedDevice.Manager) device.createConnectionManager(channel);
  }

  private static InetSocketAddress at(int port) {
    return new InetSocketAddress(InetAddress.getLoopbackAddress(), port);
  }

  private RecordedConnection resolve(int port) {
    return (RecordedConnection) manager.resolve(at(port), null, TIMEOUT);
  }

  private static ConnectionEvent event(RecordedConnection connection) {
    return new ConnectionEvent(
        ConnectionEvent.Type.RESOLVED, connection, null, EngineConnectionManager.NO_DATA, "");
  }

  @Test
  void shouldKeepTheLastTrafficClassThatIsAllowed() {
    assertThat(manager.trafficClass()).isEmpty();
    manager.setTrafficClass(255);
    assertThat(manager.trafficClass()).hasValue(255);
    manager.setTrafficClass(0);
    for (int bad : List.of(-1, 256)) {
      assertThatThrownBy(() -> manager.setTrafficClass(bad))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("value=" + bad + " allowed=0 to 255");
    }
    assertThat(manager.trafficClass()).hasValue(0);
  }

  @Test
  void shouldRefuseAnUnresolvedAddressAndAnEmptyBacklog() {
    InetSocketAddress unresolved = InetSocketAddress.createUnresolved("host.invalid", 1);
    assertThatThrownBy(() -> manager.listen(unresolved, 1))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("an unresolved address");
    assertThatThrownBy(() -> manager.listen(at(1), 0))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("backlog=0");
    manager.listen(at(1), 1);
    assertThat(device.openResources().listeners()).isOne();
  }

  @Test
  void shouldGiveEventsInTheirOrderAndWakeTheOwnerForEach() {
    RecordedConnection first = resolve(1);
    RecordedConnection second = resolve(2);
    manager.offer(event(second));
    manager.offer(event(first));
    manager.offerOfDevice(ConnectionEvent.Type.DEVICE_DOWN, "refused by the test");
    assertThat(device.calls).containsExactly("wake up", "wake up", "wake up");
    assertThat(manager.pollEvent().connection()).isSameAs(second);
    assertThat(manager.pollEvent().connection()).isSameAs(first);
    ConnectionEvent ofDevice = manager.pollEvent();
    assertThat(ofDevice.type()).isEqualTo(ConnectionEvent.Type.DEVICE_DOWN);
    assertThat(ofDevice.connection()).isNull();
    assertThat(ofDevice.reason()).isEqualTo("refused by the test");
    assertThat(manager.pollEvent()).isNull();
  }

  @Test
  void shouldTakeEventsFromElsewhereOnlyWhenItHasNone() {
    RecordedConnection connection = resolve(1);
    manager.offer(event(connection));
    manager.elsewhere.add(event(connection));
    device.calls.clear();
    assertThat(manager.pollEvent()).isNotNull();
    assertThat(device.calls).isEmpty();
    assertThat(manager.pollEvent()).isNotNull();
    assertThat(device.calls).containsExactly("take events", "wake up");
    assertThat(manager.pollEvent()).isNull();
  }

  @Test
  void shouldDropTheEventsOfClosedConnections() {
    RecordedConnection open = resolve(1);
    RecordedConnection closed = resolve(2);
    manager.offer(event(closed));
    manager.offer(event(open));
    manager.offer(event(closed));
    manager.elsewhere.add(event(closed));
    closed.close();
    assertThat(manager.pollEvent().connection()).isSameAs(open);
    assertThat(manager.pollEvent()).isNull();
    assertThat(manager.elsewhere).isEmpty();
  }

  @Test
  void shouldReportARequestWithItsListenerAndItsPrivateData() {
    Listener listener = manager.listen(at(1), 1);
    RecordedConnection requested = manager.request(listener, 2);
    ConnectionEvent event = manager.pollEvent();
    assertThat(event.type()).isEqualTo(ConnectionEvent.Type.CONNECT_REQUEST);
    assertThat(event.connection()).isSameAs(requested);
    assertThat(event.listener()).isSameAs(listener);
    assertThat(event.privateData()).containsExactly(7);
    assertThat(device.calls).containsExactly("wake up", "polled from listener 1");
  }

  @Test
  void shouldFreeTheBacklogOfADroppedRequestToo() {
    Listener listener = manager.listen(at(1), 1);
    manager.request(listener, 2).close();
    device.calls.clear();
    assertThat(manager.pollEvent()).isNull();
    assertThat(device.calls).containsExactly("polled from listener 1", "take events");
  }

  @Test
  void shouldFindListenersAndConnectionsUntilTheyAreClosed() {
    Listener listener = manager.listen(at(1), 1);
    RecordedConnection initiated = resolve(2);
    RecordedConnection requested = manager.request(listener, 3);
    assertThat(manager.listener("listener 1")).isSameAs(listener);
    assertThat(manager.listeners()).hasSize(1);
    assertThat(manager.connection(initiated.id())).isSameAs(initiated);
    assertThat(manager.connection(requested.id())).isSameAs(requested);
    assertThat(manager.connection("unknown")).isNull();
    assertThat(device.openResources().connections()).isEqualTo(2);
    initiated.close();
    requested.close();
    listener.close();
    assertThat(manager.listener("listener 1")).isNull();
    assertThat(manager.connection(initiated.id())).isNull();
    assertThat(device.openResources().connections()).isZero();
    assertThat(device.openResources().listeners()).isZero();
  }

  @Test
  void shouldCloseOnlyTheUnpolledRequestsOfAClosedListener() {
    Listener closed = manager.listen(at(1), 1);
    Listener open = manager.listen(at(2), 1);
    RecordedConnection polled = manager.request(closed, 11);
    manager.pollEvent();
    manager.request(closed, 12);
    RecordedConnection ofOther = manager.request(open, 21);
    device.calls.clear();
    closed.close();
    closed.close();
    assertThat(device.calls).containsExactly("destroy listener 1", "close request 12");
    assertThat(polled.isClosed()).isFalse();
    assertThat(manager.pollEvent().connection()).isSameAs(ofOther);
  }

  @Test
  void shouldCloseListenersBeforeConnectionsAndItselfLast() {
    Listener listener = manager.listen(at(1), 1);
    resolve(2);
    manager.request(listener, 3);
    device.calls.clear();
    manager.close();
    assertThat(device.calls)
        .containsExactly(
            "stop events",
            "destroy listener 1",
            "close request 3",
            "close connection 2",
            "destroy manager");
    assertThat(device.openResources().connectionManagers()).isZero();
  }

  @Test
  void shouldCloseOnce() {
    manager.close();
    manager.close();
    assertThat(device.calls).containsExactly("stop events", "destroy manager");
  }

  @Test
  void shouldCloseConnectionsAlsoWhenAListenerFailsAndItselfWhenItIsClosedAgain() {
    manager.listen(at(1), 1);
    resolve(2);
    device.onDestroyListener =
        () -> {
          throw new IllegalStateException("refused by the test");
        };
    assertThatThrownBy(manager::close).hasMessage("refused by the test");
    assertThat(device.calls).containsExactly("stop events", "close connection 2");
    manager.close();
    assertThat(device.calls).endsWith("close connection 2", "destroy manager");
    assertThat(device.openResources().connectionManagers()).isZero();
  }

  @Test
  void shouldDropUnpolledEventsWhenItIsClosed() {
    manager.offerOfDevice(ConnectionEvent.Type.DEVICE_REMOVED, "");
    manager.close();
    assertThat(manager.pollEvent()).isNull();
  }

  @Test
  void shouldListenAndResolveNothingAfterClose() {
    assertThat(manager.isClosed()).isFalse();
    manager.close();
    assertThat(manager.isClosed()).isTrue();
    assertThatThrownBy(() -> manager.listen(at(1), 1))
        .isInstanceOf(IllegalStateException.class)
        .hasMessage("connection manager is closed");
    assertThatThrownBy(() -> resolve(2)).hasMessage("connection manager is closed");
  }

  @Test
  void shouldNotBeCountedWhenTheEngineRefusesIt() {
    device.refuses = true;
    assertThatThrownBy(() -> device.createConnectionManager(channel))
        .isInstanceOf(VerbsException.class);
    assertThat(device.openResources().connectionManagers()).isOne();
  }
}
