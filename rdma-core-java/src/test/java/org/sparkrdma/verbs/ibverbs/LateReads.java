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
 * READs from another kernel over a network slower than the requester's deadline: the contract of
 * late READs, as far as this end can check it. Runs on node 1 of the guest, with {@link LateSource}
 * on node 2 and a network that keeps the order of packets.
 */
abstract class LateReads extends VerbsContract {
  private static final int LENGTH = 10_000;
  private static final long DEADLINE_NS = Duration.ofMillis(20).toNanos();
  private static final long LATE = 1;
  private static final long AFTER = 2;

  /** Time-out in seconds, so that the slow network causes no retransmission. */
  private static final int ACK_TIMEOUT = 21;

  private static final byte OWNED_BY_ANOTHER = 3;

  private RemoteSource source;
  private Connection connection;
  private Connection another;
  private Node.Block sink;

  /** The region of the source, from the private data of its answer. */
  private record RemoteSource(long address, int remoteKey) {}

  private static InetSocketAddress peer() {
    try {
      String address =
          Objects.requireNonNull(
              System.getenv("GUEST_PEER_ADDRESS"), "GUEST_PEER_ADDRESS, which the guest sets");
      return new InetSocketAddress(InetAddress.getByName(address), LateSource.PORT);
    } catch (UnknownHostException e) {
      throw new IllegalStateException("not an address: variable=GUEST_PEER_ADDRESS", e);
    }
  }

  @BeforeEach
  void postAReadAndPassItsDeadline() throws Exception {
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
  void closePair() {
    source = null;
    connection = null;
    another = null;
    sink = null;
  }

  private Connection connectToSource() throws VerbsException {
    Connection asking = prepare(peer());
    asking.connect(
        new ConnectionParameters(new byte[0], 16, 6, 7, ACK_TIMEOUT, Duration.ofSeconds(15)));
    ByteBuffer region =
        ByteBuffer.wrap(event(client, ConnectionEvent.Type.ESTABLISHED).privateData());
    source = new RemoteSource(region.getLong(), region.getInt());
    return asking;
  }

  private WorkRequest read(long id, Node.Block into) {
    return new WorkRequest(1)
        .read(id, source.address(), source.remoteKey())
        .local(into.region(), 0, LENGTH)
        .signalled();
  }

  /** Writes into the sink, as its next user would. */
  private void overwriteSink() {
    byte[] bytes = new byte[LENGTH];
    Arrays.fill(bytes, OWNED_BY_ANOTHER);
    sink.memory().slice(0, LENGTH).put(bytes);
  }

  /** Waits for a later READ on another connection: after it, all earlier packets have arrived. */
  private void awaitPacketsInFlight() throws VerbsException {
    Node.Block later = client.block(LENGTH, 0, Node.SINK);
    another.queuePair().postSend(read(AFTER, later));
    var result = result(client);
    assertThat(result.id()).isEqualTo(AFTER);
    assertThat(result.status()).isEqualTo(WorkStatus.SUCCESS);
    assertThat(later.bytes()).containsOnly(LateSource.FILL);
  }

  @Test
  void shouldWriteTheSinkWhenTheReadCompletesAfterItsDeadline() throws Exception {
    overwriteSink();
    var result = result(client);
    assertThat(result.id()).isEqualTo(LATE);
    assertThat(result.status()).isEqualTo(WorkStatus.SUCCESS);
    assertThat(sink.bytes()).as("sink after reuse").containsOnly(LateSource.FILL);
  }

  @Test
  void shouldNotTouchTheSinkOnceTheQueuePairIsDestroyed() throws Exception {
    connection.queuePair().close();
    overwriteSink();
    awaitPacketsInFlight();
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
    overwriteSink();
    awaitPacketsInFlight();
    assertThat(client.results).isEmpty();
    assertThat(sink.bytes()).containsOnly(OWNED_BY_ANOTHER);
  }
}
