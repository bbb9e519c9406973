// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.soft;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.sparkrdma.verbs.WorkStatus;
import org.sparkrdma.verbs.contract.EngineUnderTest;
import org.sparkrdma.verbs.contract.Node;
import org.sparkrdma.verbs.contract.Result;
import org.sparkrdma.verbs.contract.VerbsContract;
import org.sparkrdma.verbs.spi.EngineSettings;

/** READs that move no bytes, for benchmarks of the engine's users. */
class WithoutCopyTest extends VerbsContract {
  /** A length of more than one piece of a copy. */
  private static final int LENGTH = SoftPeer.PIECE_BYTES + 1000;

  @Override
  protected EngineUnderTest engine() {
    return SoftUnderTest.ENGINE;
  }

  @Test
  void shouldCompleteReadsAfterTheLatencyAndMoveNoByte() throws Exception {
    Pair pair = connectWithoutCopy("30ms");
    Node.Block source = server.block(LENGTH, 7, Node.READABLE);
    Node.Block sink = client.block(LENGTH, 3, Node.SINK);
    long start = System.nanoTime();
    pair.client().postSend(sink.readFrom(1, source.region()));
    Result read = result(client);
    assertThat(Duration.ofNanos(System.nanoTime() - start))
        .isGreaterThanOrEqualTo(Duration.ofMillis(30));
    assertThat(read.status()).isEqualTo(WorkStatus.SUCCESS);
    assertThat(read.bytes()).isEqualTo(LENGTH);
    assertThat(sink.bytes()).containsOnly(3);
  }

  @Test
  void shouldStillMoveMessagesAndRefuseReadsOfMemoryThatIsNotReadable() throws Exception {
    Pair pair = connectWithoutCopy("0us");
    Node.Block message = client.block(8, 5, Node.SINK);
    Node.Block inbox = server.block(8, 0, Node.SINK);
    pair.server().postReceive(inbox.receive(1));
    pair.client().postSend(message.send(2));
    assertThat(result(client).status()).isEqualTo(WorkStatus.SUCCESS);
    assertThat(result(server).status()).isEqualTo(WorkStatus.SUCCESS);
    assertThat(inbox.bytes()).containsOnly(5);
    pair.client().postSend(message.readFrom(3, inbox.region()));
    assertThat(result(client).status()).isEqualTo(refusal());
  }

  private Pair connectWithoutCopy(String latency) throws Exception {
    Map<String, String> settings = new TreeMap<>(engine().settings());
    settings.put("soft.latency", latency);
    reopenClient(SoftProvider.loadWithoutCopy(EngineSettings.of(settings)));
    return connect();
  }
}
