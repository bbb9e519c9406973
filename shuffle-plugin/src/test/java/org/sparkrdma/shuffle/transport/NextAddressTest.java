// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.transport;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.RandomAccessFile;
import java.net.InetAddress;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.spark.network.buffer.ManagedBuffer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.sparkrdma.shuffle.address.ListenerAddress;
import org.sparkrdma.shuffle.directory.Endpoint;
import org.sparkrdma.shuffle.fetch.BlockRange;
import org.sparkrdma.shuffle.fetch.FetchHandler;
import org.sparkrdma.shuffle.metrics.Counter;
import org.sparkrdma.shuffle.metrics.FallbackReason;
import org.sparkrdma.verbs.VerbsException;

/** Peers with two addresses, of which the preferred one does not work; virtual time. */
@Timeout(60)
class NextAddressTest {
  private static final int MORE_SERVERS = 2 * ConnectionEnds.MAX_PER_TURN;
  private static final int BLOCK_BYTES = 64 << 10;
  private static final long MS = Duration.ofMillis(1).toNanos();

  @TempDir private Path directory;
  private final VirtualFabric fabric = new VirtualFabric();
  private final List<VirtualExecutor> executors = new ArrayList<>();
  private VirtualExecutor reader;
  private VirtualExecutor server;
  private Endpoint endpoint;

  @BeforeEach
  void start() throws IOException, VerbsException {
    Path file = directory.resolve("outputs.data");
    try (RandomAccessFile outputs = new RandomAccessFile(file.toFile(), "rw")) {
      outputs.setLength(2L * BLOCK_BYTES);
    }
    for (int i = 0; i < 3 + MORE_SERVERS; i++) {
      executors.add(new VirtualExecutor(fabric, i, 1L << 30, 16, file, 2, BLOCK_BYTES));
    }
    reader = executors.get(0);
    server = executors.get(1);
    endpoint = withFormerAddress(server.endpoint());
  }

  private Endpoint withFormerAddress(Endpoint real) {
    return new Endpoint(
        real.executorId(),
        List.of(formerAddress(), real.addresses().get(0)),
        real.engine(),
        real.protocol(),
        real.incarnation(),
        real.token());
  }

  /** Another executor has it now. */
  private ListenerAddress formerAddress() {
    return executors.get(2).endpoint().addresses().get(0);
  }

  @AfterEach
  void close() {
    executors.forEach(VirtualExecutor::close);
  }

  /** A block of the server. */
  private final class Fetch implements FetchHandler {
    private boolean read;
    private FallbackReason failure;
    private String detail;

    Fetch() {
      this(endpoint);
    }

    Fetch(Endpoint of) {
      reader.fetch(of, List.of(new BlockRange(0, 1, 0, 1)), this);
    }

    @Override
    public void onFetched(int index, ManagedBuffer buffer) {
      read = true;
    }

    @Override
    public void onFailed(int index, FallbackReason reason, String text) {
      failure = reason;
      detail = text;
    }
  }

  private Fetch fetchUntil(long milliseconds) {
    Fetch fetch = new Fetch();
    fabric.runUntil(() -> false, milliseconds * MS);
    return fetch;
  }

  /** After the quarantine a connection tests the peer, and then a request. */
  private void assertTestsAndReads(long milliseconds) {
    assertThat(fetchUntil(milliseconds).failure).isEqualTo(FallbackReason.QUARANTINED);
    assertThat(fetchUntil(milliseconds + 100).failure).isEqualTo(FallbackReason.QUARANTINED);
    assertThat(fetchUntil(milliseconds + 200).read).isTrue();
  }

  @Test
  void shouldUseTheNextAddressAfterARejection() {
    fabric.rejectRequests(formerAddress().network().address(), new byte[0]);

    assertThat(fetchUntil(1_500).failure).isEqualTo(FallbackReason.CONNECT_FAILED);
    assertTestsAndReads(1_600);
    assertThat(server.established()).hasSize(1);
  }

  @Test
  void shouldNameTheStaleConnectionForWhichItsPeersHostRejectsAttempts() {
    fabric.rejectRequestsAsStale(formerAddress().network().address(), "a stale connection");
    // The first rejection arrives so late that the blocks stop to wait between two attempts.
    fabric.delayRequests((from, sentNs) -> sentNs < 1_000 * MS ? 4_900 * MS : 0);

    Fetch fetch = fetchUntil(5_200);

    assertThat(fetch.failure).isEqualTo(FallbackReason.PEER_BUSY);
    assertThat(fetch.detail).isEqualTo("rejected a stale connection");
    assertThat(reader.count(Counter.PEERS_QUARANTINED)).isZero();
  }

  @Test
  void shouldUseTheNextAddressAfterATimeOut() {
    fabric.delayRequests((from, sentNs) -> sentNs < 1_000 * MS ? 100_000 * MS : 0);

    assertThat(fetchUntil(17_000).failure).isEqualTo(FallbackReason.CONNECT_FAILED);
    assertTestsAndReads(17_100);
    assertThat(server.established()).hasSize(1);
  }

  /** The rejections arrive about the time at which the attempts, which take 15 s, are given up. */
  @Test
  void shouldCountAnAttemptOnceWhenItsRejectionArrivesAfterItsTimeOut() {
    InetAddress former = formerAddress().network().address();
    fabric.rejectRequests(former, new byte[0]);
    fabric.slowDestroy(MS);
    List<VirtualExecutor> servers = executors.subList(3, 3 + MORE_SERVERS);
    AtomicInteger sent = new AtomicInteger();
    fabric.delayRequests((from, sentNs) -> 15_000 * MS + sent.getAndIncrement() * MS / 2);
    servers.forEach(each -> new Fetch(withFormerAddress(each.endpoint())));
    fabric.runUntil(() -> false, 17_000 * MS);
    assertThat(sent).as("requests to the former address").hasValue(MORE_SERVERS);
    fabric.delayRequests((from, sentNs) -> 0);

    assertNextAddressIsUsed(servers);
  }

  /**
   * Without private data the refusal is a message. Those that arrive between the time-out of their
   * attempt and its end do not count again.
   */
  @Test
  void shouldCountAnAttemptOnceWhenItsRefusalArrivesAfterItsTimeOut() throws Exception {
    close();
    executors.clear();
    fabric.withoutPrivateData();
    start();
    fabric.delayMessages(7_501 * MS);
    List<VirtualExecutor> servers = executors.subList(3, 3 + MORE_SERVERS);
    for (VirtualExecutor each : servers) {
      new Fetch(withFormerAddress(each.endpoint()));
      fabric.runUntil(() -> false, fabric.nowNs() + MS * 7 / 10);
    }
    fabric.runUntil(() -> false, 17_000 * MS);
    fabric.delayMessages(0);
    assertNextAddressIsUsed(servers);
  }

  private void assertNextAddressIsUsed(List<VirtualExecutor> servers) {
    // The first two fetches after the quarantine only test the peer.
    for (long ms = 17_100; ms <= 17_200; ms += 100) {
      servers.forEach(each -> new Fetch(withFormerAddress(each.endpoint())));
      fabric.runUntil(() -> false, ms * MS);
    }
    List<Fetch> fetches =
        servers.stream().map(each -> new Fetch(withFormerAddress(each.endpoint()))).toList();
    fabric.runUntil(() -> false, 17_300 * MS);
    assertThat(fetches).allMatch(fetch -> fetch.read);
  }
}
