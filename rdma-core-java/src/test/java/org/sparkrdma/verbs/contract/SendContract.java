// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.contract;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.sparkrdma.verbs.Opcode;
import org.sparkrdma.verbs.QueuePair;
import org.sparkrdma.verbs.QueuePairSettings;
import org.sparkrdma.verbs.QueuePairState;
import org.sparkrdma.verbs.WorkRequest;
import org.sparkrdma.verbs.WorkStatus;
import org.sparkrdma.verbs.cm.ConnectionEvent;
import org.sparkrdma.verbs.cm.ConnectionParameters;
import org.sparkrdma.verbs.device.Capability;

/** SEND and receive: data, order and back-pressure. */
public abstract class SendContract extends VerbsContract {
  @Test
  void shouldSendIntoThePostedReceive() throws Exception {
    Pair pair = connect();
    Node.Block message = client.block(100, 7, Node.SINK);
    Node.Block inbox = server.block(200, 0, Node.SINK);
    pair.server().postReceive(inbox.receive(11));
    pair.client().postSend(message.send(22));
    assertThat(result(server))
        .isEqualTo(
            new Result(11, WorkStatus.SUCCESS, pair.server().number(), Opcode.RECEIVE, 100, null));
    Result sent = result(client);
    assertThat(sent.id()).isEqualTo(22);
    assertThat(sent.opcode()).isEqualTo(Opcode.SEND);
    assertThat(inbox.bytes(0, 100)).isEqualTo(message.bytes());
    assertThat(inbox.bytes(100, 100)).containsOnly(0);
  }

  @Test
  void shouldCompleteASendAfterTheReadsBeforeIt() throws Exception {
    int length = 1 << 20;
    Pair pair = connect();
    Node.Block source = server.block(length, 7, Node.READABLE);
    Node.Block sink = client.block(length, 0, Node.SINK);
    pair.server().postReceive(server.block(length, 0, Node.SINK).receive(9));
    WorkRequest read =
        new WorkRequest(1)
            .read(1, source.region().address(), source.region().remote().remoteKey())
            .local(sink.region(), 0, length);
    WorkRequest[] both = {read, sink.send(2)};
    pair.client().postSend(both, 0, 2);
    assertThat(result(client).id()).isEqualTo(2);
    assertThat(sink.bytes()).containsOnly(7);
    success(server);
  }

  @Test
  void shouldSendImmediateData() throws Exception {
    Pair pair = connect();
    Node.Block message = client.block(8, 7, Node.SINK);
    if (!client.device.info().can(Capability.SEND_WITH_IMMEDIATE)) {
      assertRefused(() -> pair.client().postSend(new WorkRequest(1).sendWithImmediate(2, 3)));
      return;
    }
    Node.Block inbox = server.block(8, 0, Node.SINK);
    pair.server().postReceive(inbox.receive(1));
    pair.client()
        .postSend(
            new WorkRequest(1).sendWithImmediate(2, 0xcafe_babe).local(message.region(), 0, 8));
    Result received = result(server);
    assertThat(received.immediate()).isEqualTo(0xcafe_babe);
    assertThat(received.opcode()).isEqualTo(Opcode.RECEIVE);
  }

  @Test
  void shouldSendAnEmptyMessage() throws Exception {
    Pair pair = connect();
    pair.server().postReceive(new WorkRequest(1).receive(1));
    pair.client().postSend(new WorkRequest(1).send(2).signalled());
    assertThat(result(server).bytes()).isZero();
    assertThat(result(client).status()).isEqualTo(WorkStatus.SUCCESS);
  }

