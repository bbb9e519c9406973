// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.soft;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.sparkrdma.verbs.QueuePairSettings;
import org.sparkrdma.verbs.WorkRequest;
import org.sparkrdma.verbs.WorkStatus;
import org.sparkrdma.verbs.contract.EngineUnderTest;
import org.sparkrdma.verbs.contract.Node;
import org.sparkrdma.verbs.contract.VerbsContract;

/** READs that copy their data before the messages in front of them are acknowledged. */
class ReadAheadTest extends VerbsContract {
  private static final int LENGTH = 3 << 20;
  private static final int READS = 8_000;

  @Override
  protected EngineUnderTest engine() {
    return SoftUnderTest.ENGINE;
  }

  @Test
  void shouldReadWhileAMessageWaitsForItsReceiverAndCompleteAfterIt() throws Exception {
    Pair pair = connect();
    Node.Block message = client.block(10, 1, Node.SINK);
    Node.Block source = server.block(LENGTH, 42, Node.READABLE);
    Node.Block sink = client.block(LENGTH, 0, Node.SINK);
    pair.client().postSend(message.send(1));
    pair.client().postSend(sink.readFrom(2, source.region()));
    pair.client().postSend(message.send(3));
    pair.client().postSend(sink.readFrom(4, source.region()));
    until(() -> sink.bytes()[LENGTH - 1] == 42);
    assertThat(client.results).isEmpty();

    Node.Block inbox = server.block(10, 0, Node.SINK);
    pair.server().postReceive(inbox.receive(11));
    pair.server().postReceive(inbox.receive(12));
    for (int id = 1; id <= 4; id++) {
      var result = result(client);
      assertThat(result.id()).isEqualTo(id);
      assertThat(result.status()).isEqualTo(WorkStatus.SUCCESS);
    }
    assertThat(result(server).id()).isEqualTo(11);
    assertThat(result(server).id()).isEqualTo(12);
    assertAll(sink.bytes(), 42);
  }

  @Test
  void shouldCompleteAMessageBeforeTheFailedReadBehindIt() throws Exception {
    Pair pair = connect();
    Node.Block message = client.block(10, 1, Node.SINK);
    Node.Block source = server.block(10, 42, Node.SINK);
    Node.Block sink = client.block(10, 0, Node.SINK);
    pair.client().postSend(message.send(1));
    pair.client().postSend(sink.readFrom(2, source.region()));
    // The device thread has tried the READ before it executes that of another connection.
    Node.Block readable = server.block(10, 7, Node.READABLE);
    connect().client().postSend(client.block(10, 0, Node.SINK).readFrom(3, readable.region()));
    assertThat(result(client).id()).isEqualTo(3);

    pair.server().postReceive(server.block(10, 0, Node.SINK).receive(11));
    assertThat(result(client).status()).isEqualTo(WorkStatus.SUCCESS);
    assertThat(result(client).status()).isEqualTo(WorkStatus.REMOTE_ACCESS_ERROR);
    assertThat(sink.bytes()).containsOnly(0);
  }

  /** So many READs that the acknowledgement comes while they are passed over. */
  @Test
  void shouldCompleteEveryReadBehindAMessageThatIsSentAgain() throws Exception {
    QueuePairSettings deep =
        new QueuePairSettings(client.queue, client.queue, 2 * READS, 2, 1, 0, Node.REMOTE);
    Pair pair = connect(deep, server.settings());
    Node.Block message = client.block(10, 1, Node.SINK);
    Node.Block source = server.block(1, 42, Node.READABLE);
    Node.Block inbox = server.block(10, 0, Node.SINK);
    for (int round = 0; round < 20; round++) {
      Node.Block sink = client.block(READS, 0, Node.SINK);
      pair.client().postSend(message.send(1));
      for (int i = 0; i < READS; i++) {
        WorkRequest read =
            new WorkRequest(1)
                .read(2, source.region().address(), source.region().remote().remoteKey());
        pair.client().postSend(read.local(sink.region(), i, 1));
      }
      pair.client().postSend(message.send(3));
      until(() -> sink.bytes()[READS - 1] == 42);
      pair.server().postReceive(inbox.receive(11));
      pair.server().postReceive(inbox.receive(12));
      assertThat(result(client).id()).isEqualTo(1);
      assertThat(result(client).id()).isEqualTo(3);
      assertThat(result(server).id()).isEqualTo(11);
      assertThat(result(server).id()).isEqualTo(12);
    }
  }
}
