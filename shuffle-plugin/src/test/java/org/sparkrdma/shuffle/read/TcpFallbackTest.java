// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.read;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.Arrays;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.sparkrdma.shuffle.metrics.Counter;
import org.sparkrdma.shuffle.metrics.ShuffleCounters;
import org.sparkrdma.shuffle.thread.RefusingThreads;
import org.sparkrdma.shuffle.thread.TaskThreads;

@Timeout(60)
class TcpFallbackTest {
  private final FakeSparkClient spark = new FakeSparkClient();
  private final ShuffleCounters counters = new ShuffleCounters();
  private final TcpFallback tcp = new TcpFallback(spark, counters, 4);

  @AfterEach
  void close() {
    tcp.close();
  }

  @Test
  void shouldFetchFromOthersWhileAPeerDoesNotAnswer() throws InterruptedException {
    CountDownLatch never = new CountDownLatch(1);
    spark.blackHoles.put("hole", never);
    RecordingListener dead = new RecordingListener();
    RecordingListener living = new RecordingListener();
    for (int i = 0; i < 20; i++) {
      fetch("hole", "shuffle_0_" + i + "_0", dead);
    }
    for (int i = 0; i < 20; i++) {
      fetch("host" + i % 3, "shuffle_1_" + i + "_0", living);
    }
    assertThat(living.awaitAnswers(20)).hasSize(20);
    assertThat(callsTo("hole")).isLessThanOrEqualTo(1);
    assertThat(counters.value(Counter.TCP_BLOCKS_READ)).isEqualTo(20);
    never.countDown();
    assertThat(dead.awaitAnswers(20)).hasSize(20);
  }

  @Test
  void shouldConnectToOneAddressOnceAtATime() throws InterruptedException {
    CountDownLatch slow = new CountDownLatch(1);
    spark.blackHoles.put("slow", slow);
    RecordingListener listener = new RecordingListener();
    fetch("slow", "shuffle_0_0_0", listener);
    fetch("slow", "shuffle_0_1_0", listener);
    RecordingListener other = new RecordingListener();
    fetch("other", "shuffle_0_2_0", other);
    other.awaitAnswers(1);
    slow.countDown();
    assertThat(listener.awaitAnswers(2)).containsExactly("shuffle_0_0_0", "shuffle_0_1_0");
  }

  @Test
  void shouldNotDelayOthersWhileAPeerDoesNotAnswer() throws InterruptedException {
    long alone = p99Ns();
    CountDownLatch hole = new CountDownLatch(1);
    spark.blackHoles.put("hole", hole);
    RecordingListener dead = new RecordingListener();
    for (int i = 0; i < 100; i++) {
      fetch("hole", "shuffle_0_" + i + "_0", dead);
    }
    // A wide limit for a busy machine; behind the unreachable peer no answer would ever arrive.
    assertThat(p99Ns()).isLessThan(20 * alone + Duration.ofMillis(250).toNanos());
    hole.countDown();
    dead.awaitAnswers(100);
  }

  private long p99Ns() throws InterruptedException {
    long[] tookNs = new long[1_000];
    for (int i = 0; i < tookNs.length; i++) {
      RecordingListener listener = new RecordingListener();
      long begunNs = System.nanoTime();
      fetch("host" + i % 3, "shuffle_1_" + i + "_0", listener);
      listener.awaitAnswers(1);
      tookNs[i] = System.nanoTime() - begunNs;
    }
    Arrays.sort(tookNs);
    return tookNs[tookNs.length * 99 / 100];
  }

  @Test
  void shouldRefuseNothingWhenClosed() throws InterruptedException {
    CountDownLatch slow = new CountDownLatch(1);
    spark.blackHoles.put("slow", slow);
    RecordingListener listener = new RecordingListener();
    fetch("slow", "shuffle_0_0_0", listener);
    fetch("slow", "shuffle_0_1_0", listener);
    tcp.close();
    fetch("other", "shuffle_0_2_0", listener);
    assertThat(listener.awaitAnswers(1)).containsExactly("shuffle_0_2_0");
    slow.countDown();
    assertThat(listener.awaitAnswers(3)).hasSize(3);
    assertThat(listener.failures()).isEmpty();
    assertThat(spark.calls()).hasSize(3);
  }

  @Test
  void shouldKeepNoStateOfRemovedPeers() throws InterruptedException {
    for (int i = 0; i < 5_000; i++) {
      RecordingListener listener = new RecordingListener();
      fetch("host" + i, "shuffle_0_0_0", listener);
      listener.awaitAnswers(1);
    }
    // The last lane may still be ending.
    assertThat(tcp.lanes).hasSizeLessThanOrEqualTo(4);
  }

  @Test
  void shouldIssueMoreRequestsAfterOneWithoutMemory() throws InterruptedException {
    RecordingListener listener = new RecordingListener();
    PeerAddress peer = new PeerAddress("host", "host", 7_337);
    tcp.fetch(
        peer,
        3,
        () -> {
          throw new OutOfMemoryError("thrown by the test");
        },
        listener,
        null);
    for (int i = 0; i < 20; i++) {
      fetch("host", "shuffle_0_" + i + "_0", listener);
    }
    assertThat(listener.awaitAnswers(20)).hasSize(20);
  }

  @Test
  void shouldNotConnectOnItsCallersThreadWhenTheSystemRefusesThreads() throws InterruptedException {
    CountDownLatch slow = new CountDownLatch(1);
    spark.blackHoles.put("slow", slow);
    RecordingListener listener = new RecordingListener();
    TaskThreads threads = new TaskThreads(new RefusingThreads(1), 1, 4, Duration.ofSeconds(30));
    try (TcpFallback one = new TcpFallback(spark, counters, threads)) {
      one.start();
      fetch(one, "slow", "shuffle_0_0_0", listener);
      // Otherwise this thread would wait for the slow address.
      fetch(one, "slow", "shuffle_0_1_0", listener);
      fetch(one, "other", "shuffle_0_2_0", listener);
      slow.countDown();
      assertThat(listener.awaitAnswers(3)).hasSize(3);
    }
    assertThat(listener.failures()).isEmpty();
    assertThat(spark.threads).isNotEmpty().doesNotContain(Thread.currentThread());
  }

  private long callsTo(String host) {
    return spark.calls().stream().filter(call -> call.host().equals(host)).count();
  }

  private void fetch(String host, String blockId, RecordingListener listener) {
    fetch(tcp, host, blockId, listener);
  }

  private static void fetch(
      TcpFallback on, String host, String blockId, RecordingListener listener) {
    on.fetch(new PeerAddress(host, host, 7_337), 3, () -> new String[] {blockId}, listener, null);
  }
}