  @Test
  void shouldSendBothWaysAtOnce() throws Exception {
    Pair pair = connect();
    Node.Block here = client.block(4096, 1, Node.SINK);
    Node.Block there = server.block(4096, 2, Node.SINK);
    for (int i = 0; i < Node.DEPTH; i++) {
      pair.client().postReceive(here.receive(i));
      pair.server().postReceive(there.receive(i));
    }
    for (int i = 0; i < Node.DEPTH; i++) {
      pair.client().postSend(here.send(1000 + i));
      pair.server().postSend(there.send(1000 + i));
    }
    until(() -> client.results.size() == 2 * Node.DEPTH);
    until(() -> server.results.size() == 2 * Node.DEPTH);
    for (Node node : List.of(client, server)) {
      assertThat(node.results).allMatch(result -> result.status() == WorkStatus.SUCCESS);
      assertInOrder(node, 0);
      assertInOrder(node, 1000);
    }
  }

  private static void assertInOrder(Node node, long first) {
    assertThat(node.results.stream().map(Result::id).filter(id -> id / 1000 == first / 1000))
        .isSorted()
        .hasSize(Node.DEPTH);
  }

  @Test
  void shouldGatherAndScatterALongMessage() throws Exception {
    int length = 3_000_000;
    Pair pair = connect();
    Node.Block message = client.block(length, 0, Node.SINK);
    message.memory().slice(0, length).put(ConnectionContract.pattern(length, 1));
    Node.Block inbox = server.block(length, 0, Node.SINK);
    pair.server()
        .postReceive(
            new WorkRequest(3)
                .receive(1)
                .local(inbox.region(), 0, 1)
                .local(inbox.region(), 1, 2_000_000)
                .local(inbox.region(), 2_000_001, length - 2_000_001));
    pair.client()
        .postSend(
            new WorkRequest(3)
                .send(2)
                .local(message.region(), 0, 1_234_567)
                .local(message.region(), 1_234_567, length - 1_234_567 - 3)
                .local(message.region(), length - 3, 3));
    assertThat(result(server).bytes()).isEqualTo(length);
    assertThat(inbox.bytes()).isEqualTo(message.bytes());
  }

  @Test
  void shouldCompleteAnUnsignalledSendSilently() throws Exception {
    Pair pair = connect();
    Node.Block block = client.block(8, 7, Node.SINK);
    Node.Block inbox = server.block(8, 0, Node.SINK);
    for (int i = 0; i < 3; i++) {
      pair.server().postReceive(inbox.receive(i));
      WorkRequest send = new WorkRequest(1).send(i).local(block.region(), 0, 8);
      pair.client().postSend(i == 2 ? send.signalled() : send);
    }
    until(() -> server.results.size() == 3);
    assertThat(result(client).id()).isEqualTo(2);
    assertThat(client.results).isEmpty();
  }

  @Test
  void shouldAcceptNoMoreWorkThanTheDepthOfTheSendQueue() throws Exception {
    assumeConforms(Deviation.RECEIVER_MUST_BE_READY);
    Pair pair = connect(depth(4, client), server.settings());
    Node.Block block = client.block(8, 7, Node.SINK);
    WorkRequest unsignalled = new WorkRequest(1).send(1).local(block.region(), 0, 8);
    for (int i = 0; i < 3; i++) {
      assertThat(pair.client().postSend(unsignalled)).isTrue();
    }
    assertThat(pair.client().postSend(block.send(4))).isTrue();
    assertThat(pair.client().postSend(block.send(5))).isFalse();
    Node.Block inbox = server.block(8, 0, Node.SINK);
    for (int i = 0; i < 4; i++) {
      pair.server().postReceive(inbox.receive(i));
    }
    assertThat(result(client).id()).isEqualTo(4);
    WorkRequest[] five = {unsignalled, unsignalled, unsignalled, unsignalled, unsignalled};
    assertThat(pair.client().postSend(five, 0, five.length)).isEqualTo(4);
  }

  @Test
  void shouldAcceptNoMoreWorkThanTheDepthOfTheReceiveQueue() throws Exception {
    Pair pair = connect(client.settings(), depth(4, server));
    Node.Block inbox = server.block(8, 0, Node.SINK);
    for (int i = 0; i < 4; i++) {
      assertThat(pair.server().postReceive(inbox.receive(i))).isTrue();
    }
    assertThat(pair.server().postReceive(inbox.receive(4))).isFalse();
    pair.client().postSend(client.block(8, 7, Node.SINK).send(1));
    assertThat(result(server).id()).isZero();
    assertThat(pair.server().postReceive(inbox.receive(4))).isTrue();
  }

