// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.directory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

/** Records while the directory's thread, which the test runs, takes some tasks only. */
class RecordPublisherTest {
  private final ArrayDeque<Runnable> tasks = new ArrayDeque<>();
  private final List<Boolean> published = new ArrayList<>();
  private final RecordPublisher records = new RecordPublisher(this::answer, this::schedule);
  private boolean refuses;

  /** Whether tasks are queued, and then an Error follows: no thread could be started. */
  private boolean failsLate;

  private int asked;
  private boolean unreachable;

  private void schedule(Runnable task, long delayMs) {
    if (refuses) {
      throw new OutOfMemoryError("thrown by the test");
    }
    tasks.add(task);
    if (failsLate) {
      throw new OutOfMemoryError("thrown by the test");
    }
  }

  private Object answer(Object message) throws IOException {
    asked++;
    if (unreachable) {
      throw new IOException("no driver");
    }
    List<?> request = RecordCodec.list(message, 2);
    published.add(RecordCodec.decode(request.get(1)).endpoint().isPresent());
    return true;
  }

  private CompletableFuture<Boolean> withdraw() {
    return records.withdraw("1", List.of("the device was removed"));
  }

  @Test
  void shouldHaveNothingToRetryBeforeTheFirstRecordAndAfterItsAnswer() {
    assertThat(records.retry()).isTrue();
    var taken = records.publish(DirectoryServiceTest.endpoint("1", 10));
    assertThat(records.retry()).isFalse();
    assertThat(tasks).as("once").hasSize(1);
    tasks.poll().run();
    assertThat(taken).isCompletedWithValue(true);
    assertThat(records.retry()).isTrue();
    assertThat(tasks).isEmpty();
  }

  @Test
  void shouldAskTheDriverOnlyForTheLatestOfSeveralRecordsThatAreQueued() {
    CompletableFuture<Boolean> first = records.publish(DirectoryServiceTest.endpoint("1", 10));
    failsLate = true;
    assertThatThrownBy(this::withdraw).isInstanceOf(OutOfMemoryError.class);
    failsLate = false;
    CompletableFuture<Boolean> last = withdraw();
    tasks.forEach(Runnable::run);
    assertThat(asked).isEqualTo(1);
    assertThat(published).containsExactly(false);
    assertThat(first).isCompletedWithValue(false);
    assertThat(last).isCompletedWithValue(true);
  }

  @Test
  void shouldRetryARecordThatWasNotHandedOver() {
    refuses = true;
    assertThatThrownBy(this::withdraw).isInstanceOf(OutOfMemoryError.class);
    assertThatThrownBy(records::retry).isInstanceOf(OutOfMemoryError.class);
    refuses = false;
    assertThat(records.retry()).isFalse();
    tasks.poll().run();
    assertThat(records.retry()).isTrue();
    assertThat(published).containsExactly(false);
  }

  @Test
  void shouldRetryARecordWhoseRetryWasRefused() {
    unreachable = true;
    CompletableFuture<Boolean> taken = withdraw();
    refuses = true;
    tasks.poll().run();
    assertThat(tasks).isEmpty();
    refuses = false;
    unreachable = false;
    assertThat(records.retry()).isFalse();
    tasks.poll().run();
    assertThat(taken).isCompletedWithValue(true);
    assertThat(published).containsExactly(false);
  }

  @Test
  void shouldTryOnceAtATimeWhenTheErrorOfAHandOverFollowsTheQueuing() {
    unreachable = true;
    failsLate = true;
    assertThatThrownBy(this::withdraw).isInstanceOf(OutOfMemoryError.class);
    assertThatThrownBy(records::retry).isInstanceOf(OutOfMemoryError.class);
    failsLate = false;
    records.retry();
    assertThat(tasks).as("queued by each of them").hasSize(3);
    for (int i = 0; i < 3; i++) {
      tasks.poll().run();
    }
    assertThat(asked).isEqualTo(1);
    assertThat(tasks).as("one further try").hasSize(1);

    unreachable = false;
    tasks.poll().run();
    assertThat(published).containsExactly(false);
    assertThat(records.retry()).isTrue();
    assertThat(tasks).isEmpty();
  }

  @Test
  void shouldTryARecordWhoseHandOverFailedAfterItsTaskWasQueued() {
    failsLate = true;
    assertThatThrownBy(this::withdraw).isInstanceOf(OutOfMemoryError.class);
    tasks.poll().run();
    assertThat(published).containsExactly(false);
    assertThat(records.retry()).isTrue();
  }

  @Test
  void shouldRetryOnlyTheLatestRecord() {
    unreachable = true;
    var earlier = records.publish(DirectoryServiceTest.endpoint("1", 10));
    var later = withdraw();
    refuses = true;
    tasks.poll().run();
    tasks.poll().run();
    assertThat(earlier).isCompletedWithValue(false);
    refuses = false;
    unreachable = false;
    records.retry();
    tasks.poll().run();
    assertThat(later).isCompletedWithValue(true);
    assertThat(published).containsExactly(false);
  }

  @Test
  void shouldAskTheDriverOnceForARecordThatIsScheduledTwice() {
    var unused = withdraw();
    Runnable task = tasks.poll();
    task.run();
    task.run();
    assertThat(published).containsExactly(false);
  }
}
