// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.contract;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.Arrays;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.FutureTask;
import org.junit.jupiter.api.Test;
import org.sparkrdma.verbs.ProtectionDomain;
import org.sparkrdma.verbs.QueuePairState;
import org.sparkrdma.verbs.VerbsException;
import org.sparkrdma.verbs.WorkRequest;
import org.sparkrdma.verbs.WorkStatus;
import org.sparkrdma.verbs.cm.Connection;
import org.sparkrdma.verbs.cm.ConnectionEvent;
import org.sparkrdma.verbs.cm.ConnectionParameters;
import org.sparkrdma.verbs.cm.Listener;
import org.sparkrdma.verbs.device.Capability;

/** Connecting, rejecting and disconnecting. */
public abstract class ConnectionContract extends VerbsContract {
  @Test
  void shouldConnectAndBeReadyToSendAtBothEnds() throws Exception {
    Pair pair = connect();
    assertThat(pair.client().state()).isEqualTo(QueuePairState.READY_TO_SEND);
    assertThat(pair.server().state()).isEqualTo(QueuePairState.READY_TO_SEND);
    assertThat(pair.clientEnd().remoteAddress().getAddress()).isEqualTo(engine().address());
    assertThat(pair.clientEnd().localAddress().getPort())
        .isEqualTo(pair.serverEnd().remoteAddress().getPort());
  }

  @Test
  void shouldCarryThePrivateDataOfRequestAndReply() throws Exception {
    assumeCan(Capability.ACCEPT_PRIVATE_DATA);
    byte[] question = pattern(client.device.info().limits().maxPrivateDataBytes(), 1);
    byte[] answer = pattern(client.device.info().limits().maxPrivateDataBytes(), 101);
    try (Listener listener = server.listen(engine())) {
      Connection asking = prepare(listener.address());
      asking.connect(withPrivateData(question));
      ConnectionEvent request = event(server, ConnectionEvent.Type.CONNECT_REQUEST);
      assertThat(Arrays.copyOf(request.privateData(), question.length)).isEqualTo(question);
      assertThat(request.listener()).isSameAs(listener);
      request.connection().createQueuePair(server.domain, server.settings());
      request.connection().accept(withPrivateData(answer));
      ConnectionEvent reply = event(client, ConnectionEvent.Type.ESTABLISHED);
      assertThat(Arrays.copyOf(reply.privateData(), answer.length)).isEqualTo(answer);
    }
  }

  @Test
  void shouldReportTheReasonOfARejection() throws Exception {
    assumeCan(Capability.REJECT);
    byte[] reason = pattern(20, 7);
    try (Listener listener = server.listen(engine())) {
      Connection asking = prepare(listener.address());
      asking.connect(parameters());
      Connection asked = event(server, ConnectionEvent.Type.CONNECT_REQUEST).connection();
      asked.reject(reason);
      asked.close();
      ConnectionEvent rejected = event(client, ConnectionEvent.Type.REJECTED);
      assertThat(Arrays.copyOf(rejected.privateData(), reason.length)).isEqualTo(reason);
      assertThat(asking.queuePair().state()).isNotEqualTo(QueuePairState.READY_TO_SEND);
    }
  }

  @Test
  void shouldFailToConnectWithoutAListener() throws Exception {
    InetSocketAddress address;
    try (Listener listener = server.listen(engine())) {
      address = listener.address();
    }
    Connection asking = prepare(address);
    asking.connect(parameters());
    until(() -> !client.events.isEmpty());
    ConnectionEvent event = client.events.remove();
    assertThat(event.type())
        .isIn(
            ConnectionEvent.Type.REJECTED,
            ConnectionEvent.Type.UNREACHABLE,
            ConnectionEvent.Type.CONNECT_ERROR);
    assertThat(event.connection()).isSameAs(asking);
    assertThat(event.reason()).isNotEmpty();
  }

  @Test
  void shouldTimeOutWhenThePeerDoesNotAnswer() throws Exception {
    try (Listener listener = server.listen(engine())) {
      Connection asking = prepare(listener.address());
      asking.connect(new ConnectionParameters(new byte[0], 16, 6, 7, 17, Duration.ofMillis(500)));
      // The server's requests are not polled; the channel wakes at the time-out.
      while (!client.poll()) {
        client.channel.await(Duration.ofSeconds(30).toNanos());
      }
      ConnectionEvent event = client.events.remove();
      assertThat(event.type()).isEqualTo(ConnectionEvent.Type.UNREACHABLE);
      assertThat(event.connection()).isSameAs(asking);
      assertThat(event.reason()).isNotEmpty();
      assertThat(asking.queuePair().state()).isNotEqualTo(QueuePairState.READY_TO_SEND);
    }
  }

