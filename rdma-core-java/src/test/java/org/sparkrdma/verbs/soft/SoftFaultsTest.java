// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.soft;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.sparkrdma.verbs.VerbsException;
import org.sparkrdma.verbs.WorkRequest;
import org.sparkrdma.verbs.WorkStatus;
import org.sparkrdma.verbs.cm.Connection;
import org.sparkrdma.verbs.cm.ConnectionEvent;
import org.sparkrdma.verbs.cm.ConnectionParameters;
import org.sparkrdma.verbs.cm.Listener;
import org.sparkrdma.verbs.contract.EngineUnderTest;
import org.sparkrdma.verbs.contract.Node;
import org.sparkrdma.verbs.contract.Result;
import org.sparkrdma.verbs.contract.VerbsContract;
import org.sparkrdma.verbs.spi.EngineSettings;

/**
 * Effects of the fault plan and the network model on a connection; and READs that move no bytes,
 * for benchmarks of the engine's users.
 */
class SoftFaultsTest extends VerbsContract {
  private static final int LENGTH = 1000;

  /** A length of more than one piece of a copy. */
  private static final int PIECES = RemoteDevice.PIECE_BYTES + 1000;

  @Override
  protected EngineUnderTest engine() {
    return SoftUnderTest.ENGINE;
  }

  private Pair connectWith(String key, String value) throws Exception {
    reopenClient(Map.of(key, value));
    return connect();
  }

  private List<WorkStatus> statusesOfReads(Pair pair, int count) throws Exception {
    Node.Block source = server.block(LENGTH, 7, Node.READABLE);
    Node.Block sink = client.block(LENGTH, 0, Node.SINK);
    for (int i = 0; i < count; i++) {
      pair.client().postSend(sink.readFrom(i, source.region()));
    }
    List<WorkStatus> statuses = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      Result result = result(client);
      assertThat(result.id()).isEqualTo(i);
      statuses.add(result.status());
    }
    return statuses;
  }

  @Test
  void shouldDropTheConnectionAtTheReadNamedByThePlan() throws Exception {
    Pair pair = connectWith("soft.faults", "drop-connection@2");
    assertThat(statusesOfReads(pair, 3))
        .containsExactly(WorkStatus.SUCCESS, WorkStatus.FLUSH_ERROR, WorkStatus.FLUSH_ERROR);
    event(client, ConnectionEvent.Type.DISCONNECTED);
    event(server, ConnectionEvent.Type.DISCONNECTED);
  }

  @Test
  void shouldHangAReadUntilTheConnectionEnds() throws Exception {
    Pair pair = connectWith("soft.faults", "hang@1");
    Node.Block source = server.block(LENGTH, 7, Node.READABLE);
    Node.Block sink = client.block(LENGTH, 0, Node.SINK);
    pair.client().postSend(sink.readFrom(1, source.region()));
    pair.client().postSend(sink.readFrom(2, source.region()));
    pollFor(Duration.ofMillis(100));
    assertThat(client.results).isEmpty();
    pair.clientEnd().disconnect();
    assertThat(result(client).status()).isEqualTo(WorkStatus.FLUSH_ERROR);
    assertThat(result(client).status()).isEqualTo(WorkStatus.FLUSH_ERROR);
    assertThat(sink.bytes()).containsOnly(0);
  }

  @Test
  void shouldFailAndHangSendsNamedByThePlan() throws Exception {
    reopenClient(Map.of("soft.faults", "send-error@2,send-hang@4"));
    Node.Block message = client.block(8, 1, Node.SINK);
    Node.Block inbox = server.block(8, 0, Node.SINK);
    Pair first = connect();
    for (int i = 0; i < 2; i++) {
      first.server().postReceive(inbox.receive(i));
      first.client().postSend(message.send(i));
    }
    assertThat(result(client).status()).isEqualTo(WorkStatus.SUCCESS);
    assertThat(result(client).status()).isEqualTo(WorkStatus.REMOTE_OPERATION_ERROR);
    event(client, ConnectionEvent.Type.DISCONNECTED);
    event(server, ConnectionEvent.Type.DISCONNECTED);
    Pair second = connect();
    for (int i = 0; i < 2; i++) {
      second.server().postReceive(inbox.receive(10 + i));
      second.client().postSend(message.send(10 + i));
    }
    assertThat(result(client).id()).isEqualTo(10);
    pollFor(Duration.ofMillis(100));
    assertThat(client.results).isEmpty();
  }

  @Test
  void shouldRefuseTheConnectNamedByThePlan() throws Exception {
    reopenClient(Map.of("soft.faults", "refuse-connect@1"));
    try (Listener listener = server.listen(engine())) {
      prepare(listener.address()).connect(parameters());
      assertThat(event(client, ConnectionEvent.Type.REJECTED).reason()).contains("fault plan");
    }
    connect();
  }

  @Test
  void shouldReachNoPeerWhenTheConnectHangs() throws Exception {
    reopenClient(Map.of("soft.faults", "hang-connect@1"));
    try (Listener listener = server.listen(engine())) {
      Connection asking = prepare(listener.address());
      asking.connect(new ConnectionParameters(new byte[0], 16, 6, 6, 17, Duration.ofMillis(50)));
      assertThat(event(client, ConnectionEvent.Type.UNREACHABLE).reason())
          .isEqualTo("no answer within the connect time-out");
    }
    connect();
  }

  @Test
  void shouldRefuseTheRegistrationNamedByThePlan() throws Exception {
    reopenClient(Map.of("soft.faults", "register-error@2"));
    client.block(8, 0, Node.SINK);
    assertThatThrownBy(() -> client.block(8, 0, Node.SINK))
        .isInstanceOf(VerbsException.class)
        .extracting(e -> ((VerbsException) e).errno())
        .isEqualTo(12);
    client.block(8, 0, Node.SINK);
  }

  @Test
  void shouldDelayReadsByTheLatency() throws Exception {
    Pair pair = connectWith("soft.latency", "30ms");
    long start = System.nanoTime();
    assertThat(statusesOfReads(pair, 10)).containsOnly(WorkStatus.SUCCESS);
    // All are in flight together.
    assertThat(Duration.ofNanos(System.nanoTime() - start))
        .isBetween(Duration.ofMillis(30), Duration.ofSeconds(10));
    start = System.nanoTime();
    pair.server().postReceive(new WorkRequest(1).receive(1));
    pair.client().postSend(new WorkRequest(1).send(1).signalled());
    assertThat(result(client).status()).isEqualTo(WorkStatus.SUCCESS);
    assertThat(Duration.ofNanos(System.nanoTime() - start))
        .isGreaterThanOrEqualTo(Duration.ofMillis(30));
  }

  @Test
  void shouldCompleteReadsAfterTheLatencyAndMoveNoByte() throws Exception {
    Pair pair = connectWithoutCopy("30ms");
    Node.Block source = server.block(PIECES, 7, Node.READABLE);
    Node.Block sink = client.block(PIECES, 3, Node.SINK);
    long start = System.nanoTime();
    pair.client().postSend(sink.readFrom(1, source.region()));
    Result read = result(client);
    assertThat(Duration.ofNanos(System.nanoTime() - start))
        .isGreaterThanOrEqualTo(Duration.ofMillis(30));
    assertThat(read.status()).isEqualTo(WorkStatus.SUCCESS);
    assertThat(read.bytes()).isEqualTo(PIECES);
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
