// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.serve;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.sparkrdma.shuffle.metrics.Counter;
import org.sparkrdma.shuffle.serve.ServerFixture.Wanted;
import org.sparkrdma.shuffle.settings.ServeSettings.Mode;
import org.sparkrdma.shuffle.wire.Located.Kind;

/** A budget of one page, which one lease uses up. */
@Timeout(60)
class LeaseTest {
  private static final Wanted BLOCK = Wanted.of(1, 0, 0, 1);
  private static final Wanted OTHER_BLOCK = Wanted.of(1, 1, 0, 1);
  private static final Wanted OTHER_SHUFFLE = Wanted.of(2, 0, 0, 1);
  @TempDir Path folder;
  private ServerFixture on;
  private final List<String> done = new ArrayList<>();

  @BeforeEach
  void start() throws IOException {
    on = ServerFixture.of(folder, Mode.WINDOW, 0, FakeDomain.PAGE);
    Random random = new Random(2);
    on.outputs.write(1, 0, random, true, 4000);
    on.outputs.write(1, 1, random, true, 4000);
    on.outputs.write(2, 0, random, true, 4000);
  }

  @AfterEach
  void stop() {
    on.close();
  }

  @Test
  void shouldFreeNothingWhenALeaseExpiresBeforeThePeerIsGone() throws IOException {
    var answer = on.ask(9, BLOCK);
    on.sleep(ServerFixture.LEASE.minusNanos(1));
    assertThat(on.expiredPeers).isEmpty();
    on.sleep(Duration.ofNanos(1));
    assertThat(on.expiredPeers).containsExactly(9L);
    on.sleep(ServerFixture.LEASE);
    on.release(9, answer.leaseId);
    assertThat(on.ask(8, OTHER_BLOCK).kinds()).containsExactly(Kind.BUSY);
    assertThat(answer.read(0)).isEqualTo(on.outputs.expected(1, 0, 0, 1));

    on.onPeerGone(9);
    assertThat(on.ask(8, OTHER_BLOCK).kinds()).containsExactly(Kind.LOCATED);
    assertThat(answer.isReadable(0)).isFalse();
    assertThat(on.count(Counter.LEASES_EXPIRED)).isEqualTo(1);
    assertThat(on.count(Counter.PROTOCOL_ERRORS)).isZero();
  }

  @Test
  void shouldReadTheClockOnceForAllWindowsOfALease() throws IOException {
    try (ServerFixture large = ServerFixture.of(folder, Mode.WINDOW, 0, 1 << 20)) {
      Wanted[] blocks = new Wanted[8];
      for (int map = 0; map < blocks.length; map++) {
        large.outputs.write(3, map, new Random(map), true, 4000);
        blocks[map] = Wanted.of(3, map, 0, 1);
      }
      long one = large.ask(9, blocks[0]).leaseId;
      long all = large.ask(9, blocks).leaseId;
      int before = large.clockReadings();
      large.release(9, one);
      int readings = large.clockReadings() - before;
      large.release(9, all);
      assertThat(large.clockReadings() - before).isEqualTo(2 * readings);
    }
  }

  @Test
  void shouldReportAPeerWithExpiredLeasesOnce() throws IOException {
    on.ask(9, BLOCK);
    on.ask(9, BLOCK);
    on.ask(8, BLOCK);
    on.sleep(Duration.ofSeconds(5));
    var late = on.ask(9, BLOCK);
    on.sleep(Duration.ofSeconds(5));
    assertThat(on.expiredPeers).containsExactly(9L, 8L);
    on.sleep(Duration.ofSeconds(5));
    assertThat(on.expiredPeers).containsExactly(9L, 8L);
    assertThat(on.count(Counter.LEASES_EXPIRED)).isEqualTo(4);
    on.onPeerGone(9);
    assertThat(late.isReadable(0)).isTrue();
    on.onPeerGone(8);
    assertThat(on.ask(7, OTHER_BLOCK).kinds()).containsExactly(Kind.LOCATED);
  }

  @Test
  void shouldEndOnlyTheLeasesOfAClosedPeer() throws IOException {
    on.ask(9, BLOCK);
    on.ask(9, BLOCK);
    var others = on.ask(8, BLOCK);
    on.onPeerGone(9);
    assertThat(on.ask(7, OTHER_BLOCK).kinds()).containsExactly(Kind.BUSY);
    on.release(8, others.leaseId);
    assertThat(on.ask(7, OTHER_BLOCK).kinds()).containsExactly(Kind.LOCATED);
  }

  @Test
  void shouldReleaseLeasesBeforeItLocates() {
    var first = on.ask(9, BLOCK);
    var second = on.ask(9, List.of(first.leaseId), List.of(OTHER_BLOCK));
    assertThat(second.kinds()).containsExactly(Kind.LOCATED);
  }