  @Test
  void shouldReportADisconnectOnceToBothEnds() throws Exception {
    Pair pair = connect();
    pair.clientEnd().disconnect();
    pair.clientEnd().disconnect();
    event(client, ConnectionEvent.Type.DISCONNECTED);
    event(server, ConnectionEvent.Type.DISCONNECTED);
    assertThat(pair.client().state()).isEqualTo(QueuePairState.ERROR);
    assertThat(pair.server().state()).isEqualTo(QueuePairState.ERROR);
    pair.serverEnd().disconnect();
    pair.clientEnd().close();
    pair.serverEnd().close();
    client.poll();
    server.poll();
    assertThat(client.events).isEmpty();
    assertThat(server.events).isEmpty();
  }

  @Test
  void shouldReportToThePeerThatAnEndWasClosed() throws Exception {
    Pair pair = connect();
    pair.serverEnd().close();
    event(client, ConnectionEvent.Type.DISCONNECTED);
    assertThat(pair.client().state()).isEqualTo(QueuePairState.ERROR);
    assertThat(pair.server().state()).isEqualTo(QueuePairState.DESTROYED);
  }

  @Test
  void shouldReportToThePeerThatTheDeviceWasClosed() throws Exception {
    connect();
    server.close();
    event(client, ConnectionEvent.Type.DISCONNECTED);
  }

  @Test
  void shouldFlushPostedWorkWhenDisconnected() throws Exception {
    Pair pair = connect();
    Node.Block block = client.block(64, 0, Node.SINK);
    pair.client().postReceive(block.receive(1));
    pair.client().postReceive(block.receive(2));
    pair.client().postSend(block.send(3));
    pair.serverEnd().disconnect();
    until(() -> client.results.size() == 3);
    boolean sent = engine().deviates(Deviation.SENDS_SUCCEED_WHEN_SENT);
    client.results.removeIf(result -> sent && result.id() == 3 && result.succeeded());
    assertThat(client.results).allMatch(result -> result.status() == WorkStatus.FLUSH_ERROR);
  }

  @Test
  void shouldConnectQueuePairsThatAnotherThreadHasCreated() throws Exception {
    try (Listener listener = server.listen(engine())) {
      Connection asking = client.resolve(listener.address());
      event(client, ConnectionEvent.Type.RESOLVED);
      createOnAnotherThread(asking, client);
      asking.connect(parameters());
      Connection asked = event(server, ConnectionEvent.Type.CONNECT_REQUEST).connection();
      createOnAnotherThread(asked, server);
      asked.accept(parameters());
      event(client, ConnectionEvent.Type.ESTABLISHED);
      assertReads(asking, server);
    }
  }

  /** A connection of the client reads memory of its peer. */
  private void assertReads(Connection connection, Node peer) throws Exception {
    Node.Block source = peer.block(100, 5, Node.READABLE);
    Node.Block sink = client.block(100, 0, Node.SINK);
    read(client, connection.queuePair(), sink, source.region());
    assertThat(sink.bytes()).isEqualTo(source.bytes());
  }

  private static void createOnAnotherThread(Connection connection, Node of) throws Exception {
    var creation = new FutureTask<>(() -> connection.createQueuePair(of.domain, of.settings()));
    new Thread(creation, "creates a queue pair").start();
    assertThat(creation.get()).isSameAs(connection.queuePair());
  }

  @Test
  void shouldConnectTwoQueuePairsOfOneDevice() throws Exception {
    try (Listener listener = client.listen(engine())) {
      Connection asking = prepare(listener.address());
      asking.connect(parameters());
      accept(client);
      event(client, ConnectionEvent.Type.ESTABLISHED);
      event(client, ConnectionEvent.Type.ESTABLISHED);
      assertReads(asking, client);
    }
  }

  @Test
  void shouldKeepConnectionsApart() throws Exception {
    Pair first = connect();
    Pair second = connect();
    assertThat(first.client().number()).isNotEqualTo(second.client().number());
    first.serverEnd().disconnect();
    event(client, ConnectionEvent.Type.DISCONNECTED);
    assertReads(second.clientEnd(), server);
  }

  @Test
  void shouldDropUnpolledRequestsWhenTheListenerIsClosed() throws Exception {
    Listener listener = server.listen(engine());
    Connection asking = prepare(listener.address());
    asking.connect(parameters());
    spinUntil(() -> server.device.openResources().connections() == 1);
    listener.close();
    listener.close();
    until(() -> !client.events.isEmpty());
    assertThat(client.events.remove().type())
        .isIn(ConnectionEvent.Type.REJECTED, ConnectionEvent.Type.CONNECT_ERROR);
  }

