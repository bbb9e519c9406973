// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.runtime;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import org.apache.logging.log4j.LogManager;
import org.apache.logging.log4j.core.LogEvent;
import org.apache.logging.log4j.core.Logger;
import org.apache.logging.log4j.core.appender.AbstractAppender;
import org.apache.logging.log4j.core.config.Property;
import org.apache.spark.SparkEnv;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.sparkrdma.shuffle.directory.DirectoryName;
import org.sparkrdma.shuffle.directory.DriverDirectory;
import org.sparkrdma.shuffle.fetch.FakeSparkClient;
import org.sparkrdma.shuffle.fetch.FetchRequest;
import org.sparkrdma.shuffle.fetch.FetchingTask;
import org.sparkrdma.shuffle.fetch.RecordingListener;
import org.sparkrdma.shuffle.links.MissingLinks;
import org.sparkrdma.shuffle.metrics.FallbackReason;

/**
 * The end of an executor while its tasks fetch, each step of it held. Spark's client answers every
 * block here, so each failed block would be one that the plug-in has refused. Spark would count
 * that as a failure of the executor that serves it.
 */
class DrainTest extends RuntimeFixture {
  private static final String FALLBACK_THREAD = "rdma-tcp-";

  /** This executor, whose endpoint is the only one in the directory. */
  private static final String WITH_RDMA = "driver";

  private static final String WITHOUT_RDMA = "8";

  private DriverDirectory directory;
  private final FakeSparkClient tcp = new FakeSparkClient();
  private final RecordingListener answers = new RecordingListener();
  private final Queue<FetchRequest> open = new ConcurrentLinkedQueue<>();
  private final CountDownLatch reached = new CountDownLatch(1);
  private final CountDownLatch mayGoOn = new CountDownLatch(1);

  @BeforeEach
  void openDirectory() {
    SparkEnv env = SparkEnv.get();
    DirectoryName.choose(env.conf());
    directory =
        new DriverDirectory(
            env.conf(),
            env.rpcEnv(),
            Duration.ofSeconds(30),
            "",
            (executorId, values) -> true,
            new MissingLinks());
    client = tcp;
  }

  @AfterEach
  void close() {
    tcp.release();
    mayGoOn.countDown();
    directory.close();
  }

  @Test
  void shouldAnswerEveryBlockWhileTheHookOfTheJvmIsSlowAndAfterIt() throws Exception {
    RdmaRuntime runtime = runtime(() -> engine.close("transport"));
    runtime.start();
    fetchBefore(runtime);
    try (HeldLog held = new HeldLog(RdmaRuntime.class, "Shuffle of this executor")) {
      assertThat(held.isStarted()).isTrue();
      Thread ending = new Thread(runtime::drain, "hook");
      ending.start();
      reached.await();
      fetchWhileEnding(runtime);
      mayGoOn.countDown();
      ending.join();
    }
    fetchAfter(runtime);
    assertThat(engine.closed()).as("peers may still read registered memory").isEmpty();
    // Requests by RDMA end later, and their connects wait on no other's thread.
    fail();
    assertThat(tcp.awaitRequest("shuffle_0_1_0")).startsWith(FALLBACK_THREAD);
    assertAllAnswered();
    assertThat(engine.closed()).isEmpty();
    runtime.close();
    assertThat(engine.closed()).containsExactly("transport", "device", "engine");
  }

  @Test
  void shouldAnswerEveryBlockWhileTheExecutorStopsSlowlyAndAfterIt() throws Exception {
    RdmaRuntime runtime =
        runtime(
            () -> {
              reached.countDown();
              await(mayGoOn);
              fail();
              engine.close("transport");
            });
    runtime.start();
    fetchBefore(runtime);
    Thread ending = new Thread(runtime::close, "stop");
    ending.start();
    reached.await();
    fetchWhileEnding(runtime);
    mayGoOn.countDown();
    ending.join();
    assertThat(tcp.awaitRequest("shuffle_0_1_0")).startsWith(FALLBACK_THREAD);
    fetchAfter(runtime);
    assertAllAnswered();
    assertThat(engine.closed()).containsExactly("transport", "device", "engine");
  }

