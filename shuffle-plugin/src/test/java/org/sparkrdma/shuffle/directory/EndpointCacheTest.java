// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.directory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

class EndpointCacheTest {
  private final DirectoryService service = new DirectoryService("");
  private boolean outOfThreads = true;
  private final EndpointCache cache =
      new EndpointCache(service::answer, this::newAnswer, () -> 0, Runnable::run);

  private CompletableFuture<Optional<Endpoint>> newAnswer() {
    if (outOfThreads) {
      throw new OutOfMemoryError("unable to create native thread");
    }
    return new CompletableFuture<>();
  }

  private void publish(String executorId) {
    ExecutorRecord record = DirectoryServiceTest.record(executorId, 10, 1);
    service.answer(List.of(DirectoryService.PUBLISH, RecordCodec.encode(record)));
  }

  @Test
  void shouldFindEndpointsAfterATimeOutCouldNotBeStarted() {
    publish("1");
    publish("2");
    assertThatThrownBy(() -> cache.find("1")).isInstanceOf(OutOfMemoryError.class);

    outOfThreads = false;

    assertThat(cache.find("2")).isCompletedWithValueMatching(Optional::isPresent);
    assertThat(cache.find("1")).isCompletedWithValueMatching(Optional::isPresent);
  }

  @Test
  void shouldQueryAgainWhenTheQueryOfATimedOutLookUpNeverCame() {
    publish("1");
    outOfThreads = false;
    AtomicInteger queries = new AtomicInteger();
    EndpointCache losesFirst =
        new EndpointCache(
            service::answer,
            this::newAnswer,
            () -> 0,
            query -> {
              if (queries.incrementAndGet() > 1) {
                query.run();
              }
            });
    CompletableFuture<Optional<Endpoint>> lost = losesFirst.find("1");
    assertThat(losesFirst.find("1")).as("before the time-out").isSameAs(lost).isNotDone();

    lost.complete(Optional.empty());

    assertThat(losesFirst.find("1")).isCompletedWithValueMatching(Optional::isPresent);
  }

  /** A directory that the test may interrupt, as seen from a clock that it advances. */
  private final class Interrupted {
    final AtomicLong nowNs = new AtomicLong(Long.MAX_VALUE - 1);
    final AtomicInteger queries = new AtomicInteger();
    boolean answers;
    final EndpointCache cache =
        new EndpointCache(this::ask, CompletableFuture::new, nowNs::get, Runnable::run);

    private Object ask(Object request) {
      queries.incrementAndGet();
      if (!answers) {
        throw new IllegalStateException("no answer in time");
      }
      return service.answer(request);
    }

    boolean finds(String executorId) {
      return cache.find(executorId).join().isPresent();
    }

    void pass(Duration time) {
      nowNs.addAndGet(time.toNanos());
    }
  }

  @Test
  void shouldQueryASecondAfterEachFailureHoweverOftenTheDriverHasNotAnswered() {
    publish("1");
    Interrupted directory = new Interrupted();
    for (int failure = 1; failure <= 8; failure++) {
      assertThat(directory.finds("1")).isFalse();
      directory.pass(Duration.ofSeconds(1).minusNanos(1));
      assertThat(directory.finds("1")).as("within the second").isFalse();
      assertThat(directory.queries).hasValue(failure);
      directory.pass(Duration.ofNanos(1));
    }

    directory.answers = true;

    assertThat(directory.finds("1")).isTrue();
  }

  @Test
  void shouldPauseTwiceAsLongAfterEachAnswerWithoutTheExecutorAlsoWhenFailuresCameBetween() {
    Interrupted directory = new Interrupted();
    directory.answers = true;
    assertThat(directory.finds("1")).isFalse();
    directory.pass(Duration.ofSeconds(1));
    directory.answers = false;
    assertThat(directory.finds("1")).isFalse();
    directory.pass(Duration.ofSeconds(1));
    directory.answers = true;
    assertThat(directory.finds("1")).isFalse();
    assertThat(directory.queries).hasValue(3);

    directory.pass(Duration.ofSeconds(2).minusNanos(1));
    assertThat(directory.finds("1")).isFalse();
    assertThat(directory.queries).as("within two seconds").hasValue(3);
    directory.pass(Duration.ofNanos(1));
    assertThat(directory.finds("1")).isFalse();
    assertThat(directory.queries).hasValue(4);
  }
}
