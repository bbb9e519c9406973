// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.fetch;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.sun.management.ThreadMXBean;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import java.util.stream.IntStream;
import org.apache.spark.network.buffer.NioManagedBuffer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.sparkrdma.shuffle.metrics.Counter;
import org.sparkrdma.shuffle.metrics.FallbackReason;
import org.sparkrdma.shuffle.metrics.ShuffleCounters;
import org.sparkrdma.shuffle.thread.ThreadShortageException;

@Timeout(30)
class FallbackThreadsTest {
  private final FakeSparkClient spark = new FakeSparkClient();
  private final ShuffleCounters counters = new ShuffleCounters();
  private final AtomicLong nowNs = new AtomicLong();
  private volatile Consumer<FetchRequest> recheck = request -> {};
  private volatile boolean refusesThreads;
  private final FallbackThreads tcp =
      new FallbackThreads(request -> recheck.accept(request), nowNs::get, this::start);
  private final RecordingListener listener = new RecordingListener();

  @BeforeEach
  void start() {
    tcp.start();
  }

  private void start(Thread thread) {
    if (refusesThreads) {
      throw ThreadShortageException.of(
          thread.getName(), new OutOfMemoryError("unable to create native thread"));
    }
    thread.start();
  }

  @AfterEach
  void close() {
    spark.release();
    tcp.close();
  }

  private FetchRequest request(String host, String... names) {
    return request(listener, host, names);
  }

  private FetchRequest request(RecordingListener to, String host, String... names) {
    BlockRanges ranges = new BlockRanges(names.length);
    for (int i = 0; i < names.length; i++) {
      ranges.add(0, i, 0, 1);
    }
    return new FetchRequest(
        new FetchContext(spark, tcp, counters, true, 1, new FallbackLog()),
        new BlockManagerAddress("7", host, 7_337),
        names,
        ranges,
        to,
        new FetchingTask(null));
  }

  @Test
  void shouldConnectToAnAddressOnceAtATimeAndDelayNoOtherAddress() throws InterruptedException {
    spark.hold("a");
    request("a", "1").leaveRestToTcp(FallbackReason.TIMEOUT, "late");
    spark.awaitCalls(1);
    request("a", "2").leaveRestToTcp(FallbackReason.TIMEOUT, "late");
    request("b", "3").leaveRestToTcp(FallbackReason.TIMEOUT, "late");
    assertThat(listener.awaitAnswers(1)).containsExactly("3");
    assertThat(spark.calls()).as("the second request waits").hasSize(2);
    spark.release("a");
    assertThat(listener.awaitAnswers(3)).containsExactly("3", "1", "2");
  }

  @Test
  void shouldFetchBlocksTogetherThatFailWhileTheirRequestIsQueued() throws InterruptedException {
    spark.hold("a");
    request("a", "1").leaveRestToTcp(FallbackReason.TIMEOUT, "late");
    spark.awaitCalls(1);
    FetchRequest request = request("a", "2", "3", "4");
    for (int i = 0; i < 3; i++) {
      request.leaveToTcp(i, FallbackReason.PEER_BUSY, "no room");
    }
    spark.release("a");
    listener.awaitAnswers(4);
    assertThat(spark.calls()).extracting(call -> call.blockIds().size()).containsExactly(1, 3);
  }

  /** As when their connection breaks. */
  @Test
  void shouldTakeTheManyBlocksOfARequestOneByOne() throws InterruptedException {
    spark.hold("a");
    request("a", "first").leaveRestToTcp(FallbackReason.TIMEOUT, "late");
    spark.awaitCalls(1);
    int blocks = 20_000;
    FetchRequest request =
        request("a", IntStream.range(0, blocks).mapToObj(Integer::toString).toArray(String[]::new));
    ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    long before = threads.getCurrentThreadAllocatedBytes();
    for (int i = 0; i < blocks; i++) {
      request.leaveToTcp(i, FallbackReason.SLOW_PEER, "no progress");
    }
    long bytes = threads.getCurrentThreadAllocatedBytes() - before;
    assertThat(bytes / blocks).as("bytes of garbage for each").isLessThan(500);
    spark.release("a");
    listener.awaitAnswers(1 + blocks);
    assertThat(spark.calls()).hasSize(2);
  }

  @Test
  void shouldServeMoreAddressesThanItHasThreads() throws InterruptedException {
    List<String> hosts = new ArrayList<>();
    for (int i = 0; i < 2 * FallbackThreads.THREADS; i++) {
      hosts.add("host" + i);
      spark.hold("host" + i);
      request("host" + i, "block" + i).leaveRestToTcp(FallbackReason.LOST_PEER, "lost");
    }
    spark.awaitCalls(FallbackThreads.THREADS);
    hosts.forEach(spark::release);
    assertThat(listener.awaitAnswers(hosts.size())).hasSize(hosts.size());
    assertThat(spark.threads).hasSizeLessThanOrEqualTo(FallbackThreads.THREADS);
  }

  /** Hosts that do not answer: a connect takes two minutes there. */
  @Test
  void shouldServeAnAddressSoonBehindManyThatTakeLong() throws InterruptedException {
    int dead = FallbackThreads.MAX_THREADS - 1;
    for (int i = 0; i < dead; i++) {
      spark.hold("dead" + i);
      request("dead" + i, "block" + i).leaveRestToTcp(FallbackReason.LOST_PEER, "lost");
    }
    request("dead0", "second").leaveRestToTcp(FallbackReason.LOST_PEER, "lost");
    request("well", "well").leaveRestToTcp(FallbackReason.LOST_PEER, "lost");
    spark.awaitCalls(FallbackThreads.THREADS);
    for (int calls = FallbackThreads.THREADS; calls <= dead; calls += FallbackThreads.THREADS) {
      nowNs.addAndGet(FallbackThreads.SLOW_NS);
      spark.awaitCalls(Math.min(calls + FallbackThreads.THREADS, dead + 1));
    }
    assertThat(listener.awaitAnswers(1)).containsExactly("well");
    assertThat(nowNs.get()).isLessThan(TimeUnit.SECONDS.toNanos(2));
    assertThat(spark.threads).hasSizeLessThanOrEqualTo(FallbackThreads.MAX_THREADS);
    assertThat(spark.calls()).as("one at a time for an address").hasSize(dead + 1);
    spark.release();
    assertThat(listener.awaitAnswers(dead + 2)).contains("second");
    while (spark.threads.stream().filter(Thread::isAlive).count() > FallbackThreads.THREADS) {
      Thread.onSpinWait();
    }
  }

