// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.disni;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.ibm.disni.verbs.RdmaCmEvent;
import com.ibm.disni.verbs.RdmaCmEvent.EventType;
import com.ibm.disni.verbs.RdmaCmId;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.sparkrdma.verbs.CompletionChannel;
import org.sparkrdma.verbs.VerbsException;
import org.sparkrdma.verbs.cm.ConnectionEvent;
import org.sparkrdma.verbs.cm.ConnectionManager;
import org.sparkrdma.verbs.cm.Listener;
import org.sparkrdma.verbs.device.OpenResources;

/**
 * A creation that fails after its first native call destroys what it created, last first; and
 * failures of the threads that wait for DiSNI's events, and of what they do.
 */
@Timeout(60)
class DisniFailuresTest {
  private FakeDisni disni;
  private DisniDevice device;
  private CompletionChannel channel;
  private ConnectionManager manager;

  @BeforeEach
  void open() throws Exception {
    disni = FakeDisni.install();
    device = disni.device();
    disni.clear();
  }

  @AfterEach
  void close() throws Exception {
    device.close();
    disni.close();
  }

  private void createQueue() throws VerbsException {
    device.createCompletionQueue(8, device.createCompletionChannel(), 0);
  }

  private void assertNothingButChannels() {
    OpenResources open = device.openResources();
    assertThat(open.completionQueues()).isZero();
    assertThat(open.connectionManagers()).isZero();
  }

  @ParameterizedTest
  @CsvSource({
    "create queue, destroy completion channel",
    "prepare poll, destroy queue;destroy completion channel",
    "prepare notification, free poll;destroy queue;destroy completion channel",
    "start thread, free poll;destroy queue;destroy completion channel"
  })
  void shouldDestroyWhatWasCreatedWhenTheCreationOfAQueueFails(String failing, String destroyed) {
    // What is destroyed then cannot hide the first failure.
    disni.fail(failing, "destroy queue");
    assertThatThrownBy(this::createQueue).hasMessageContaining("cannot " + failing);
    assertThat(disni.calls().stream().filter(call -> call.matches("(destroy|free) .*")))
        .containsExactly(destroyed.split(";", -1));
    assertNothingButChannels();
  }

  @Test
  void shouldRefuseADeviceWhoseAddressBelongsToAnother() {
    assertThatThrownBy(() -> disni.device("fake1"))
        .isInstanceOf(VerbsException.class)
        .hasMessageContaining("the address belongs to another device");
    assertThat(disni.calls()).endsWith("destroy id", "destroy event channel");
  }

  @Test
  void shouldDestroyTheCompletionChannelOnceWhenTheQueueIsNotDestroyed() throws Exception {
    device.createCompletionQueue(8, null, 0);
    disni.clear();
    disni.fail("destroy queue");
    device.close();
    device.close();
    assertThat(disni.calls())
        .startsWith("free poll", "destroy queue", "destroy completion channel")
        .containsOnlyOnce("destroy queue", "destroy completion channel", "closed");
  }

  @Test
  void shouldDestroyOnceWhatWasCreated() throws Exception {
    createManager();
    assertThat(disni.calls()).containsExactly("create event channel");
    manager.close();
    assertThat(disni.calls()).containsExactly("create event channel", "destroy event channel");
  }

  @Test
  void shouldDestroyIdentifierAndChannelOfADeviceThatCannotBeBound() {
    disni.fail("bind");
    assertThatThrownBy(() -> disni.device())
        .isInstanceOf(VerbsException.class)
        .hasMessageContaining("cannot bind");
    assertThat(disni.calls())
        .containsExactly(
            "create event channel", "create id", "bind", "destroy id", "destroy event channel");
  }

  @Test
  void shouldLeaveNothingOfAManagerWhenTheSystemRefusesItsThread() {
    disni.fail("start thread");
    assertThatThrownBy(this::createManager).isInstanceOf(OutOfMemoryError.class);
    assertThat(disni.calls()).containsExactly("create event channel", "destroy event channel");
    assertNothingButChannels();
  }

  private void createManager() throws VerbsException {
    channel = device.createCompletionChannel();
    manager = device.createConnectionManager(channel);
  }

  private ConnectionEvent nextEvent() {
    ConnectionEvent event = manager.pollEvent();
    while (event == null && !Thread.currentThread().isInterrupted()) {
      channel.await(TimeUnit.SECONDS.toNanos(1));
      event = manager.pollEvent();
    }
    assertThat(event).isNotNull();
    return event;
  }

  private void assertDown(String reason) {
    ConnectionEvent down = nextEvent();
    assertThat(down.type()).isEqualTo(ConnectionEvent.Type.DEVICE_DOWN);
    assertThat(down.reason()).isEqualTo(reason);
  }

  @Test
  void shouldReportTheDeviceAsDownWhenItsConnectionEventsEnd() throws Exception {
    createManager();
    disni.fail("get event");
    assertDown("events of connections have ended; the log has the cause");
  }

  @Test
  void shouldReportTheDeviceAsDownWhenItsCompletionEventsEnd() throws Exception {
    createManager();
    // The double has no completion events.
    device.createCompletionQueue(8, channel, 0);
    assertDown("events of completions have ended; the log has the cause");
  }

  @Test
  void shouldAcceptTheNextRequestAfterOneThatFails() throws Exception {
    createManager();
    Listener listener =
        manager.listen(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 1);
    disni.fail("get peer");
    disni.clear();
    request(disni.newestId());
    request(disni.newestId());
    ConnectionEvent requested = nextEvent();
    assertThat(requested.type()).isEqualTo(ConnectionEvent.Type.CONNECT_REQUEST);
    assertThat(requested.listener()).isSameAs(listener);
    assertThat(disni.calls()).containsExactly("get peer", "destroy id", "get peer", "get address");
  }

  private void request(RdmaCmId listenerId) throws Exception {
    disni.raise(
        new RdmaCmEvent(
            EventType.RDMA_CM_EVENT_CONNECT_REQUEST.ordinal(), listenerId, FakeDisni.newId(null)));
  }
}
