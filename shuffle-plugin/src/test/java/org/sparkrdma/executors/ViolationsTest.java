// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.executors;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;

final class ViolationsTest {
  @Test
  void shouldFindExecutorsWithoutRdma() {
    String off =
        "10:00:00.000 7 WARN RdmaRuntime [rdma-control] RDMA is not used in this executor, its shuffle"
            + " reads use TCP: cannot open device soft0";
    String until =
        "10:00:01.000 8 WARN RdmaRuntime [rdma-control] RDMA is not used in this executor until it can"
            + " be started: no active port";
    List<String> log =
        List.of("10:00:00.000 6 INFO RdmaRuntime [rdma-control] RDMA is up: soft0", off, until);

    assertThat(Violations.withoutRdma(log)).containsExactly(off, until);
  }

  @Test
  void shouldFindOnlyAssertionsOfThisProject() {
    List<String> log =
        List.of(
            "10:00:00.000 1 ERROR TransportAgent [rdma-agent] failed",
            "java.lang.AssertionError: not the owner",
            "\tat org.sparkrdma.shuffle.thread.Owner.check(Owner.java:1)",
            "java.lang.AssertionError: of a test of Spark",
            "\tat org.apache.spark.ShuffleSuite.test(ShuffleSuite.scala:1)",
            "java.lang.RuntimeException: wrapped",
            "Caused by: java.lang.AssertionError",
            "\tat org.sparkrdma.memory.Pool.take(Pool.java:2)");

    assertThat(Violations.in(log))
        .containsExactly(
            "java.lang.AssertionError: not the owner"
                + "\tat org.sparkrdma.shuffle.thread.Owner.check(Owner.java:1)",
            "Caused by: java.lang.AssertionError"
                + "\tat org.sparkrdma.memory.Pool.take(Pool.java:2)");
  }
}
