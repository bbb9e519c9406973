// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.read;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
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
  private final VirtualPause pause = new VirtualPause();
  private final Map<String, TcpRequestQueue> queues = new ConcurrentHashMap<>();
  private final TcpFallback tcp =
      VirtualPause.tcp(spark, counters, TaskThreads.named("rdma-tcp-fallback"), pause, queues);

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
    CountDownLatch hole = new CountDownLatch(1);
    spark.blackHoles.put("hole", hole);
    RecordingListener dead = new RecordingListener();
    for (int i = 0; i < 100; i++) {
      fetch("hole", "shuffle_0_" + i + "_0", dead);
    }
    // Behind a request for the peer no answer would ever arrive; a pause shows in totalMs.
    for (int i = 0; i < 1_000; i++) {
      RecordingListener listener = new RecordingListener();
      fetch("host" + i % 3, "shuffle_1_" + i + "_0", listener);
      listener.awaitAnswers(1);
    }
    assertThat(dead.awaitAnswers(0)).as("answers of the peer meanwhile").isEmpty();
    assertThat(pause.totalMs()).as("time for which requests paused").isZero();
    hole.countDown();
    dead.awaitAnswers(100);
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
    // The last queue may still be ending.
    assertThat(queues).hasSizeLessThanOrEqualTo(4);
  }

  @Test
  void shouldIssueMoreRequestsAfterOneWithoutMemory() throws InterruptedException {
    RecordingListener listener = new RecordingListener();
    tcp.fetch(
        new TcpRequest(
            address("host"),
            3,
            () -> {
              throw new OutOfMemoryError("thrown by the test");
            },
            listener,
            null));
    for (int i = 0; i < 20; i++) {
      fetch("host", "shuffle_0_" + i + "_0", listener);
    }
    assertThat(listener.awaitAnswers(20)).hasSize(20);
  }

  @Test
  void shouldNotFailBlocksOfAHealthyPeerBecauseOfOneError() throws InterruptedException {
    spark.errors.add(new OutOfMemoryError("Java heap space"));
    RecordingListener listener = new RecordingListener();
    fetch("host", "shuffle_0_0_0", listener);
    assertThat(listener.awaitAnswers(1)).containsExactly("shuffle_0_0_0");
    assertThat(listener.failures()).isEmpty();
    assertThat(spark.calls()).hasSize(2);
    assertThat(pause.totalMs()).isEqualTo(100);
  }

  @Test
  void shouldRequestOnlyBlocksAgainThatHaveNoAnswer() throws InterruptedException {
    spark.errors.add(new OutOfMemoryError("unable to create native thread"));
    spark.answersBeforeError = 1;
    RecordingListener listener = new RecordingListener();
    String[] blockIds = {"shuffle_0_0_0", "shuffle_0_1_0", "shuffle_0_2_0"};
    tcp.fetch(new TcpRequest(address("host"), 3, () -> blockIds, listener, null));
    assertThat(listener.awaitAnswers(3)).containsExactly(blockIds);
    assertThat(listener.failures()).isEmpty();
    assertThat(spark.calls())
        .extracting(FakeSparkClient.Call::blockIds)
        .containsExactly(List.of(blockIds), List.of("shuffle_0_1_0", "shuffle_0_2_0"));
    assertThat(counters.value(Counter.TCP_BLOCKS_READ)).isEqualTo(3);
  }

  @Test
  void shouldFailBlocksInBoundedTimeWhileTheErrorLasts() throws InterruptedException {
    spark.thrown = new OutOfMemoryError("Java heap space");
    RecordingListener listener = new RecordingListener();
    for (int i = 0; i < 10; i++) {
      fetch("host", "shuffle_0_" + i + "_0", listener);
    }
    assertThat(listener.awaitAnswers(10)).doesNotHaveDuplicates();
    assertThat(listener.failures().values()).hasSize(10).containsOnly(spark.thrown);
    // The queue may have become idle between two requests.
    assertThat(pause.totalMs()).isBetween(3_100L, 31_000L).isEqualTo(3_100 * queuesUsed());
  }

  private long queuesUsed() {
    return (spark.calls().size() - 10L) / TcpRequestQueue.MAX_PAUSES;
  }

  @Test
  void shouldNotWaitAfterAnErrorWhenTheExecutorStops() throws InterruptedException {
    spark.thrown = new OutOfMemoryError("Java heap space");
    RecordingListener listener = new RecordingListener();
    tcp.drain();
    fetch("host", "shuffle_0_0_0", listener);
    tcp.fetchNow(address("host"), 3, new String[] {"shuffle_0_1_0"}, listener, null);
    listener.awaitAnswers(2);
    assertThat(listener.failures()).hasSize(2);
    assertThat(spark.calls()).hasSize(2);
    assertThat(pause.totalMs()).isZero();
  }

  @Test
  void shouldEndAPauseWhenTheExecutorStops() throws InterruptedException {
    CountDownLatch paused = new CountDownLatch(1);
    TcpRequestQueues.Pause anHour =
        (threads, queue, ms) -> {
          boolean started = threads.tryExecuteAfter(queue, TimeUnit.HOURS.toMillis(1));
          paused.countDown();
          return started;
        };
    spark.errors.add(new OutOfMemoryError("Java heap space"));
    RecordingListener listener = new RecordingListener();
    try (TcpFallback stopping =
        VirtualPause.tcp(
            spark, counters, new RefusingThreads(1), anHour, new ConcurrentHashMap<>())) {
      stopping.fetch(request("host", "shuffle_0_0_0", listener));
      paused.await();
      stopping.drain();
      listener.awaitAnswers(1);
    }
    assertThat(listener.failures()).isEmpty();
    assertThat(spark.calls()).hasSize(2);
  }

  /** One thread lives: in the pauses of an address, 3.1 s in all, it serves the others. */
  @Test
  void shouldFetchFromHealthyAddressesInThePausesOfOthers() throws InterruptedException {
    spark.failing.put("failing", new OutOfMemoryError("Java heap space"));
    RecordingListener listener = new RecordingListener();
    try (TcpFallback one = new TcpFallback(spark, counters, 1)) {
      one.fetch(request("failing", "shuffle_0_0_0", listener));
      for (int i = 0; i < 3; i++) {
        one.fetch(request("host" + i, "shuffle_1_" + i + "_0", listener));
      }
      assertThat(listener.awaitAnswers(3))
          .containsExactly("shuffle_1_0_0", "shuffle_1_1_0", "shuffle_1_2_0");
      one.drain();
      assertThat(listener.awaitAnswers(4)).endsWith("shuffle_0_0_0");
    }
    assertThat(listener.failures()).containsOnlyKeys("shuffle_0_0_0");
  }

  @Test
  void shouldFetchFromPeersThatAnswerWhileAddressesWithoutAnAnswerHoldAllThreads()
      throws InterruptedException {
    RecordingListener dead = new RecordingListener();
    CountDownLatch never = holdAllThreads(dead);
    RecordingListener living = new RecordingListener();
    TcpRequest request = request("host", "shuffle_1_0_0", living);
    request.peerHasAnswered(true);
    tcp.fetch(request);
    assertThat(living.awaitAnswers(1)).hasSize(1);
    never.countDown();
    dead.awaitAnswers(5);
  }

  /** Other tasks do not wait for it, as in Spark's own fetch. */
  @Test
  void shouldFetchOnATasksThreadWhileAddressesWithoutAnAnswerHoldAllThreads()
      throws InterruptedException {
    RecordingListener dead = new RecordingListener();
    CountDownLatch never = holdAllThreads(dead);
    RecordingListener living = new RecordingListener();
    fetchAsked("host", "shuffle_1_0_0", living);
    spark.errors.add(new OutOfMemoryError("Java heap space"));
    fetchAsked("host", "shuffle_1_1_0", living);
    assertThat(living.awaitAnswers(1)).containsExactly("shuffle_1_0_0");
    assertThat(spark.threads).contains(Thread.currentThread());
    never.countDown();
    dead.awaitAnswers(5);
    assertThat(living.awaitAnswers(2)).as("issued again").endsWith("shuffle_1_1_0");
    assertThat(living.failures()).isEmpty();
  }

  @Test
  void shouldFetchOnItsOwnThreadsForATaskWhileOneIsIdle() throws InterruptedException {
    RecordingListener listener = new RecordingListener();
    fetchAsked("host", "shuffle_0_0_0", listener);
    listener.awaitAnswers(1);
    assertThat(spark.threads).doesNotContain(Thread.currentThread());
  }

  /** Fetches a block from each of more addresses without an answer than there are threads. */
  private CountDownLatch holdAllThreads(RecordingListener listener) throws InterruptedException {
    CountDownLatch never = new CountDownLatch(1);
    for (int i = 0; i < 5; i++) {
      spark.blackHoles.put("dead" + i, never);
      fetch("dead" + i, "shuffle_0_" + i + "_0", listener);
    }
    spark.awaitCalls(4);
    return never;
  }

  @Test
  void shouldFetchWithoutMemoryForAQueue() throws InterruptedException {
    Map<String, TcpRequestQueue> noMemory =
        new ConcurrentHashMap<>() {
          private static final long serialVersionUID = 1L;

          @Override
          public TcpRequestQueue computeIfAbsent(
              String key, Function<? super String, ? extends TcpRequestQueue> create) {
            throw new OutOfMemoryError("thrown by the test");
          }
        };
    RecordingListener listener = new RecordingListener();
    try (TcpFallback without =
        VirtualPause.tcp(spark, counters, new RefusingThreads(1), pause, noMemory)) {
      for (int i = 0; i < 3; i++) {
        without.fetch(request("host" + i, "shuffle_0_" + i + "_0", listener));
      }
      assertThat(listener.awaitAnswers(3))
          .containsExactly("shuffle_0_0_0", "shuffle_0_1_0", "shuffle_0_2_0");
    }
    assertThat(listener.failures()).isEmpty();
  }

  @Test
  void shouldNotConnectOnItsCallersThreadWhenTheSystemRefusesThreads() throws InterruptedException {
    CountDownLatch slow = new CountDownLatch(1);
    spark.blackHoles.put("slow", slow);
    RecordingListener listener = new RecordingListener();
    try (TcpFallback one =
        VirtualPause.tcp(
            spark, counters, new RefusingThreads(1), pause, new ConcurrentHashMap<>())) {
      one.start();
      one.fetch(request("slow", "shuffle_0_0_0", listener));
      // Otherwise this thread would wait for the slow address.
      one.fetch(request("slow", "shuffle_0_1_0", listener));
      one.fetch(request("other", "shuffle_0_2_0", listener));
      slow.countDown();
      assertThat(listener.awaitAnswers(3)).hasSize(3);
    }
    assertThat(listener.failures()).isEmpty();
    assertThat(spark.threads).isNotEmpty().doesNotContain(Thread.currentThread());
  }

  private static TcpRequest request(String host, String blockId, RecordingListener listener) {
    return new TcpRequest(address(host), 3, () -> new String[] {blockId}, listener, null);
  }

  private static PeerAddress address(String host) {
    return new PeerAddress(host, host, 7_337);
  }

  private long callsTo(String host) {
    return spark.calls().stream().filter(call -> call.host().equals(host)).count();
  }

  /** Fetches a block for which this thread asks. */
  private void fetchAsked(String host, String blockId, RecordingListener listener) {
    TcpRequest request = request(host, blockId, listener);
    request.askedBy(Thread.currentThread());
    tcp.fetch(request);
  }

  private void fetch(String host, String blockId, RecordingListener listener) {
    tcp.fetch(request(host, blockId, listener));
  }
}
