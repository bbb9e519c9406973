// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.engine;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.sparkrdma.verbs.VerbsException;
import org.sparkrdma.verbs.engine.RecordedDevice.RecordedConnection;

/** Address, requests and the end of a listener, on {@link RecordedDevice}. */
class EngineListenerTest {
  private final RecordedDevice device = new RecordedDevice();
  private RecordedDevice.Manager manager;
  private EngineListener listener;

  @BeforeEach
  void open() throws VerbsException {
    manager =
        (RecordedDevice.Manager) device.createConnectionManager(device.createCompletionChannel());
    listener = listen(1);
  }

  private EngineListener listen(int port) {
    return (EngineListener) manager.listen(at(port), 4);
  }

  private static InetSocketAddress at(int port) {
    return new InetSocketAddress(InetAddress.getLoopbackAddress(), port);
  }

  @Test
  void shouldShowTheAddressAndIdentifierThatItWasCreatedWith() {
    assertThat(listener.address()).isEqualTo(at(1));
    assertThat(listener.id()).isEqualTo("listener 1");
    assertThat(manager.listener("listener 1")).isSameAs(listener);
  }

  @Test
  void shouldDestroyItsIdentifierOnceAndLeaveItsManager() {
    EngineListener other = listen(2);
    listener.close();
    listener.close();
    assertThat(device.calls).containsExactly("destroy listener 1");
    assertThat(manager.listeners()).containsExactly(other);
    assertThat(other.isClosed()).isFalse();
  }

  @Test
  void shouldBeClosedAndUnknownBeforeItsIdentifierIsDestroyed() {
    assertThat(listener.isClosed()).isFalse();
    device.onDestroyListener =
        () -> {
          device.calls.add("closed=" + listener.isClosed());
          device.calls.add("known=" + (manager.listener("listener 1") != null));
        };
    listener.close();
    assertThat(device.calls).containsExactly("closed=true", "known=false", "destroy listener 1");
  }

  @Test
  void shouldCountEachRequestOnceWhetherItIsPolledOrDropped() {
    RecordedConnection polled = manager.request(listener, 10);
    RecordedConnection dropped = manager.request(listener, 11);
    device.calls.clear();
    assertThat(manager.pollEvent().connection()).isSameAs(polled);
    assertThat(device.calls).containsExactly("polled from listener 1");
    dropped.close();
    device.calls.clear();
    assertThat(manager.pollEvent()).isNull();
    assertThat(manager.pollEvent()).isNull();
    assertThat(device.calls)
        .containsExactly("polled from listener 1", "take events", "take events");
  }

  @Test
  void shouldCloseTheRequestsThatItsOwnerHasNotPolled() {
    RecordedConnection polled = manager.request(listener, 10);
    assertThat(manager.pollEvent().connection()).isSameAs(polled);
    RecordedConnection ofListener = manager.request(listener, 11);
    RecordedConnection ofOther = manager.request(listen(2), 12);
    listener.close();
    assertThat(polled.isClosed()).isFalse();
    assertThat(ofListener.isClosed()).isTrue();
    assertThat(manager.pollEvent().connection()).isSameAs(ofOther);
  }

  @Test
  @Timeout(60)
  void shouldKeepItsManagerOpenUntilItsIdentifierIsDestroyed() throws Exception {
    var closing = new AtomicReference<Thread>();
    device.onDestroyListener = () -> closing.set(FakeDevice.startUntilItWaits(manager::close));
    listener.close();
    closing.get().join();
    assertThat(device.calls)
        .containsExactly("stop events", "destroy listener 1", "destroy manager");
  }

  @Test
  void shouldBeClosedOnceWithItsManager() {
    manager.close();
    assertThat(listener.isClosed()).isTrue();
    listener.close();
    assertThat(device.calls).containsOnlyOnce("destroy listener 1");
  }
}
