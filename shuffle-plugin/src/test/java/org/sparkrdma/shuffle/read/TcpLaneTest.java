// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.read;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class TcpLaneTest {
  private final List<String> issued = new ArrayList<>();

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
    tasks.get(0).run();
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
    tasks.get(0).run();
    assertThat(issued).containsExactly("a", "c", "idle");
    assertThat(lane.isIdle()).isTrue();
    lane.add(request("d"));
    lane.start();
    tasks.get(1).run();
    assertThat(issued).endsWith("d", "idle");
  }

  @Test
  void shouldIssueMoreRequestsAfterItsEndHasThrown() {
    TcpLane lane =
        new TcpLane(
            Runnable::run,
            this::issue,
            () -> {
              throw new OutOfMemoryError("thrown by the test");
            });
    for (String block : List.of("a", "b")) {
      lane.add(request(block));
      lane.start();
    }
    assertThat(issued).containsExactly("a", "b");
  }

  private TcpLane lane(Executor threads) {
    return new TcpLane(threads, this::issue, () -> issued.add("idle"));
  }

  private void issue(TcpRequest request) {
    String block = request.blocks().get()[0];
    if (block.equals("broken")) {
      throw new OutOfMemoryError("thrown by the test");
    }
    issued.add(block);
  }

  private static TcpRequest request(String block) {
    return new TcpRequest(null, 0, () -> new String[] {block}, null, null);
  }
}
