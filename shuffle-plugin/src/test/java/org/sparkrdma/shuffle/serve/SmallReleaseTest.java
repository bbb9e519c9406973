// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.serve;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.sparkrdma.shuffle.metrics.Counter;
import org.sparkrdma.shuffle.serve.ServerFixture.Wanted;
import org.sparkrdma.shuffle.settings.ServeSettings;

/** RELEASEs that the thread which received them answers itself; the server has no thread here. */
@Timeout(60)
class SmallReleaseTest {
  private static final long PEER = 9;
  private static final int SHUFFLE = 1;
  private static final int MAPS = ImmediateAnswers.MAX_HELD + 1;

  @TempDir Path folder;
  private ServerFixture on;
  private int answers;

  @BeforeEach
  void start() throws Exception {
    on =
        ServerFixture.of(
            folder, ServeSettings.Mode.WINDOW, 0, 4L * MAPS * ServerFixture.WINDOW, 16 << 10);
    for (int map = 0; map < MAPS; map++) {
      on.outputs.write(SHUFFLE, map, new Random(map), true, 100);
    }
  }

  @AfterEach
  void close() {
    on.close();
  }

  private long lease(int maps) {
    Wanted[] wanted = new Wanted[maps];
    Arrays.setAll(wanted, map -> Wanted.of(SHUFFLE, map, 0, 1));
    var answer = on.ask(PEER, wanted);
    assertThat(answer.pieces).hasSize(maps);
    return answer.leaseId;
  }

  private void releaseSoon(long... leases) {
    on.server.releaseSoon(PEER, leases, () -> answers++);
  }

  @Test
  void shouldBeDoneBeforeTheCallReturns() {
    long lease = lease(1);
    releaseSoon(lease);
    assertThat(answers).isEqualTo(1);
    assertThat(on.server.hasWork()).isFalse();
    on.sleep(ServerFixture.LEASE.plusSeconds(1));
    assertThat(on.expiredPeers).as("the lease has ended").isEmpty();
  }

  @Test
  void shouldCountTheReleaseOfAnotherPeersLease() {
    long lease = lease(1);
    on.server.releaseSoon(PEER - 1, new long[] {lease}, () -> answers++);
    assertThat(answers).isEqualTo(1);
    assertThat(on.count(Counter.PROTOCOL_ERRORS)).isEqualTo(1);
    on.onPeerGone(PEER);
  }

  @Test
  void shouldBeLeftToTheServersThreadWithMoreLeases() {
    releaseSoon(new long[ImmediateAnswers.MAX_LEASES + 1]);
    assertThat(answers).isZero();
    on.server.doWork();
    assertThat(answers).isEqualTo(1);
  }

  /** The agent must not be held up by them. */
  @Test
  void shouldBeLeftToTheServersThreadWithMoreWindows() {
    long few = lease(ImmediateAnswers.MAX_HELD);
    releaseSoon(few);
    assertThat(answers).isEqualTo(1);
    long many = lease(ImmediateAnswers.MAX_HELD + 1);
    releaseSoon(many);
    assertThat(answers).isEqualTo(1);
    on.server.doWork();
    assertThat(answers).isEqualTo(2);
  }

  @Test
  void shouldBeLeftToTheServersThreadBehindOtherWork() {
    on.server.onPeerGone(PEER + 1);
    releaseSoon(1);
    assertThat(answers).isZero();
    on.server.doWork();
    assertThat(answers).isEqualTo(1);
  }

  @Test
  void shouldNotWaitForAnotherThreadThatUsesTheState() throws Exception {
    ServerLock.whileAnotherThreadHasIt(
        on.server,
        () -> {
          releaseSoon(1);
          assertThat(answers).isZero();
        });
    on.server.doWork();
    assertThat(answers).isEqualTo(1);
  }

  @Test
  void shouldBeRepeatedByTheServersThreadAfterErrors() throws Exception {
    long lease = lease(1);
    on.server.releaseSoon(
        PEER,
        new long[] {lease},
        () -> {
          answers++;
          if (answers <= 2) {
            throw new OutOfMemoryError("thrown by the test");
          }
        });
    assertThat(answers).isEqualTo(1);
    assertThat(ServerLock.of(on.server).tryLock()).as("the lock is free").isTrue();
    ServerLock.of(on.server).unlock();
    for (int tries = 2; tries <= 3; tries++) {
      assertThat(on.server.untilNextDeadlineNs()).isLessThanOrEqualTo(OpenLocates.CHECK_NS);
      on.sleep(Duration.ofNanos(OpenLocates.CHECK_NS));
      assertThat(answers).isEqualTo(tries);
    }
    on.sleep(Duration.ofNanos(OpenLocates.CHECK_NS));
    assertThat(answers).as("it has succeeded").isEqualTo(3);
  }

  @Test
  void shouldBeDoneAlsoAfterTheServerHasClosed() {
    on.server.close();
    releaseSoon(1);
    assertThat(answers).isEqualTo(1);
  }
}