  @Test
  void shouldConnectAndCloseManyTimes() throws Exception {
    for (int i = 0; i < 200 / engine().shorter(); i++) {
      Pair pair = connect();
      (i % 2 == 0 ? pair.clientEnd() : pair.serverEnd()).close();
      event(i % 2 == 0 ? server : client, ConnectionEvent.Type.DISCONNECTED);
      pair.clientEnd().close();
      pair.serverEnd().close();
    }
    assertThat(client.device.openResources().connections()).isZero();
    assertThat(server.device.openResources().queuePairs()).isZero();
  }

  @Test
  void shouldRefuseMisuseOfAConnection() throws Exception {
    try (Listener listener = server.listen(engine())) {
      Connection connection = client.resolve(listener.address());
      assertThatThrownBy(() -> connection.connect(parameters()))
          .isInstanceOf(IllegalStateException.class);
      assertThatThrownBy(() -> connection.accept(parameters()))
          .isInstanceOf(IllegalStateException.class);
      assertThatThrownBy(() -> connection.reject(new byte[0]))
          .isInstanceOf(IllegalStateException.class);
      event(client, ConnectionEvent.Type.RESOLVED);
      connection.createQueuePair(client.domain, client.settings());
      assertThatThrownBy(() -> connection.createQueuePair(client.domain, client.settings()))
          .isInstanceOf(IllegalStateException.class);
      WorkRequest send = new WorkRequest(1).send(1);
      assertThatThrownBy(() -> connection.queuePair().postSend(send))
          .isInstanceOf(IllegalStateException.class);
      assertThat(connection.queuePair().state()).isEqualTo(QueuePairState.INIT);
      byte[] tooLong = new byte[client.device.info().limits().maxPrivateDataBytes() + 1];
      assertThatThrownBy(() -> connection.connect(withPrivateData(tooLong)))
          .isInstanceOf(IllegalArgumentException.class);
    }
  }

  @Test
  void shouldCreateNoQueuePairInAClosedProtectionDomain() throws Exception {
    ProtectionDomain closed = client.device.allocateProtectionDomain();
    closed.close();
    try (Listener listener = server.listen(engine());
        Connection connection = client.resolve(listener.address())) {
      event(client, ConnectionEvent.Type.RESOLVED);
      assertThatThrownBy(() -> connection.createQueuePair(closed, client.settings()))
          .isInstanceOf(IllegalStateException.class)
          .hasMessage("protection domain is closed");
      assertThat(connection.queuePair()).isNull();
      connection.createQueuePair(client.domain, client.settings());
      assertThat(client.device.openResources().queuePairs()).isOne();
    }
    // Which a queue pair that was not destroyed prevents.
    client.close();
  }

  @Test
  void shouldHaveClosedAConnectionWhenTheCloseOfEitherThreadReturns() throws Exception {
    for (int i = 0; i < 40 / engine().shorter(); i++) {
      Pair pair = connect();
      var left = new ConcurrentLinkedQueue<Integer>();
      var start = new CyclicBarrier(2);
      Callable<Void> close =
          () -> {
            start.await();
            pair.clientEnd().close();
            left.add(client.device.openResources().queuePairs());
            left.add(client.device.openResources().connections());
            return null;
          };
      var other = new FutureTask<>(close);
      new Thread(other, "second close").start();
      close.call();
      other.get();
      assertThat(left).containsExactly(0, 0, 0, 0);
      event(server, ConnectionEvent.Type.DISCONNECTED);
      pair.serverEnd().close();
    }
  }

  @Test
  void shouldListenOnIpv6AsWell() throws Exception {
    if (!client.device.info().can(Capability.IPV6)) {
      var any = new InetSocketAddress(InetAddress.getByAddress(new byte[16]), 0);
      assertThatThrownBy(() -> server.manager.listen(any, 4))
          .isInstanceOf(VerbsException.class)
          .hasMessageContaining("IPv4");
      return;
    }
    assumeTrue(engine().addressV6() != null, "the device has no IPv6 address");
    var address = new InetSocketAddress(engine().addressV6(), 0);
    try (Listener listener = server.manager.listen(address, 4)) {
      Connection asking = prepare(listener.address());
      asking.connect(parameters());
      accept(server);
      event(client, ConnectionEvent.Type.ESTABLISHED);
    }
  }

  @Test
  void shouldConnectWithATrafficClassThatIsAByte() throws Exception {
    client.manager.setTrafficClass(104);
    server.manager.setTrafficClass(255);
    Pair pair = connect();
    assertThat(pair.client().state()).isEqualTo(QueuePairState.READY_TO_SEND);
    for (int value : new int[] {-1, 256}) {
      assertThatThrownBy(() -> client.manager.setTrafficClass(value))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("value=" + value + " allowed=0 to 255");
    }
  }

  static byte[] pattern(int length, int first) {
    byte[] bytes = new byte[length];
    for (int i = 0; i < length; i++) {
      bytes[i] = (byte) (first + i);
    }
    return bytes;
  }
}
