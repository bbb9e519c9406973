// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.launch;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

class ProgressLogTest {
  private final AtomicLong nowNs = new AtomicLong(TimeUnit.DAYS.toNanos(3));
  private final ByteArrayOutputStream bytes = new ByteArrayOutputStream();
  private final PrintStream out = new PrintStream(bytes, true, StandardCharsets.UTF_8);

  @Test
  void shouldPrintALineForANewJobAndForItsEndOnlyWhenTasksAreQuick() {
    ProgressLog log = new ProgressLog(out, nowNs::get);
    for (int done = 0; done <= 10; done++) {
      log.step("rdma", new ProgressLine("sort", done, 10, "tasks"));
    }
    assertThat(lines())
        .containsExactly(
            "[   0.0 s] rdma: sort, 0 of 10 tasks", "[   0.0 s] rdma: sort, 10 of 10 tasks");
  }

  @Test
  void shouldPrintALineNowAndThenWhenTasksAreSlow() {
    ProgressLog log = new ProgressLog(out, nowNs::get);
    for (int done = 0; done < 10; done++) {
      log.step("rdma", new ProgressLine("sort", done, 10, "tasks"));
      nowNs.addAndGet(TimeUnit.SECONDS.toNanos(2));
    }
    assertThat(lines()).hasSize(4).last().asString().startsWith("[  18.0 s]").contains("9 of 10");
  }

  private java.util.List<String> lines() {
    return bytes.toString(StandardCharsets.UTF_8).lines().toList();
  }
}
