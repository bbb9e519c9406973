// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.read;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.apache.spark.TaskContext$;
import org.apache.spark.network.buffer.ManagedBuffer;
import org.apache.spark.network.shuffle.BlockFetchingListener;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.sparkrdma.shuffle.address.TestAddresses;
import org.sparkrdma.shuffle.directory.Endpoint;
import org.sparkrdma.shuffle.directory.EndpointLookup;
import org.sparkrdma.shuffle.fetch.FetchHandler;
import org.sparkrdma.shuffle.fetch.SuspectBlock;
import org.sparkrdma.shuffle.metrics.FailingCounters;
import org.sparkrdma.shuffle.metrics.FallbackReason;
import org.sparkrdma.shuffle.metrics.ShuffleCounters;

/** An Error at the first, second, ... step of a request that a test can let fail. */
@Tag("slow")
@Timeout(60)
class AnswersAfterErrorsTest {
  private static final int BLOCKS = 70;
  private static final int FETCHED = 25;

  /** The first block that fails; the one before is suspect. */
  private static final int SUSPECT = 26;

  private static final Endpoint PEER =
      new Endpoint("7", TestAddresses.listener("10.0.0.7", 4_711), "soft", 1, 1, new byte[32]);

  private final AtomicInteger stepsLeft = new AtomicInteger(Integer.MAX_VALUE);
  private final AtomicInteger steps = new AtomicInteger();
  private final ShuffleCounters counters = FailingCounters.with(this::step);
  private final FakeSparkClient spark = new FakeSparkClient();
  private final FakeTransport transport = new FakeTransport();
  private final TcpFallback tcp = new TcpFallback(spark, counters, 4);
  private final Listener listener = new Listener();

  @AfterEach
  void close() {
    tcp.close();
  }

  private void step() {
    steps.incrementAndGet();
    if (stepsLeft.decrementAndGet() == 0) {
      throw new OutOfMemoryError("thrown by the test");
    }
  }

  static IntStream failingSteps() {
    return IntStream.rangeClosed(1, 400);
  }

  @ParameterizedTest
  @MethodSource("failingSteps")
  void shouldAnswerEachBlockOnce(int failing) throws InterruptedException {
    stepsLeft.set(failing);
    run();
  }

  @Test
  void shouldHaveTriedEachStep() throws InterruptedException {
    run();
    assertThat(steps.get()).isBetween(300, (int) failingSteps().count());
  }

  private void run() throws InterruptedException {
    FetchHandler handler = begin();
    for (int i = 0; i < BLOCKS; i++) {
      int index = i;
      if (index < FETCHED) {
        call(handler, index, () -> handler.onFetched(index, new FakeBuffer(5), 3));
      } else if (index < SUSPECT) {
        SuspectBlock suspect = new SuspectBlock(10, 1, same -> step());
        call(handler, index, () -> handler.onSuspect(index, suspect));
      } else {
        call(handler, index, () -> handler.onFailed(index, FallbackReason.LOST_PEER, "gone"));
      }
    }
    assertThat(listener.awaitAnswers()).doesNotHaveDuplicates().hasSize(BLOCKS);
    tcp.close();
    joinThreads();
    assertThat(listener.awaitAnswers()).as("no second answer later").hasSize(BLOCKS);
  }

  /** Those of the fallback, which end after its close; no other test runs in this JVM meanwhile. */
  private static void joinThreads() throws InterruptedException {
    for (Thread thread : Thread.getAllStackTraces().keySet()) {
      String name = thread.getName();
      if (name.startsWith("rdma-tcp-fallback") || name.startsWith("rdma-compare")) {
        thread.join();
      }
    }
  }

  private FetchHandler begin() {
    EndpointLookup lookup =
        new EndpointLookup() {
          @Override
          public CompletableFuture<Optional<Endpoint>> find(String executorId) {
            return CompletableFuture.completedFuture(Optional.of(PEER));
          }

          @Override
          public void recheck() {
            step();
          }
        };
    String[] blockIds =
        IntStream.range(0, BLOCKS).mapToObj(i -> "shuffle_0_" + i + "_0").toArray(String[]::new);
    TaskContext$.MODULE$.setTaskContext(TaskContext$.MODULE$.empty());
    try {
      new RdmaBlockClient(
              spark, CompletableFuture.completedFuture(transport), lookup, tcp, counters)
          .fetchBlocks("host7", 7_337, "7", blockIds, listener, null);
    } finally {
      TaskContext$.MODULE$.unset();
    }
    return transport.requests.get(0).handler();
  }

  /** Like the transport: a call that throws is followed by {@code onFailed}. */
  private static void call(FetchHandler handler, int index, Runnable answer) {
    try {
      answer.run();
    } catch (OutOfMemoryError e) {
      try {
        handler.onFailed(index, FallbackReason.READ_ERROR, "handler failed");
      } catch (OutOfMemoryError again) {
        // Logged by the transport.
      }
    }
  }

  /** Fails like Spark's fetcher when it has no memory for a result. */
  private final class Listener implements BlockFetchingListener {
    private final List<String> answered = new ArrayList<>();

    @Override
    public void onBlockFetchSuccess(String blockId, ManagedBuffer buffer) {
      step();
      add(blockId);
    }

    @Override
    public void onBlockFetchFailure(String blockId, Throwable failure) {
      step();
      add(blockId);
    }

    private synchronized void add(String blockId) {
      answered.add(blockId);
      notifyAll();
    }

    synchronized List<String> awaitAnswers() throws InterruptedException {
      while (answered.size() < BLOCKS) {
        wait();
      }
      return List.copyOf(answered);
    }
  }

  @Test
  void shouldAnswerTheOthersWhenOneAnswerThrows() {
    List<String> answers = new ArrayList<>();
    TcpAnswers open =
        new TcpAnswers(
            new String[] {"a", "b", "c"},
            0,
            new BlockFetchingListener() {
              @Override
              public void onBlockFetchSuccess(String blockId, ManagedBuffer buffer) {
                answers.add(blockId);
              }

              @Override
              public void onBlockFetchFailure(String blockId, Throwable failure) {
                answers.add("failed " + blockId);
                if (blockId.equals("a")) {
                  throw new OutOfMemoryError("thrown by the test");
                }
              }
            },
            counters);
    stepsLeft.set(1);
    open.newAttempt().onBlockFetchSuccess("b", new FakeBuffer(1));
    open.failRest(new IllegalStateException("closed"));
    assertThat(answers).isEqualTo(Arrays.asList("b", "failed a", "failed a", "failed c"));
  }
}
