// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.transport;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.sparkrdma.shuffle.metrics.Counter;

/** The time for which idle connections are kept. */
class IdleConnectionsTest extends LaterClockFixture {
  /** The reserve and an idle connection take an eighth of it. */
  private static final long PINNED_WITHOUT_CREDITS = 8L * (ControlBuffers.RESERVE + 2) * (16 << 10);

  /** The idle time-out is 5 min: it holds where none is free, and 9 of them are added else. */
  @Test
  void shouldKeepIdleConnectionsLongerTheMoreConnectionsAreFree() throws Exception {
    TestExecutor full = start(new TestExecutor.Options(1).maxConnections(1));
    TestExecutor half = start(new TestExecutor.Options(2).maxConnections(2));
    TestExecutor most = start(new TestExecutor.Options(3).maxConnections(64));
    TestExecutor server = start(new TestExecutor.Options(4).maxConnections(64));
    server.outputs().write(1, new Random(1), 1000);
    for (TestExecutor reader : List.of(full, half, most)) {
      fetch(reader, server.endpoint());
    }
    for (TestExecutor executor : executors) {
      executor.awaitIdle();
    }
    laterNs.addAndGet(Duration.ofMinutes(6).toNanos());
    awaitClosed(full);
    laterNs.addAndGet(Duration.ofMinutes(19).toNanos());
    assertNotClosed(half, most);
    laterNs.addAndGet(Duration.ofMinutes(3).toNanos());
    awaitClosed(half);
    laterNs.addAndGet(Duration.ofMinutes(16).toNanos());
    assertNotClosed(most);
    laterNs.addAndGet(Duration.ofMinutes(7).toNanos());
    awaitClosed(most);
  }

  @Test
  void shouldKeepAnIdleConnectionNoLongerThanTheTimeoutWhereNoMemoryOfMessagesIsFree()
      throws Exception {
    TestExecutor reader =
        start(new TestExecutor.Options(1).pinned(PINNED_WITHOUT_CREDITS, 256 << 10));
    TestExecutor server = start(new TestExecutor.Options(2));
    server.outputs().write(1, new Random(1), 1000);
    fetch(reader, server.endpoint());
    reader.awaitIdle();
    laterNs.addAndGet(Duration.ofMinutes(6).toNanos());
    awaitClosed(reader);
  }

  private static void awaitClosed(TestExecutor executor) {
    while (executor.count(Counter.CONNECTIONS_CLOSED) == 0) {
      Thread.onSpinWait();
    }
  }

  private static void assertNotClosed(TestExecutor... kept) {
    for (TestExecutor executor : kept) {
      assertThat(connections(executor)).isEqualTo(1);
      assertThat(connections(executor)).as("a turn later").isEqualTo(1);
    }
  }
}
