// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.read;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Map;
import org.apache.spark.network.shuffle.BlockFetchingListener;
import org.junit.jupiter.api.Test;
import org.sparkrdma.shuffle.metrics.Counter;
import org.sparkrdma.shuffle.metrics.ShuffleCounters;

class TcpAnswersTest {
  private final RecordingListener listener = new RecordingListener();
  private final ShuffleCounters counters = new ShuffleCounters();
  private final TcpAnswers answers =
      new TcpAnswers(new String[] {"c", "a", "b"}, 0, listener, counters);

  @Test
  void shouldTakeABlockOfAnEarlierAttemptButNotItsFailure() throws InterruptedException {
    BlockFetchingListener first = answers.newAttempt();
    BlockFetchingListener second = answers.newAttempt();
    first.onBlockFetchFailure("a", new IllegalStateException("closed"));
    first.onBlockFetchSuccess("b", new FakeBuffer(1));
    assertThat(answers.open()).containsExactly("c", "a");
    second.onBlockFetchSuccess("a", new FakeBuffer(1));
    second.onBlockFetchSuccess("b", new FakeBuffer(1));
    assertThat(answers.open()).containsExactly("c");
    IllegalStateException last = new IllegalStateException("closed too");
    second.onBlockFetchFailure("c", last);
    first.onBlockFetchSuccess("c", new FakeBuffer(1));
    assertThat(listener.awaitAnswers(3)).containsExactly("b", "a", "c");
    assertThat(listener.failures()).isEqualTo(Map.of("c", last));
    assertThat(counters.value(Counter.TCP_BLOCKS_READ)).isEqualTo(2);
  }

  @Test
  void shouldFailOnlyTheBlocksWithoutAnAnswer() throws InterruptedException {
    answers.newAttempt().onBlockFetchSuccess("a", new FakeBuffer(1));
    answers.failRest(new OutOfMemoryError("thrown by the test"));
    assertThat(listener.awaitAnswers(3)).containsExactly("a", "c", "b");
    assertThat(listener.failures()).containsOnlyKeys("b", "c");
    assertThat(answers.open()).isEmpty();
  }
}
