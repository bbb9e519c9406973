// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.contract;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.sparkrdma.verbs.QueuePairState;
import org.sparkrdma.verbs.RemoteRegion;
import org.sparkrdma.verbs.WorkRequest;
import org.sparkrdma.verbs.WorkStatus;
import org.sparkrdma.verbs.cm.Connection;
import org.sparkrdma.verbs.cm.ConnectionEvent;
import org.sparkrdma.verbs.device.Capability;

/** A peer in another process, which is stopped or killed. */
@Tag("slow")
public abstract class TwoProcessContract extends VerbsContract {
  private static final int LENGTH = 1 << 20;
  private static final Duration DEATH_DETECTED = Duration.ofSeconds(5);

  @TempDir Path directory;

  private PeerProcess start() throws Exception {
    return PeerProcess.start(engine(), Map.of());
  }

  private Connection connectTo(PeerProcess peer) throws Exception {
    Connection connection = prepare(peer.address());
    connection.connect(retriesForever());
    event(client, ConnectionEvent.Type.ESTABLISHED);
    return connection;
  }

  private static WorkRequest read(Node.Block sink, RemoteRegion from) {
    return new WorkRequest(1)
        .read(1, from.address(), from.remoteKey())
        .local(sink.region(), 0, (int) from.lengthBytes())
        .signalled();
  }

  /** Opening a device removes the files of killed processes. */
  private void removeFilesOfTheKilledProcess() throws Exception {
    open(load(Map.of()));
  }

  private void assertReads(Connection connection, Node.Block sink, RemoteRegion from, int fill) {
    sink.memory().slice(0, LENGTH).put(new byte[LENGTH]);
    connection.queuePair().postSend(read(sink, from));
    success(client);
    assertAll(sink.bytes(), fill);
  }

  @Test
  void shouldReadAFileOfAnotherProcess() throws Exception {
    assumeCan(Capability.FILE_REGIONS);
    byte[] content = new byte[LENGTH];
    new Random(1).nextBytes(content);
    Path file = Files.write(directory.resolve("a file.data"), content);
    try (PeerProcess peer = start()) {
      RemoteRegion region = peer.file(file, 1000, 50_000);
      Files.delete(file);
      Connection connection = connectTo(peer);
      Node.Block sink = client.block(50_000, 0, Node.SINK);
      connection.queuePair().postSend(read(sink, region));
      assertThat(result(client).status()).isEqualTo(WorkStatus.SUCCESS);
      assertThat(sink.bytes()).isEqualTo(Arrays.copyOfRange(content, 1000, 51_000));
      connection.close();
    }
  }

  @Test
  void shouldSendToAnotherProcess() throws Exception {
    try (PeerProcess peer = start()) {
      Connection connection = connectTo(peer);
      Node.Block message = client.block(1000, 3, Node.SINK);
      for (int i = 0; i < Node.DEPTH; i++) {
        connection.queuePair().postSend(message.send(i));
      }
      for (int i = 0; i < Node.DEPTH; i++) {
        assertThat(success(client).id()).isEqualTo(i);
      }
    }
    event(client, ConnectionEvent.Type.DISCONNECTED);
  }

  @Test
  void shouldReadFromAndSendToAStoppedPeer() throws Exception {
    try (PeerProcess peer = start()) {
      RemoteRegion region = peer.memory(LENGTH, 77);
      Connection connection = connectTo(peer);
      Node.Block sink = client.block(LENGTH, 0, Node.SINK);
      peer.freeze();
      for (int i = 0; i < 20; i++) {
        assertReads(connection, sink, region, 77);
      }
      Node.Block message = client.block(8, 1, Node.SINK);
      // The second one when it runs again.
      for (int i = 0; i < 2; i++) {
        connection.queuePair().postSend(message.send(i));
        success(client);
        peer.thaw();
      }
      connection.close();
    }
  }

  @Test
  void shouldFailReadsOfARegionThatThePeerHasClosed() throws Exception {
    try (PeerProcess peer = start()) {
      RemoteRegion region = peer.memory(LENGTH, 77);
      Connection connection = connectTo(peer);
      Node.Block sink = client.block(LENGTH, 0, Node.SINK);
      assertReads(connection, sink, region, 77);
      peer.closeRegion(region);
      connection.queuePair().postSend(read(sink, region));
      // The peer ends its broken connection, and this may arrive before the refusal.
      assertThat(result(client).status()).isIn(refusal(), WorkStatus.FLUSH_ERROR);
    }
  }

  @Test
  void shouldDetectAKilledPeerInTime() throws Exception {
    try (PeerProcess peer = start()) {
      RemoteRegion region = peer.memory(LENGTH, 77);
      Connection connection = connectTo(peer);
      Node.Block sink = client.block(LENGTH, 0, Node.SINK);
      connection.queuePair().postReceive(sink.receive(9));
      peer.kill();
      long killed = System.nanoTime();
      event(client, ConnectionEvent.Type.DISCONNECTED);
      assertThat(Duration.ofNanos(System.nanoTime() - killed)).isLessThan(DEATH_DETECTED);
      assertThat(result(client).status()).isEqualTo(WorkStatus.FLUSH_ERROR);
      assertThat(connection.queuePair().state()).isEqualTo(QueuePairState.ERROR);
      connection.queuePair().postSend(read(sink, region));
      assertThat(result(client).status()).isEqualTo(WorkStatus.FLUSH_ERROR);
    }
    removeFilesOfTheKilledProcess();
  }

  @Test
  void shouldServeAgainAfterAPeerWasKilled() throws Exception {
    Node.Block sink = client.block(LENGTH, 0, Node.SINK);
    for (int i = 1; i <= 3; i++) {
      try (PeerProcess peer = start()) {
        RemoteRegion region = peer.memory(LENGTH, i);
        assertReads(connectTo(peer), sink, region, i);
        peer.kill();
        event(client, ConnectionEvent.Type.DISCONNECTED);
      }
    }
    removeFilesOfTheKilledProcess();
  }
}
