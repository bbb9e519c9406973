// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.soft;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.sparkrdma.verbs.QueuePair;
import org.sparkrdma.verbs.QueuePairState;
import org.sparkrdma.verbs.WorkStatus;
import org.sparkrdma.verbs.cm.ConnectionEvent;
import org.sparkrdma.verbs.contract.EngineUnderTest;
import org.sparkrdma.verbs.contract.Node;
import org.sparkrdma.verbs.contract.VerbsContract;
import org.sparkrdma.verbs.soft.shared.ProcessIdentity;
import org.sparkrdma.verbs.soft.shared.SharedDirectory;
import org.sparkrdma.verbs.soft.shared.SharedReceives;
import org.sparkrdma.verbs.soft.shared.SharedTable;

/** Queue pairs, receives and files that a device shares with its peers. */
class SharedStateTest extends VerbsContract {
  private static final int MESSAGES = 100_000;
  private static final int OPEN_FILES = 4;

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

  @Test
  void shouldSeeEachMessageThatArrivesWhileItsReceiveIsPosted() throws Exception {
    reopenUnwatched();
    Pair pair = connect();
    int number = pair.server().number();
    var device = (SoftDevice) server.device;
    var receives = SharedReceives.attach(SharedDirectory.receives(device.directory.path(), number));
    var peer =
        new Thread(
            () -> {
              for (long position = 0; position < MESSAGES && !Thread.interrupted(); ) {
                if (receives.isPosted(position)) {
                  receives.deliver(position++, 0, 0, 0);
                  device.table.ring(SharedTable.queuePairIndex(number));
                  device.loop.poll(false);
                }
              }
            });
    peer.start();
    try {
      Node.Block inbox = server.block(100, 0, Node.SINK);
      for (int i = 0; i < MESSAGES; i++) {
        pair.server().postReceive(inbox.receive(i));
        spinUntil(() -> server.pollQueue() > 0);
        assertThat(server.results.remove().id()).isEqualTo(i);
      }
    } finally {
      peer.interrupt();
      peer.join();
    }
  }

  @Test
  void shouldCloseOneFileOfAPeerForTheNextAtTheLimit() throws Exception {
    reopenUnwatched();
    RemoteDevices peers = ((SoftDevice) client.device).peers;
    peers.maxOpenFiles = OPEN_FILES;
    Pair pair = connect();
    Node.Block sink = client.block(10, 0, Node.SINK);
    List<Node.Block> sources = new ArrayList<>();
    for (int i = 0; i < 4 * OPEN_FILES; i++) {
      sources.add(i < 2 * OPEN_FILES ? server.block(10, i, Node.READABLE) : sources.get(i / 2));
      read(client, pair.client(), sink, sources.get(i).region());
      assertThat(sink.bytes()).containsOnly(i < 2 * OPEN_FILES ? i : i / 2);
      assertThat(peers.byName.values())
          .extracting(peer -> peer.openFiles)
          .containsExactly(Math.min(i + 1, OPEN_FILES));
    }
  }

  @Test
  void shouldCloseAQueuePairWhosePeerIsStoppedInsideARead() throws Exception {
    reopenUnwatched();
    Node.Block source = server.block(10, 42, Node.READABLE);
    Pair pair = connect();
    stopPeerInside(pair.server(), source, false);
    pair.server().close();
    event(server, ConnectionEvent.Type.DISCONNECTED);
    event(client, ConnectionEvent.Type.DISCONNECTED);
    source.region().close();
    Pair next = connect();
    Node.Block sink = client.block(10, 0, Node.SINK);
    Node.Block other = server.block(10, 43, Node.READABLE);
    read(client, next.client(), sink, other.region());
    assertThat(sink.bytes()).containsOnly(43);
  }

  @Test
  void shouldLoseTheDeviceWhosePeerIsStoppedInsideAMessage() throws Exception {
    reopenUnwatched();
    Node.Block inbox = server.block(10, 0, Node.SINK);
    Pair pair = connect();
    Pair other = connect();
    other.server().postReceive(inbox.receive(1));
    stopPeerInside(pair.server(), inbox, true);
    pair.server().close();
    event(server, ConnectionEvent.Type.DISCONNECTED);
    event(server, ConnectionEvent.Type.DEVICE_DOWN);
    // Its memory may change at any moment now, so nothing is received into it any more.
    other.client().postSend(client.block(10, 42, Node.SINK).send(2));
    assertThat(result(client).status()).isEqualTo(WorkStatus.SUCCESS);
    server.poll();
    assertThat(server.results).isEmpty();
    other.serverEnd().disconnect();
    assertThat(result(server).status()).isEqualTo(WorkStatus.FLUSH_ERROR);
  }

  /** Nothing is taken back, so nothing that goes on is against the rules. */
  @Test
  void shouldGrantAccessAtOnceToAPeerThatIsStoppedInsideAMessage() throws Exception {
    reopenUnwatched();
    Node.Block inbox = server.block(10, 0, Node.SINK);
    Pair pair = connect(client.settings(), server.settings(Set.of()));
    int reader = stopPeerInside(pair.server(), inbox, true);
    pair.server().setRemoteAccess(Node.REMOTE);
    ((SoftDevice) server.device).table.leave(reader);
    pair.server().postReceive(inbox.receive(1));
    pair.client().postSend(client.block(10, 42, Node.SINK).send(2));
    assertThat(result(server).status()).isEqualTo(WorkStatus.SUCCESS);
    server.poll();
    assertThat(server.events).isEmpty();
  }

  /** A process that runs, and uses a block of the server and its queue pair without an end. */
  private int stopPeerInside(QueuePair pair, Node.Block block, boolean writes) throws IOException {
    SharedTable table = ((SoftDevice) server.device).table;
    int reader = table.claimReader(ProcessIdentity.self());
    table.enter(
        reader,
        SharedTable.queuePairIndex(pair.number()),
        SharedTable.regionIndex(block.region().remote().remoteKey32()),
        writes);
    return reader;
  }
}
