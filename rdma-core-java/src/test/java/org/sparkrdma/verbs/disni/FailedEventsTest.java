// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.disni;

import static org.assertj.core.api.Assertions.assertThat;

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
import org.sparkrdma.verbs.CompletionChannel;
import org.sparkrdma.verbs.cm.ConnectionEvent;
import org.sparkrdma.verbs.cm.ConnectionManager;
import org.sparkrdma.verbs.cm.Listener;

/** Failures of the threads that wait for DiSNI's events, and of what they do. */
@Timeout(60)
class FailedEventsTest {
  private FakeDisni disni;
  private DisniDevice device;
  private CompletionChannel channel;
  private ConnectionManager manager;

  @BeforeEach
  void open() throws Exception {
    disni = FakeDisni.install();
    device = disni.device();
    channel = device.createCompletionChannel();
    manager = device.createConnectionManager(channel);
  }

  @AfterEach
  void close() throws Exception {
    device.close();
    disni.close();
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
  void shouldReportTheDeviceAsDownWhenItsConnectionEventsEnd() {
    disni.fail("get event");
    assertDown("events of connections have ended; the log has the cause");
  }

  @Test
  void shouldReportTheDeviceAsDownWhenItsCompletionEventsEnd() throws Exception {
    // The double has no completion events.
    device.createCompletionQueue(8, channel, 0);
    assertDown("events of completions have ended; the log has the cause");
  }

  @Test
  void shouldAcceptTheNextRequestAfterOneThatFails() throws Exception {
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
            EventType.RDMA_CM_EVENT_CONNECT_REQUEST.ordinal(), listenerId, FakeCm.newId(null)));
  }
}