  /** Two requests by RDMA, and two that Spark's client holds. */
  private void fetchBefore(RdmaRuntime runtime) throws InterruptedException {
    runtime.require(WAIT);
    runtime.awaitPublished();
    fetch(runtime, WITH_RDMA, "rdma", "shuffle_0_0_0");
    awaitOpen(1);
    fetch(runtime, WITH_RDMA, "rdma", "shuffle_0_1_0");
    awaitOpen(2);
    tcp.hold("slow");
    // Where it is known at once that a peer has no RDMA, the task's thread connects.
    new Thread(() -> fetch(runtime, WITHOUT_RDMA, "slow", "shuffle_0_2_0"), "task 2").start();
    tcp.awaitRequest("shuffle_0_2_0");
    new Thread(() -> fetch(runtime, WITHOUT_RDMA, "slow", "shuffle_0_3_0"), "task 3").start();
  }

  private void fetchWhileEnding(RdmaRuntime runtime) throws InterruptedException {
    String task = Thread.currentThread().getName();
    fetch(runtime, WITH_RDMA, "rdma", "shuffle_0_4_0");
    assertThat(tcp.requester("shuffle_0_4_0")).isEqualTo(task);
    fetch(runtime, WITHOUT_RDMA, "quick", "shuffle_0_5_0");
    assertThat(tcp.requester("shuffle_0_5_0")).isEqualTo(task);
    fail();
    assertThat(tcp.awaitRequest("shuffle_0_0_0")).startsWith(FALLBACK_THREAD);
  }

  private void fetchAfter(RdmaRuntime runtime) {
    fetch(runtime, WITH_RDMA, "rdma", "shuffle_0_6_0");
    assertThat(tcp.requester("shuffle_0_6_0")).isEqualTo(Thread.currentThread().getName());
  }

  /** A time-out of the transport, or its close, for the first request that is open. */
  private void fail() {
    open.remove().leaveToTcp(0, FallbackReason.STOPPED, "the executor stops");
  }

  private void assertAllAnswered() throws InterruptedException {
    tcp.release();
    assertThat(answers.awaitAnswers(7))
        .containsExactlyInAnyOrder(
            "shuffle_0_0_0",
            "shuffle_0_1_0",
            "shuffle_0_2_0",
            "shuffle_0_3_0",
            "shuffle_0_4_0",
            "shuffle_0_5_0",
            "shuffle_0_6_0");
    assertThat(answers.failures()).isEmpty();
  }

  private void fetch(RdmaRuntime runtime, String executorId, String host, String block) {
    runtime
        .reads()
        .client(new FetchingTask(null))
        .fetchBlocks(host, 7_337, executorId, new String[] {block}, answers, null);
  }

  private void awaitOpen(int count) {
    while (open.size() < count) {
      Thread.onSpinWait();
    }
  }

  private RdmaRuntime runtime(Runnable closeOfTransport) {
    return runtime(
        engine,
        parts ->
            engine.new IdleTransport(() -> {}, closeOfTransport) {
              @Override
              public void fetch(FetchRequest request) {
                // Not the executor's own first fetch.
                if (request.ranges().shuffleId(0) == 0) {
                  open.add(request);
                }
              }
            });
  }

  private static void await(CountDownLatch latch) {
    try {
      latch.await();
    } catch (InterruptedException e) {
      throw new IllegalStateException("interrupted", e);
    }
  }

  /** Holds the thread that logs a line with this text, as a hanging disk would. */
  private final class HeldLog extends AbstractAppender implements AutoCloseable {
    private final Logger logger;
    private final String text;

    HeldLog(Class<?> owner, String text) {
      super("held", null, null, true, Property.EMPTY_ARRAY);
      this.logger = (Logger) LogManager.getLogger(owner);
      this.text = text;
      start();
      logger.addAppender(this);
    }

    @Override
    public void append(LogEvent event) {
      if (event.getMessage().getFormattedMessage().contains(text)) {
        reached.countDown();
        DrainTest.await(mayGoOn);
      }
    }

    @Override
    public void close() {
      logger.removeAppender(this);
      stop();
    }
  }
}
