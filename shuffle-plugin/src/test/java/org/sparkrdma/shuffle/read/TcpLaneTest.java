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

class TcpLaneTest {
  private final List<String> issued = new ArrayList<>();
  private final List<Long> pauses = new ArrayList<>();

  /** Lanes that run again after a pause. */
  private final Queue<TcpLane> paused = new ArrayDeque<>();

  /** Number of times for which each request throws. */
  private int errors;

  @ParameterizedTest
  @ValueSource(strings = {"closed", "no thread lives"})
  void shouldIssueOnTheCallersThreadWhenThereIsNoOther(String why) {
    TcpLane lane =
        lane(
            task -> {
              if (why.equals("closed")) {
                throw new RejectedExecutionException(why);
              }
              throw new OutOfMemoryError("unable to create native thread");
            });
    for (String block : List.of("a", "b")) {
      lane.add(request(block));
      lane.start();
    }
    assertThat(issued).containsExactly("a", "idle", "b", "idle");
    assertThat(lane.isIdle()).isTrue();
  }

  @Test
  void shouldIssueAllQueuedRequestsOnOneThread() {
    List<Runnable> tasks = new ArrayList<>();
    TcpLane lane = lane(tasks::add);
    for (String block : List.of("a", "b", "c")) {
      lane.add(request(block));
      lane.start();
    }
    assertThat(tasks).hasSize(1);
    run(tasks.get(0));
    assertThat(issued).containsExactly("a", "b", "c", "idle");
  }

  @Test
  void shouldIssueTheOtherRequestsWhenOneThrows() {
    List<Runnable> tasks = new ArrayList<>();
    TcpLane lane = lane(tasks::add);
    for (String block : List.of("a", "broken", "c")) {
      lane.add(request(block));
      lane.start();
    }
    run(tasks.get(0));
    assertThat(issued).containsExactly("a", "broken failed", "c", "idle");
    assertThat(pauses).containsExactly(100L, 200L, 400L, 800L, 1_600L);
    assertThat(lane.isIdle()).isTrue();
    lane.add(request("d"));
    lane.start();
    run(tasks.get(1));
    assertThat(issued).endsWith("d", "idle");
  }

  @Test
  void shouldIssueMoreRequestsAfterItsEndHasThrown() {
    TcpLane lane =
        new TcpLane(
            Runnable::run,
            this::issue,
            this::pause,
            () -> {
              throw new OutOfMemoryError("thrown by the test");
            });
    for (String block : List.of("a", "b")) {
      lane.add(request(block));
      lane.start();
    }
    assertThat(issued).containsExactly("a", "b");
  }

  @Test
  void shouldIssueARequestAgainAfterAnErrorAndBeforeLaterOnes() {
    List<Runnable> tasks = new ArrayList<>();
    TcpLane lane = lane(tasks::add);
    for (String block : List.of("a", "b")) {
      lane.add(request(block));
      lane.start();
    }
    errors = 2;
    run(tasks.get(0));
    assertThat(issued).containsExactly("a", "b", "idle");
    assertThat(pauses).containsExactly(100L, 200L);
  }

  @Test
  void shouldHoldNoThreadInAPause() {
    List<Runnable> tasks = new ArrayList<>();
    TcpLane lane = lane(tasks::add);
    lane.add(request("a"));
    lane.start();
    errors = 1;
    tasks.get(0).run();
    assertThat(issued).isEmpty();
    lane.add(request("b"));
    lane.start();
    assertThat(tasks).as("the lane waits for the end of its pause").hasSize(1);
    assertThat(lane.isIdle()).isFalse();
    paused.remove().run();
    assertThat(issued).containsExactly("a", "b", "idle");
  }

  @Test
  void shouldGiveLaterRequestsOneAttemptEachWhileAllFail() {
    List<Runnable> tasks = new ArrayList<>();
    TcpLane lane = lane(tasks::add);
    for (String block : List.of("a", "b", "c", "d")) {
      lane.add(request(block));
      lane.start();
    }
    errors = 1 + TcpLane.MAX_PAUSES + 1;
    run(tasks.get(0));
    assertThat(issued).containsExactly("a failed", "b failed", "c", "d", "idle");
    assertThat(pauses).hasSize(TcpLane.MAX_PAUSES);
    errors = 1;
    lane.add(request("e"));
    lane.start();
    run(tasks.get(1));
    assertThat(issued).as("one has succeeded meanwhile").endsWith("e", "idle");
  }

  @Test
  void shouldNotIssueARequestAgainWhenTheExecutorStops() {
    TcpLane lane = new TcpLane(Runnable::run, this::issue, (paused, ms) -> false, () -> {});
    errors = 1;
    lane.add(request("a"));
    lane.start();
    assertThat(issued).containsExactly("a failed");
  }

  @Test
  void shouldNotIssueARequestAgainAfterAnException() {
    TcpLane lane =
        new TcpLane(
            Runnable::run,
            request -> {
              throw new IllegalStateException("thrown by the test");
            },
            this::pause,
            () -> {});
    lane.add(request("a"));
    lane.start();
    assertThat(issued).containsExactly("a failed");
    assertThat(pauses).isEmpty();
  }

  @Test
  void shouldTakeNoRequestsAfterItsEnd() {
    List<Runnable> tasks = new ArrayList<>();
    TcpLane lane = lane(tasks::add);
    assertThat(lane.add(request("a"))).isTrue();
    lane.start();
    assertThat(lane.endIfIdle()).isFalse();
    run(tasks.get(0));
    assertThat(lane.endIfIdle()).isTrue();
    assertThat(lane.add(request("b"))).isFalse();
    lane.start();
    assertThat(issued).containsExactly("a", "idle");
  }

  private TcpLane lane(Executor threads) {
    return new TcpLane(threads, this::issue, this::pause, () -> issued.add("idle"));
  }

  private boolean pause(TcpLane lane, long ms) {
    pauses.add(ms);
    return paused.add(lane);
  }

  /** Runs a lane, and again after each pause. */
  private void run(Runnable task) {
    task.run();
    for (TcpLane lane = paused.poll(); lane != null; lane = paused.poll()) {
      lane.run();
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
