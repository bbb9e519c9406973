// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.directory;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

/** A cache whose driver the test may interrupt, as seen from a clock that it advances. */
class EndpointCacheTest {
  private final DirectoryService service = new DirectoryService("");
  private final AtomicLong nowNs = new AtomicLong(Long.MAX_VALUE - 1);
  private final AtomicInteger queries = new AtomicInteger();
  private boolean answers;
  private final EndpointCache cache =
      new EndpointCache(this::ask, Duration.ofDays(1), nowNs::get, Runnable::run);

  private Object ask(Object request) {
    queries.incrementAndGet();
    if (!answers) {
      throw new IllegalStateException("no answer in time");
    }
    return service.answer(request);
  }

  private boolean finds(String executorId) {
    return cache.find(executorId).join().isPresent();
  }

  @Test
  void shouldQueryTwoSecondsAfterEachFailureHoweverOftenTheDriverHasNotAnswered() {
    ExecutorRecord record = DirectoryServiceTest.record("1", 10, 1);
    service.answer(List.of(DirectoryService.PUBLISH, RecordCodec.encode(record)));
    for (int failure = 1; failure <= 8; failure++) {
      assertThat(finds("1")).isFalse();
      nowNs.addAndGet(Duration.ofSeconds(2).toNanos() - 1);
      assertThat(finds("1")).as("within two seconds").isFalse();
      assertThat(queries).hasValue(failure);
      nowNs.incrementAndGet();
    }

    answers = true;

    assertThat(finds("1")).isTrue();
  }
}
