// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.contract;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;
import org.sparkrdma.verbs.HostMemory;
import org.sparkrdma.verbs.MemoryRegion;
import org.sparkrdma.verbs.QueuePairSettings;
import org.sparkrdma.verbs.QueuePairState;
import org.sparkrdma.verbs.WorkRequest;
import org.sparkrdma.verbs.WorkStatus;
import org.sparkrdma.verbs.cm.Connection;
import org.sparkrdma.verbs.cm.ConnectionEvent;
import org.sparkrdma.verbs.cm.ConnectionParameters;
import org.sparkrdma.verbs.cm.Listener;
import org.sparkrdma.verbs.device.DeviceLimits;

/** Work at the limits that a device declares, and just beyond them. */
public abstract class LimitContract extends VerbsContract {
  @Test
  void shouldGatherAndScatterAsManyElementsAsTheDeviceAllows() throws Exception {
    int elements = limits().maxSge();
    Pair pair = connect(withElements(client, elements), withElements(server, elements));
    Node.Block message = client.block(3 * elements, 0, Node.SINK);
    message.memory().slice(0, 3 * elements).put(ConnectionContract.pattern(3 * elements, 1));
    Node.Block inbox = server.block(3 * elements, 0, Node.SINK);
    WorkRequest receive = new WorkRequest(elements).receive(1);
    WorkRequest send = new WorkRequest(elements).send(2).signalled();
    for (int i = 0; i < elements; i++) {
      receive.local(inbox.region(), 3L * i, 3);
      send.local(message.region(), 3L * i, 3);
    }

    pair.server().postReceive(receive);
    pair.client().postSend(send);

    assertThat(result(server).bytes()).isEqualTo(3L * elements);
    assertThat(result(client).status()).isEqualTo(WorkStatus.SUCCESS);
    assertThat(inbox.bytes()).isEqualTo(message.bytes());
  }

  @Test
  void shouldScatterAReadOverAsManyElementsAsTheDeviceAllows() throws Exception {
    int elements = limits().maxReadSge();
    Pair pair = connect(withElements(client, elements), server.settings());
    Node.Block source = server.block(3 * elements, 0, Node.READABLE);
    source.memory().slice(0, 3 * elements).put(ConnectionContract.pattern(3 * elements, 1));
    Node.Block sink = client.block(3 * elements, 0, Node.SINK);
    WorkRequest read =
        new WorkRequest(elements)
            .read(1, source.region().address(), source.region().remote().remoteKey())
            .signalled();
    for (int i = elements - 1; i >= 0; i--) {
      read.local(sink.region(), 3L * i, 3);
    }

    pair.client().postSend(read);

    assertThat(result(client).bytes()).isEqualTo(3L * elements);
    for (int i = 0; i < elements; i++) {
      int from = 1 + 3 * (elements - 1 - i);
      assertThat(sink.bytes(3 * i, 3)).isEqualTo(ConnectionContract.pattern(3, from));
    }
  }

  @Test
  void shouldRefuseAMessageOverTheMaximum() throws Exception {
    int elements = limits().maxSge();
    // The elements cover the same bytes, so the memory may be shorter than the message.
    int length = Math.toIntExact(limits().maxMessageBytes() / elements + 1);
    Pair pair = connect(withElements(client, elements), server.settings());
    try (HostMemory memory = client.device.allocate(length);
        MemoryRegion region = client.domain.register(memory, 0, length, Node.SINK)) {
      WorkRequest tooLong = new WorkRequest(elements).send(1);
      for (int i = 0; i < elements; i++) {
        tooLong.local(region, 0, length);
      }
      assertThatThrownBy(() -> pair.client().postSend(tooLong))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("limit=" + limits().maxMessageBytes());
    }
    Node.Block source = server.block(1, 7, Node.READABLE);
    Node.Block sink = client.block(1, 0, Node.SINK);
    read(client, pair.client(), sink, source.region());
  }

  @Test
  void shouldReadMoreThanTheInitiatorDepthAtOnce() throws Exception {
    ConnectionParameters oneInFlight =
        new ConnectionParameters(new byte[0], 1, 6, 7, 17, ANSWER_TIMEOUT);
    Pair pair = connect(client.settings(), server.settings(), oneInFlight);
    Node.Block source = server.block(Node.DEPTH * 1000, 0, Node.READABLE);
    source.memory().slice(0, Node.DEPTH * 1000).put(ConnectionContract.pattern(64_000, 1));
    Node.Block sink = client.block(Node.DEPTH * 1000, 0, Node.SINK);
    for (int i = 0; i < Node.DEPTH; i++) {
      WorkRequest read = sink.read(i, source.region(), 1000L * i, 1000L * i, 1000);
      assertThat(pair.client().postSend(read)).isTrue();
    }

    for (int i = 0; i < Node.DEPTH; i++) {
      assertThat(success(client).id()).isEqualTo(i);
    }
    assertThat(sink.bytes()).isEqualTo(source.bytes());
  }

  @Test
  void shouldReceiveIntoBuffersPostedBeforeConnecting() throws Exception {
    Node.Block here = client.block(8, 0, Node.SINK);
    Node.Block there = server.block(8, 0, Node.SINK);
    Node.Block message = client.block(8, 5, Node.SINK);
    Node.Block answer = server.block(8, 6, Node.SINK);
    try (Listener listener = server.listen(engine())) {
      Connection asking = prepare(listener.address());
      assertThat(asking.queuePair().state()).isEqualTo(QueuePairState.INIT);
      assertThat(asking.queuePair().postReceive(here.receive(1))).isTrue();
      assertThatThrownBy(() -> asking.queuePair().postSend(message.send(2)))
          .isInstanceOf(IllegalStateException.class);
      asking.connect(retriesForever());
      Connection asked = event(server, ConnectionEvent.Type.CONNECT_REQUEST).connection();
      asked.createQueuePair(server.domain, server.settings());
      assertThat(asked.queuePair().postReceive(there.receive(3))).isTrue();
      asked.accept(retriesForever());
      event(client, ConnectionEvent.Type.ESTABLISHED);
      event(server, ConnectionEvent.Type.ESTABLISHED);

      // The initiator sends first, as iWARP requires.
      asking.queuePair().postSend(message.send(4));
      assertThat(result(server).id()).isEqualTo(3);
      asked.queuePair().postSend(answer.send(5));

      until(() -> client.results.size() == 2);
      assertThat(client.results).extracting(Result::id).containsExactlyInAnyOrder(1L, 4L);
      assertThat(there.bytes()).containsOnly(5);
      assertThat(here.bytes()).containsOnly(6);
    }
  }

  private DeviceLimits limits() {
    return client.device.info().limits();
  }

  private static QueuePairSettings withElements(Node node, int elements) {
    return new QueuePairSettings(node.queue, node.queue, 64, 64, elements, Node.REMOTE);
  }
}
