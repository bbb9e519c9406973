// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.read;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class TcpRequestQueueTest {
  private final List<String> issued = new ArrayList<>();
  private final List<Long> pauses = new ArrayList<>();

  /** Queues that run again after a pause. */
  private final Queue<TcpRequestQueue> paused = new ArrayDeque<>();

  /** Number of times for which each request throws. */
  private int errors;

  @ParameterizedTest
  @ValueSource(strings = {"closed", "no thread lives"})
  void shouldIssueOnTheCallersThreadWhenThereIsNoOther(String why) {
    TcpRequestQueue queue =
        queue(
            task -> {
              if (why.equals("closed")) {
                throw new RejectedExecutionException(why);
              }
              throw new OutOfMemoryError("unable to create native thread");
            });
    for (String block : List.of("a", "b")) {
      queue.add(request(block));
      queue.start();
    }
    assertThat(issued).containsExactly("a", "idle", "b", "idle");
    assertThat(queue.isIdle()).isTrue();
  }

  @Test
  void shouldIssueAllQueuedRequestsOnOneThread() {
    List<Runnable> tasks = new ArrayList<>();
    TcpRequestQueue queue = queue(tasks::add);
    for (String block : List.of("a", "b", "c")) {
      queue.add(request(block));
      queue.start();
    }
    assertThat(tasks).hasSize(1);
    run(tasks.get(0));
    assertThat(issued).containsExactly("a", "b", "c", "idle");
  }

  @Test
  void shouldIssueTheOtherRequestsWhenOneThrows() {
    List<Runnable> tasks = new ArrayList<>();
    TcpRequestQueue queue = queue(tasks::add);
    for (String block : List.of("a", "broken", "c")) {
      queue.add(request(block));
      queue.start();
    }
    run(tasks.get(0));
    assertThat(issued).containsExactly("a", "broken failed", "c", "idle");
    assertThat(pauses).containsExactly(100L, 200L, 400L, 800L, 1_600L);
    assertThat(queue.isIdle()).isTrue();
    queue.add(request("d"));
    queue.start();
    run(tasks.get(1));
    assertThat(issued).endsWith("d", "idle");
  }

  @Test
  void shouldIssueMoreRequestsAfterItsEndHasThrown() {
    TcpRequestQueue queue =
        new TcpRequestQueue(
            Runnable::run,
            this::issue,
            this::pause,
            () -> {
              throw new OutOfMemoryError("thrown by the test");
            });
    for (String block : List.of("a", "b")) {
      queue.add(request(block));
      queue.start();
    }
    assertThat(issued).containsExactly("a", "b");
  }

  @Test
  void shouldIssueARequestAgainAfterAnErrorAndBeforeLaterOnes() {
    List<Runnable> tasks = new ArrayList<>();
    TcpRequestQueue queue = queue(tasks::add);
    for (String block : List.of("a", "b")) {
      queue.add(request(block));
      queue.start();
    }
    errors = 2;
    run(tasks.get(0));
    assertThat(issued).containsExactly("a", "b", "idle");
    assertThat(pauses).containsExactly(100L, 200L);
  }

  @Test
  void shouldHoldNoThreadInAPause() {
    List<Runnable> tasks = new ArrayList<>();
    TcpRequestQueue queue = queue(tasks::add);
    queue.add(request("a"));
    queue.start();
    errors = 1;
    tasks.get(0).run();
    assertThat(issued).isEmpty();
    queue.add(request("b"));
    queue.start();
    assertThat(tasks).as("the queue waits for the end of its pause").hasSize(1);
    assertThat(queue.isIdle()).isFalse();
    paused.remove().run();
    assertThat(issued).containsExactly("a", "b", "idle");
  }

  @Test
  void shouldGiveLaterRequestsOneAttemptEachWhileAllFail() {
    List<Runnable> tasks = new ArrayList<>();
    TcpRequestQueue queue = queue(tasks::add);
    for (String block : List.of("a", "b", "c", "d")) {
      queue.add(request(block));
      queue.start();
    }
    errors = 1 + TcpRequestQueue.MAX_PAUSES + 1;
    run(tasks.get(0));
    assertThat(issued).containsExactly("a failed", "b failed", "c", "d", "idle");
    assertThat(pauses).hasSize(TcpRequestQueue.MAX_PAUSES);
    errors = 1;
    queue.add(request("e"));
    queue.start();
    run(tasks.get(1));
    assertThat(issued).as("one has succeeded meanwhile").endsWith("e", "idle");
  }

  @Test
  void shouldNotIssueARequestAgainWhenTheExecutorStops() {
    TcpRequestQueue queue =
        new TcpRequestQueue(Runnable::run, this::issue, (paused, ms) -> false, () -> {});
    errors = 1;
    queue.add(request("a"));
    queue.start();
    assertThat(issued).containsExactly("a failed");
  }

  @Test
  void shouldNotIssueARequestAgainAfterAnException() {
    TcpRequestQueue queue =
        new TcpRequestQueue(
            Runnable::run,
            request -> {
              throw new IllegalStateException("thrown by the test");
            },
            this::pause,
            () -> {});
    queue.add(request("a"));
    queue.start();
    assertThat(issued).containsExactly("a failed");
    assertThat(pauses).isEmpty();
  }

  @Test
  void shouldTakeNoRequestsAfterItsEnd() {
    List<Runnable> tasks = new ArrayList<>();
    TcpRequestQueue queue = queue(tasks::add);
    assertThat(queue.add(request("a"))).isTrue();
    queue.start();
    assertThat(queue.endIfIdle()).isFalse();
    run(tasks.get(0));
    assertThat(queue.endIfIdle()).isTrue();
    assertThat(queue.add(request("b"))).isFalse();
    queue.start();
    assertThat(issued).containsExactly("a", "idle");
  }

  private TcpRequestQueue queue(Executor threads) {
    return new TcpRequestQueue(threads, this::issue, this::pause, () -> issued.add("idle"));
  }

  private boolean pause(TcpRequestQueue queue, long ms) {
    pauses.add(ms);
    return paused.add(queue);
  }

  /** Runs a queue, and again after each pause. */
  private void run(Runnable task) {
    task.run();
    for (TcpRequestQueue queue = paused.poll(); queue != null; queue = paused.poll()) {
      queue.run();
    }
  }

  private void issue(TcpRequest request) {
    String block = request.peer().host();
    if (block.equals("broken") || errors > 0) {
      errors--;
      throw new OutOfMemoryError("thrown by the test");
    }
    issued.add(block);
  }

  private TcpRequest request(String block) {
    return new TcpRequest(new PeerAddress("1", block, 1), 0, blocks(block), null, null);
  }

  private BlocksToFetch blocks(String block) {
    return new BlocksToFetch() {
      @Override
      public String[] take() {
        throw new AssertionError("only Spark's client needs them");
      }

      @Override
      public void fail(Throwable failure) {
        issued.add(block + " failed");
      }
    };
  }
}
