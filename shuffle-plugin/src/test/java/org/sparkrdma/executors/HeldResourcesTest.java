// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.executors;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.sparkrdma.executors.HeldResources.Leak;

@Timeout(60)
final class HeldResourcesTest {
  private static final String CHUNK = "chunk of a registered pool";
  private static final String RECEIVE = "org.sparkrdma.shuffle.fetch.ReceiveMemory";

  @Test
  void shouldReportWhatBelongsToTasks() {
    List<Leak> leaks =
        HeldResources.leaks(
            List.of(
                held("lease", "org.sparkrdma.shuffle.serve.Lease"),
                held("lease", "org.sparkrdma.shuffle.serve.Lease"),
                held(CHUNK, RECEIVE),
                held(CHUNK, RECEIVE),
                held(CHUNK, RECEIVE),
                held("reference to a chunk", "org.sparkrdma.shuffle.fetch.FetchedBlock")));

    assertThat(leaks)
        .extracting(leak -> leak.owner() + " " + leak.count() + " " + firstLine(leak))
        .containsExactlyInAnyOrder(
            "PEER 2 lease acquired by thread t",
            "TASK 2 chunk of a registered pool acquired by thread t",
            "TASK 1 reference to a chunk acquired by thread t");
    assertThat(leaks).allMatch(leak -> leak.place().contains("\n\tat org.sparkrdma."));
  }

  private static String firstLine(Leak leak) {
    return leak.place().lines().findFirst().orElseThrow();
  }

  private static Throwable held(String kind, String holder) {
    Throwable acquired = new Throwable(kind + " acquired by thread t");
    acquired.setStackTrace(
        new StackTraceElement[] {
          frame("org.sparkrdma.leak.LeakRecord"),
          frame("org.sparkrdma.memory.PoolRegion"),
          frame(holder + "$1"),
          frame("org.sparkrdma.shuffle.transport.TransportAgent")
        });
    return acquired;
  }

  private static StackTraceElement frame(String name) {
    return new StackTraceElement(name, "method", null, 1);
  }
}