  @Test
  void shouldWaitForAReceiverThatIsNotReady() throws Exception {
    assumeConforms(Deviation.RECEIVER_MUST_BE_READY);
    Pair pair = connect();
    Node.Block message = client.block(100_000, 7, Node.SINK);
    Node.Block inbox = server.block(100_000, 0, Node.SINK);
    for (int i = 0; i < 5; i++) {
      pair.client().postSend(message.send(i));
    }
    for (int i = 0; i < 5; i++) {
      assertThat(client.results).isEmpty();
      pair.server().postReceive(inbox.receive(100 + i));
      assertThat(result(server).id()).isEqualTo(100 + i);
      assertThat(result(client).id()).isEqualTo(i);
    }
    assertThat(inbox.bytes()).isEqualTo(message.bytes());
  }

  @Test
  void shouldFailWhenTheReceiverIsNotReadyForTooLong() throws Exception {
    assumeConforms(Deviation.RECEIVER_MUST_BE_READY);
    Pair pair = connect(client.settings(), server.settings(), rnrRetries(2));
    Node.Block message = client.block(8, 7, Node.SINK);
    pair.client().postSend(message.send(1));
    pair.client().postSend(message.send(2));
    Result failed = result(client);
    assertThat(failed.id()).isEqualTo(1);
    assertThat(failed.status()).isEqualTo(WorkStatus.RECEIVER_NOT_READY_RETRY_EXCEEDED);
    assertThat(result(client).status()).isEqualTo(WorkStatus.FLUSH_ERROR);
    event(client, ConnectionEvent.Type.DISCONNECTED);
    event(server, ConnectionEvent.Type.DISCONNECTED);
  }

  @Test
  void shouldNotDelayOtherConnectionsWhenOneReceiverIsNotReady() throws Exception {
    assumeConforms(Deviation.RECEIVER_MUST_BE_READY);
    Pair stuck = connect();
    Pair other = connect();
    Node.Block message = client.block(8, 7, Node.SINK);
    Node.Block inbox = server.block(8, 0, Node.SINK);
    stuck.client().postSend(message.send(1));
    other.server().postReceive(inbox.receive(2));
    other.client().postSend(message.send(3));
    assertThat(result(client).id()).isEqualTo(3);
    stuck.server().postReceive(inbox.receive(4));
    assertThat(result(client).id()).isEqualTo(1);
  }

  @Test
  void shouldFailBothEndsWhenTheMessageIsLongerThanTheReceive() throws Exception {
    Pair pair = connect();
    Node.Block message = client.block(100, 7, Node.SINK);
    Node.Block inbox = server.block(99, 0, Node.SINK);
    pair.server().postReceive(inbox.receive(1));
    pair.server().postReceive(inbox.receive(2));
    pair.client().postSend(message.send(3));
    Result tooShort = result(server);
    assertThat(tooShort.id()).isEqualTo(1);
    assertReceiveFailed(tooShort, WorkStatus.LOCAL_LENGTH_ERROR);
    assertThat(result(server).status()).isEqualTo(WorkStatus.FLUSH_ERROR);
    Result refused = result(client);
    assertThat(refused.id()).isEqualTo(3);
    assertThat(refused.succeeded() && !engine().deviates(Deviation.SENDS_SUCCEED_WHEN_SENT))
        .isFalse();
    assertThat(inbox.bytes()).containsOnly(0);
    event(client, ConnectionEvent.Type.DISCONNECTED);
    event(server, ConnectionEvent.Type.DISCONNECTED);
  }

