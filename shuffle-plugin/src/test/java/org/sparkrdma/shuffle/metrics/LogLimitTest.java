// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.metrics;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class LogLimitTest {
  private long nowNs = -5;
  private final LogLimit limit = new LogLimit(() -> nowNs);

  @Test
  void shouldWriteOneLineForEachSubjectInTenSeconds() {
    assertThat(limit.next("peer 1")).hasValue("");
    assertThat(limit.next("peer 1")).isEmpty();
    assertThat(limit.next("peer 2")).hasValue("");

    nowNs += TimeUnit.SECONDS.toNanos(10) - 1;
    assertThat(limit.next("peer 1")).isEmpty();

    nowNs++;
    assertThat(limit.next("peer 1")).hasValue("; lines like this that were omitted before: 2");
    assertThat(limit.next("peer 1")).isEmpty();
    assertThat(limit.next("peer 2")).hasValue("");
  }

  @Test
  void shouldWriteFewLinesForManySubjects() {
    long lines = 0;
    for (int subject = 0; subject < 100_000; subject++) {
      lines += limit.next(subject).stream().count();
    }

    assertThat(lines).isEqualTo(1_001);
  }

  @Test
  void shouldForgetSubjectsOfLongAgo() {
    for (int subject = 0; subject < 1_000; subject++) {
      limit.next(subject);
    }
    nowNs += TimeUnit.SECONDS.toNanos(10);

    assertThat(limit.next("new")).hasValue("");
    assertThat(limit.next("newer")).hasValue("");
  }
}
