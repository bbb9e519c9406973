// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.serve;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.RejectedExecutionException;
import org.junit.jupiter.api.Test;

/** The test lets the threads of the disk run. */
class DiskQueueTest {
  private static final int THREADS = 4;

  private final Deque<Runnable> handedOver = new ArrayDeque<>();
  private final List<String> done = new ArrayList<>();
  private boolean stopped;
  private long nowNs;
  private final DiskQueue disk = new DiskQueue(this::handOver, THREADS, this::now);

  private void handOver(Runnable job) {
    if (stopped) {
      throw new RejectedExecutionException("stopped by the test");
    }
    handedOver.add(job);
  }

  private long now() {
    return nowNs;
  }

  private void submit(long peer, String name) {
    disk.execute(peer, () -> done.add(name));
  }

  private void runNext() {
    handedOver.remove().run();
  }

  private void runAll() {
    while (!handedOver.isEmpty()) {
      runNext();
    }
  }

  @Test
  void shouldLetPeersTakeTurns() {
    for (int i = 1; i <= 6; i++) {
      submit(1, "a" + i);
    }
    submit(2, "b1");
    submit(2, "b2");
    submit(3, "c1");
    submit(3, "c2");
    runAll();

    assertThat(done).containsExactly("a1", "a2", "a3", "b1", "c1", "a4", "b2", "c2", "a5", "a6");
  }

  @Test
  void shouldKeepTheLastThreadForAPeerThatHasNothingInWork() {
    for (int i = 1; i <= 6; i++) {
      submit(1, "a" + i);
    }
    assertThat(handedOver).hasSize(THREADS - 1);
    submit(2, "b1");
    assertThat(handedOver).hasSize(THREADS);
    runNext();
    assertThat(handedOver).as("two of peer 1, one of peer 2").hasSize(THREADS - 1);
    submit(2, "b2");
    assertThat(handedOver).hasSize(THREADS - 1);
    submit(3, "c1");
    assertThat(handedOver).hasSize(THREADS);
    runAll();
    assertThat(done).hasSize(9);
  }

  private void waitLong() {
    nowNs += DiskTurns.SLOW_NS + 1;
  }

  /** Peer 1 has three jobs in work and one that waits, peer 2 one in work. */
  private void fill() {
    for (int i = 1; i <= 4; i++) {
      submit(1, "a" + i);
    }
    submit(2, "b1");
    assertThat(handedOver).hasSize(THREADS);
  }

  @Test
  void shouldUseMoreThreadsForPeersWithoutAJobInWorkWhileJobsTakeLong() {
    fill();
    submit(3, "c1");
    nowNs += DiskTurns.SLOW_NS;
    disk.handOver();
    submit(4, "d1");
    assertThat(handedOver).as("not for short jobs").hasSize(THREADS);

    nowNs++;
    disk.handOver();
    assertThat(handedOver).hasSize(THREADS + 2);
    submit(4, "d2");
    assertThat(handedOver).as("one for each").hasSize(THREADS + 2);
    submit(5, "e1");
    assertThat(handedOver).as("at once from now on").hasSize(THREADS + 3);
    runAll();
    assertThat(done).contains("a4", "c1", "d1", "d2", "e1");
  }

  @Test
  void shouldUseTheseThreadsAtOnceForAWhile() {
    fill();
    waitLong();
    submit(3, "c1");
    assertThat(handedOver).hasSize(THREADS + 1);
    runAll();

    nowNs += DiskTurns.GROWN_NS - 1;
    fill();
    submit(3, "c2");
    assertThat(handedOver).hasSize(THREADS + 1);
    runAll();

    nowNs++;
    fill();
    submit(3, "c3");
    assertThat(handedOver).as("later only while jobs take long again").hasSize(THREADS);
    runAll();
  }

