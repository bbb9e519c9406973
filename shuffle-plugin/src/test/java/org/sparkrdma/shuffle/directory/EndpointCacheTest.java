// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.directory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
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
}
