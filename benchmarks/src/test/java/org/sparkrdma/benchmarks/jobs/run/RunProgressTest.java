// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.benchmarks.jobs.run;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.sparkrdma.launch.ProgressLine;

class RunProgressTest {
  private final List<ProgressLine> lines = new ArrayList<>();
  private long nowNs = 77;

  @Test
  void shouldEstimateTheRestFromTheRunsThatAreDone() {
    RunProgress progress = new RunProgress(4, lines::add, () -> nowNs);
    assertThat(progress.describe("vanilla")).isEqualTo("run 1 of 4, vanilla");

    nowNs += TimeUnit.SECONDS.toNanos(30);
    progress.onRunDone();
    assertThat(progress.describe("rdma")).isEqualTo("run 2 of 4, rdma, about 90 s left");

    nowNs += TimeUnit.SECONDS.toNanos(270);
    progress.onRunDone();
    progress.report("start of rdma");
    assertThat(lines)
        .containsExactly(new ProgressLine("start of rdma, about 5 min left", 2, 4, "runs"));
  }
}