  @Test
  void shouldRejectALocateThatReleasesAnotherPeersLease() {
    var mine = on.ask(9, BLOCK);
    var answer = on.ask(8, List.of(mine.leaseId), List.of(OTHER_BLOCK));
    assertThat(answer.malformed).contains("another peer");
    assertThat(mine.isReadable(0)).isTrue();
    assertThat(on.count(Counter.PROTOCOL_ERRORS)).isEqualTo(1);
    assertThat(on.count(Counter.LOCATES_SERVED)).isEqualTo(1);
  }

  @Test
  void shouldCountAReleaseOfAnotherPeersLease() {
    var mine = on.ask(9, BLOCK);
    on.release(8, mine.leaseId);
    assertThat(on.count(Counter.PROTOCOL_ERRORS)).isEqualTo(1);
    assertThat(on.ask(8, OTHER_BLOCK).kinds()).containsExactly(Kind.BUSY);
  }

  @Test
  void shouldIgnoreUnknownLeases() {
    var answer = on.ask(9, BLOCK);
    on.release(9, answer.leaseId, answer.leaseId, 0, 12345);
    on.release(8, answer.leaseId);
    assertThat(on.count(Counter.PROTOCOL_ERRORS)).isZero();
    assertThat(on.ask(8, OTHER_BLOCK).kinds()).containsExactly(Kind.LOCATED);
  }

  @Test
  void shouldRejectGarbageAndContinue() {
    assertThat(on.ask(9, ByteBuffer.allocate(5)).malformed).isNotEmpty();
    assertThat(on.ask(9, BLOCK).kinds()).containsExactly(Kind.LOCATED);
    assertThat(on.count(Counter.PROTOCOL_ERRORS)).isEqualTo(1);
  }

  @Test
  void shouldNeverReuseALeaseId() {
    var ids = new HashSet<Long>();
    for (int i = 0; i < 1000; i++) {
      assertThat(ids.add(on.ask(9, BLOCK).leaseId)).isTrue();
    }
    assertThat(ids).doesNotContain(0L);
  }

  @Test
  void shouldUnregisterAnUnleasedShuffleAtOnce() throws IOException {
    var answer = on.ask(9, BLOCK);
    on.release(9, answer.leaseId);
    unregister(1);
    assertThat(done).containsExactly("1");
    assertThat(answer.isReadable(0)).isFalse();
    assertThat(on.budget.pinnedBytes()).isZero();
    assertThat(on.ask(9, BLOCK).kinds()).containsExactly(Kind.UNKNOWN);
  }

  @Test
  void shouldUnregisterALeasedShuffleWhenItsLastLeaseEnds() throws IOException {
    var first = on.ask(9, BLOCK);
    var second = on.ask(8, BLOCK);
    unregister(1);
    unregister(3);
    assertThat(done).containsExactly("3");
    assertThat(on.ask(9, BLOCK).kinds()).containsExactly(Kind.UNKNOWN);
    on.release(9, first.leaseId);
    assertThat(done).containsExactly("3");
    assertThat(second.isReadable(0)).isTrue();
    on.onPeerGone(8);
    assertThat(done).containsExactly("3", "1");
    assertThat(second.isReadable(0)).isFalse();
    assertThat(on.budget.pinnedBytes()).isZero();
    assertThat(on.ask(7, OTHER_SHUFFLE).kinds()).containsExactly(Kind.LOCATED);
  }

  @Test
  void shouldEndAnExpiredLeaseOnlyWithItsPeer() throws IOException {
    on.ask(9, BLOCK);
    on.sleep(ServerFixture.LEASE);
    unregister(1);
    assertThat(done).isEmpty();
    on.onPeerGone(9);
    assertThat(done).containsExactly("1");
  }

  @Test
  void shouldDeregisterEverythingWhenClosedWithOutstandingLeases() throws IOException {
    var answer = on.ask(9, BLOCK);
    on.ask(8, BLOCK);
    unregister(1);
    on.server.close();
    assertThat(done).containsExactly("1");
    assertThat(answer.isReadable(0)).isFalse();
    assertThat(on.budget.pinnedBytes()).isZero();
  }

  @Test
  void shouldAnswerEveryCallWithTcpAfterClose() throws IOException {
    on.server.close();
    assertThat(on.ask(9, BLOCK, OTHER_BLOCK).kinds()).containsExactly(Kind.BUSY, Kind.BUSY);
    unregister(1);
    assertThat(done).containsExactly("1");
    assertThat(on.outputs.opened()).isZero();
    on.server.close();
  }

  private void unregister(int shuffleId) throws IOException {
    on.outputs.delete(shuffleId);
    on.server.unregisterShuffle(shuffleId, () -> done.add(String.valueOf(shuffleId)));
    on.server.doWork();
  }
}