  @Test
  void shouldKeepTheLastThreadsForPeersWhoseJobsAreShort() {
    fill();
    waitLong();
    int peers = 2 + 3 * THREADS;
    for (int peer = 3; peer <= peers; peer++) {
      submit(peer, "slow");
      submit(peer, "slow again");
    }
    assertThat(handedOver).hasSize(4 * THREADS);
    waitLong();
    for (int i = 0; i < 4 * THREADS; i++) {
      runNext();
    }
    assertThat(disk.peers()).as("each but the second has more jobs").isEqualTo(peers - 1);
    assertThat(handedOver).as("those that take long").hasSize(3 * THREADS);

    for (int peer = 101; peer <= 100 + THREADS; peer++) {
      submit(peer, "short");
    }
    assertThat(handedOver).hasSize(4 * THREADS);
    submit(200, "one too many");
    assertThat(handedOver).hasSize(4 * THREADS);
    runAll();
    assertThat(disk.peers()).isZero();
  }

  @Test
  void shouldForgetPeersWithoutJobs() {
    for (int peer = 0; peer < 100; peer++) {
      submit(peer, "job");
      submit(peer, "job");
    }
    assertThat(disk.peers()).isEqualTo(100);
    runAll();
    assertThat(disk.peers()).isZero();
    assertThat(done).hasSize(200);
  }

  /**
   * No more than the limits in work, none waits that may begin, and the jobs of a peer in order.
   */
  @Test
  void shouldRunEachJobOnceWithinTheLimits() {
    Random random = new Random(11);
    Map<Long, Integer> submitted = new HashMap<>();
    Map<Long, Integer> last = new HashMap<>();
    int[] count = new int[2];
    for (int i = 0; i < 20_000; i++) {
      if (random.nextInt(100) < (i / 1_000 % 2 == 0 ? 60 : 40)) {
        long peer = random.nextInt(6);
        int number = submitted.merge(peer, 1, Integer::sum);
        disk.execute(
            peer,
            () -> {
              count[1]++;
              assertThat(last.merge(peer, 1, Integer::sum)).isEqualTo(number);
            });
        count[0]++;
      } else if (!handedOver.isEmpty()) {
        runNext();
      }
      assertThat(handedOver).hasSizeLessThanOrEqualTo(THREADS);
      if (count[0] - count[1] > handedOver.size()) {
        assertThat(handedOver).as("jobs wait").hasSizeGreaterThanOrEqualTo(THREADS - 1);
      }
    }
    runAll();
    assertThat(count[1]).isEqualTo(count[0]);
    assertThat(disk.peers()).isZero();
  }

  @Test
  void shouldContinueAfterAJobThatThrows() {
    disk.execute(
        1,
        () -> {
          throw new LinkageError("thrown by the test");
        });
    for (int i = 1; i <= 5; i++) {
      submit(1, "a" + i);
    }
    runAll();
    assertThat(done).containsExactly("a1", "a2", "a3", "a4", "a5");
  }

  @Test
  void shouldRunWaitingJobsOnTheirThreadsAfterTheseTakeNoMore() {
    for (int i = 1; i <= 5; i++) {
      submit(1, "a" + i);
    }
    stopped = true;
    submit(2, "b1");
    assertThat(handedOver).hasSize(THREADS - 1);
    runAll();

    assertThat(done).containsExactly("a1", "a4", "b1", "a5", "a2", "a3");
    assertThatThrownBy(() -> submit(3, "c1")).isInstanceOf(RejectedExecutionException.class);
    assertThat(disk.peers()).isZero();
  }

  @Test
  void shouldReportTheWaitOfEachPeer() {
    for (int i = 1; i <= 5; i++) {
      submit(1, "a" + i);
    }
    nowNs = 100;
    assertThat(disk.waitNs(1, nowNs)).isEqualTo(100);
    assertThat(disk.waitNs(2, nowNs)).as("a thread is free for it").isZero();
    submit(2, "b1");
    assertThat(disk.waitNs(3, 130)).as("since the last hand-over").isEqualTo(30);
    assertThat(disk.waitNs(1, 130)).isEqualTo(130);
    nowNs = 150;
    runNext();
    submit(3, "c1");
    assertThat(disk.waitNs(4, 160)).isEqualTo(10);
    nowNs = 200;
    runAll();
    assertThat(disk.waitNs(1, 300)).as("nothing waits").isZero();
  }
}