  @Test
  void shouldServeAnAddressSoonAfterTheSystemHasRefusedAThread() throws InterruptedException {
    refusesThreads = true;
    for (int i = 0; i < FallbackThreads.THREADS; i++) {
      spark.hold("dead" + i);
      request("dead" + i, "block" + i).leaveRestToTcp(FallbackReason.LOST_PEER, "lost");
    }
    spark.awaitCalls(FallbackThreads.THREADS);
    refusesThreads = false;
    nowNs.addAndGet(FallbackThreads.SLOW_NS);
    request("well", "well").leaveRestToTcp(FallbackReason.LOST_PEER, "lost");
    assertThat(listener.awaitAnswers(1)).containsExactly("well");
  }

  /** As a log whose disk is full may. */
  @Test
  void shouldFetchBlocksWhoseReportThrows() throws InterruptedException {
    recheck =
        request -> {
          throw new IllegalStateException("thrown by the test");
        };
    FetchRequest request = request("a", "1", "2");
    assertThatThrownBy(() -> request.leaveRestToTcp(FallbackReason.LOST_PEER, "lost"))
        .hasMessage("thrown by the test");
    assertThat(listener.awaitAnswers(2)).containsExactly("1", "2");
  }

  @Test
  void shouldAnswerEachBlockOnceWhenSparksClientThrows() throws InterruptedException {
    spark.answersBeforeError = 1;
    spark.errors.add(new IllegalStateException("thrown by the test"));
    request("a", "1", "2", "3").leaveRestToTcp(FallbackReason.TIMEOUT, "late");
    assertThat(listener.awaitAnswers(3)).containsExactly("1", "2", "3");
    assertThat(listener.failures()).containsOnlyKeys("2", "3");
    request("a", "4").leaveRestToTcp(FallbackReason.TIMEOUT, "late");
    assertThat(listener.awaitAnswers(4)).contains("4");
  }

  /** A second answer could make Spark read the block twice. */
  @Test
  void shouldAnswerEachBlockOnceWhenSparksClientThrowsAndAnswersLater() throws Exception {
    spark.errors.add(new IllegalStateException("thrown by the test"));
    request("a", "1").leaveRestToTcp(FallbackReason.TIMEOUT, "late");
    assertThat(listener.awaitAnswers(1)).containsExactly("1");
    spark.listener.onBlockFetchSuccess("1", new NioManagedBuffer(ByteBuffer.allocate(10)));
    spark.listener.onBlockFetchFailure("1", new IOException("thrown by the test"));
    assertThat(listener.awaitAnswers(1)).containsExactly("1");
    assertThat(listener.failures()).containsOnlyKeys("1");
    assertThat(counters.value(Counter.TCP_BLOCKS_READ)).isZero();
  }

  @Test
  void shouldGoOnAfterACheckedExceptionOfSpark() throws InterruptedException {
    tcp.tryRun(
        new BlockManagerAddress("7", "a", 7_337).hostPort(),
        () -> {
          throw TaskOutputs.<RuntimeException>unchecked(new IOException("thrown by the test"));
        });
    request("a", "1").leaveRestToTcp(FallbackReason.TIMEOUT, "late");
    assertThat(listener.awaitAnswers(1)).containsExactly("1");
  }

  /** Spark's listener puts results into a queue, which refuses an interrupted thread. */
  @Test
  void shouldAnswerEachBlockWhenSparksClientIsInterrupted() throws InterruptedException {
    RecordingListener refusing =
        new RecordingListener(
            (name, block) -> {
              if (Thread.interrupted()) {
                throw TaskOutputs.<RuntimeException>unchecked(new InterruptedException(name));
              }
            });
    spark.errors.add(new InterruptedException("thrown by the test"));
    request(refusing, "a", "1", "2").leaveRestToTcp(FallbackReason.TIMEOUT, "late");
    assertThat(refusing.awaitAnswers(2)).containsExactly("1", "2");
    tcp.tryRun(
        new BlockManagerAddress("7", "b", 7_337).hostPort(),
        () -> Thread.currentThread().interrupt());
    request(refusing, "b", "3").leaveRestToTcp(FallbackReason.TIMEOUT, "late");
    assertThat(refusing.awaitAnswers(3)).contains("3");
    assertThat(refusing.failures()).containsOnlyKeys("1", "2");
  }

  @Test
  void shouldFetchQueuedRequestsBeforeItsEndAndLaterOnesOnTheCallersThread()
      throws InterruptedException {
    spark.hold("a");
    request("a", "1").leaveRestToTcp(FallbackReason.TIMEOUT, "late");
    spark.awaitCalls(1);
    request("a", "2").leaveRestToTcp(FallbackReason.TIMEOUT, "late");
    tcp.close();
    request("b", "3").leaveRestToTcp(FallbackReason.STOPPED, "stops");
    assertThat(spark.threads).contains(Thread.currentThread());
    spark.release("a");
    assertThat(listener.awaitAnswers(3)).contains("1", "2", "3");
  }
}
