// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.soft;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.sparkrdma.verbs.QueuePairState;
import org.sparkrdma.verbs.WorkStatus;
import org.sparkrdma.verbs.cm.ConnectionEvent;
import org.sparkrdma.verbs.contract.EngineUnderTest;
import org.sparkrdma.verbs.contract.Node;
import org.sparkrdma.verbs.contract.VerbsContract;
import org.sparkrdma.verbs.soft.shared.SharedTable;

/** A READ from a queue pair that is closed while its connection remains. */
class SilentQueuePairTest extends VerbsContract {
  @Override
  protected EngineUnderTest engine() {
    return SoftUnderTest.ENGINE;
  }

  @Test
  void shouldUseUpTheRetriesOfAReadThatFindsNoQueuePair() throws Exception {
    reopenUnwatched();
    Pair pair = connect();
    Node.Block source = server.block(10, 42, Node.READABLE);
    Node.Block sink = client.block(10, 0, Node.SINK);
    ((SoftDevice) server.device)
        .table.retireQueuePair(SharedTable.queuePairIndex(pair.server().number()));
    pair.client().postSend(sink.readFrom(1, source.region()));
    pair.client().postSend(sink.readFrom(2, source.region()));
    assertThat(result(client).status()).isEqualTo(WorkStatus.RETRY_EXCEEDED);
    assertThat(result(client).status()).isEqualTo(WorkStatus.FLUSH_ERROR);
    assertThat(pair.client().state()).isEqualTo(QueuePairState.ERROR);
    event(client, ConnectionEvent.Type.DISCONNECTED);
    assertThat(sink.bytes()).containsOnly(0);
  }
}