  /** The first message arrives before its receiver looks, the second before its sender does. */
  @Test
  void shouldKeepAndAcknowledgeMessagesBeforeADisconnectAtOnce() throws Exception {
    Node.Block inbox = server.block(8, 0, Node.SINK);
    Node.Block message = client.block(8, 7, Node.SINK);
    Pair pair = connect();
    pair.server().postReceive(inbox.receive(1));
    pair.client().postSend(message.send(2));
    success(client);
    pair.clientEnd().close();
    event(server, ConnectionEvent.Type.DISCONNECTED);
    success(server);
    assertThat(inbox.bytes()).containsOnly(7);
    Pair other = connect();
    other.server().postReceive(inbox.receive(3));
    other.client().postSend(message.send(4));
    success(server);
    other.serverEnd().disconnect();
    success(client);
  }

  @Test
  void shouldRefuseWorkThatBreaksALimit() throws Exception {
    Pair pair = connect(depth(4, client), depth(4, server));
    Node.Block block = client.block(8, 7, Node.SINK);
    Node.Block readOnly = client.block(8, 7, Set.of(org.sparkrdma.verbs.AccessFlag.REMOTE_READ));
    WorkRequest two =
        new WorkRequest(2).send(1).local(block.region(), 0, 1).local(block.region(), 1, 1);
    assertRefused(() -> pair.client().postSend(two));
    assertRefused(() -> pair.client().postSend(block.receive(1)));
    assertRefused(() -> pair.client().postReceive(block.send(1)));
    assertRefused(() -> pair.client().postReceive(readOnly.receive(1)));
    assertRefused(() -> pair.client().postSend(new WorkRequest(1)));
    Node.Block foreign = server.block(8, 7, Node.SINK);
    assertRefused(() -> pair.client().postSend(foreign.send(1)));
    WorkRequest[] requests = {block.send(1), block.send(2)};
    for (int[] range : new int[][] {{1, 2}, {-1, 1}, {0, 3}, {0, -1}, {3, 0}}) {
      assertThatThrownBy(() -> pair.client().postSend(requests, range[0], range[1]))
          .isInstanceOf(IndexOutOfBoundsException.class);
    }
    QueuePair wide = connect().client();
    WorkRequest second = new WorkRequest(2).send(1).local(block.region(), 0, 1);
    assertRefused(() -> wide.postSend(second.local(foreign.region(), 0, 1)));
    WorkRequest unwritable = new WorkRequest(2).receive(1).local(block.region(), 0, 1);
    assertRefused(() -> wide.postReceive(unwritable.local(readOnly.region(), 0, 1)));
    assertThat(pair.client().state()).isEqualTo(QueuePairState.READY_TO_SEND);
  }

  private static void assertRefused(org.assertj.core.api.ThrowableAssert.ThrowingCallable post) {
    assertThatThrownBy(post).isInstanceOf(IllegalArgumentException.class);
  }

  @Test
  void shouldFailAReceiveWhoseRegionWasClosed() throws Exception {
    Pair pair = connect();
    Node.Block inbox = server.block(8, 0, Node.SINK);
    pair.server().postReceive(inbox.receive(1));
    inbox.region().close();
    pair.client().postSend(client.block(8, 7, Node.SINK).send(2));
    assertReceiveFailed(result(server), WorkStatus.LOCAL_PROTECTION_ERROR);
    Result sent = result(client);
    assertThat(sent.succeeded() && !engine().deviates(Deviation.SENDS_SUCCEED_WHEN_SENT)).isFalse();
    assertThat(inbox.bytes()).containsOnly(0);
  }

  private void assertReceiveFailed(Result result, WorkStatus status) {
    assertThat(result.succeeded()).isFalse();
    if (!engine().deviates(Deviation.RECEIVE_ERRORS_HAVE_OTHER_CODES)) {
      assertThat(result.status()).isEqualTo(status);
    }
  }

  private static QueuePairSettings depth(int depth, Node node) {
    return new QueuePairSettings(node.queue, node.queue, depth, depth, 1, Set.of());
  }

  private static ConnectionParameters rnrRetries(int retries) {
    return new ConnectionParameters(new byte[0], 16, 6, retries, 17, ANSWER_TIMEOUT);
  }
}
