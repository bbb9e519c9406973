// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.ibverbs;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.Arrays;
import java.util.Objects;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.sparkrdma.verbs.VerbsException;
import org.sparkrdma.verbs.WorkRequest;
import org.sparkrdma.verbs.WorkStatus;
import org.sparkrdma.verbs.cm.Connection;
import org.sparkrdma.verbs.cm.ConnectionEvent;
import org.sparkrdma.verbs.cm.ConnectionParameters;
import org.sparkrdma.verbs.contract.Node;
import org.sparkrdma.verbs.contract.VerbsContract;

/**
 * READs from another kernel over a wire that is slower than their requester's patience: what the
 * contract says of late READs, as far as this end can tell. Of the guest's node 1, with {@link
 * LateSource} on node 2 and a wire that keeps the order of its packets.
 */
abstract class LateReads extends VerbsContract {
  private static final int LENGTH = 10_000;
  private static final long DEADLINE_NS = Duration.ofMillis(20).toNanos();
  private static final long LATE = 1;
  private static final long AFTER = 2;

  /** Seconds: the slow wire is no lost packet, and nothing is to be sent again. */
  private static final int ACK_TIMEOUT = 21;

  private static final byte OWNED_BY_ANOTHER = 3;

  private RemoteSource source;
  private Connection connection;
  private Connection another;
  private Node.Block sink;

  /** As the source tells of itself in the private data of its answer. */
  private record RemoteSource(long address, int remoteKey) {}

  private static InetSocketAddress peer() {
    try {
      String address = Objects.requireNonNull(System.getenv("GUEST_PEER_ADDRESS"), "in the guest?");
      return new InetSocketAddress(InetAddress.getByName(address), LateSource.PORT);
    } catch (UnknownHostException e) {
      throw new IllegalStateException("not an address: variable=GUEST_PEER_ADDRESS", e);
    }
  }

  @BeforeEach
  void losePatienceWithARead() throws Exception {
    connection = connectToSource();
    another = connectToSource();
    sink = client.block(LENGTH, 0, Node.SINK);
    long posted = System.nanoTime();
    connection.queuePair().postSend(read(LATE, sink));
    until(() -> System.nanoTime() - posted > DEADLINE_NS);
    assertThat(client.results).isEmpty();
    assertThat(sink.bytes()).containsOnly(0);
  }

  @AfterEach
  void letGo() {
    source = null;
    connection = null;
    another = null;
    sink = null;
  }

  private Connection connectToSource() throws VerbsException {
    Connection asking = prepare(peer());
    asking.connect(
        new ConnectionParameters(new byte[0], 16, 6, 7, ACK_TIMEOUT, Duration.ofSeconds(15)));
    ByteBuffer told =
        ByteBuffer.wrap(event(client, ConnectionEvent.Type.ESTABLISHED).privateData());
    source = new RemoteSource(told.getLong(), told.getInt());
    return asking;
  }

  private WorkRequest read(long id, Node.Block into) {
    return new WorkRequest(1)
        .read(id, source.address(), source.remoteKey())
        .local(into.region(), 0, LENGTH)
        .signalled();
  }

  /** Has another write what the requester believes to be free again. */
  private void handSinkToAnother() {
    byte[] bytes = new byte[LENGTH];
    Arrays.fill(bytes, OWNED_BY_ANOTHER);
    sink.memory().slice(0, LENGTH).put(bytes);
  }

  /**
   * Until a READ that was posted after all this has come back, on a connection of its own: whatever
   * was on the wire before has arrived.
   */
  private void awaitAllThatIsOnTheWire() throws VerbsException {
    Node.Block later = client.block(LENGTH, 0, Node.SINK);
    another.queuePair().postSend(read(AFTER, later));
    var result = result(client);
    assertThat(result.id()).isEqualTo(AFTER);
    assertThat(result.status()).isEqualTo(WorkStatus.SUCCESS);
    assertThat(later.bytes()).containsOnly(LateSource.FILL);
  }

  @Test
  void shouldWriteTheSinkWhenTheReadCompletesAfterItsDeadline() throws Exception {
    handSinkToAnother();
    var result = result(client);
    assertThat(result.id()).isEqualTo(LATE);
    assertThat(result.status()).isEqualTo(WorkStatus.SUCCESS);
    assertThat(sink.bytes()).as("whoever else had it").containsOnly(LateSource.FILL);
  }

  @Test
  void shouldNotTouchTheSinkOnceTheQueuePairIsDestroyed() throws Exception {
    connection.queuePair().close();
    handSinkToAnother();
    awaitAllThatIsOnTheWire();
    assertThat(client.results).isEmpty();
    assertThat(sink.bytes()).containsOnly(OWNED_BY_ANOTHER);
    sink.region().close();
    sink.memory().close();
  }

  @Test
  void shouldNotTouchTheSinkOnceTheReadIsFlushed() throws Exception {
    connection.disconnect();
    var flushed = result(client);
    assertThat(flushed.id()).isEqualTo(LATE);
    assertThat(flushed.status()).isEqualTo(WorkStatus.FLUSH_ERROR);
    handSinkToAnother();
    awaitAllThatIsOnTheWire();
    assertThat(client.results).isEmpty();
    assertThat(sink.bytes()).containsOnly(OWNED_BY_ANOTHER);
  }
}
