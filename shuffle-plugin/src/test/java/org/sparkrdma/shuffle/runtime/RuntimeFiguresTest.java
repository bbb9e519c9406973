// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.runtime;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Arrays;
import java.util.Base64;
import java.util.HexFormat;
import java.util.Map;
import java.util.Random;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.sparkrdma.memory.PinnedBudget;
import org.sparkrdma.shuffle.address.TestAddresses;
import org.sparkrdma.shuffle.directory.Endpoint;
import org.sparkrdma.shuffle.metrics.ShuffleCounters;
import org.sparkrdma.shuffle.transport.StartedTransport;
import org.sparkrdma.verbs.device.PortState;

/** Figures of an executor, from which the tab and its events are made. */
class RuntimeFiguresTest {
  private static final long INCARNATION = 0x1234_5678_9abc_def1L;

  private final ShuffleCounters counters = new ShuffleCounters();

  @Test
  void shouldContainNeitherTheTokenNorTheIncarnationOfTheEndpoint() {
    byte[] token = new byte[Endpoint.TOKEN_BYTES];
    new Random(3).nextBytes(token);
    FakeEngine engine = new FakeEngine(PortState.ACTIVE);
    StartedTransport transport =
        engine.new IdleTransport(() -> {}, () -> {}) {
          @Override
          public Endpoint endpoint() {
            return new Endpoint(
                "7",
                "host",
                TestAddresses.listener("10.1.2.3", 4_711),
                "fake",
                1,
                INCARNATION,
                token);
          }
        };
    try (PinnedBudget budget = new PinnedBudget(1 << 20, 4_096)) {
      RuntimeStatus up =
          RuntimeStatus.up(new OpenRdma(transport, budget, engine.open("fake0"), engine, "fake"));
      Map<String, Object> figures = RuntimeFigures.of(up, counters);
      assertThat(figures).containsEntry("state", "up").containsEntry("addresses", "10.1.2.3:4711");
      budget.tryGrant(8_192).orElseThrow().close();
      assertThat(RuntimeFigures.of(up, counters))
          .containsEntry("pinned", 0L)
          .containsEntry("highest", 8_192L);
      String all = figures.toString();
      assertThat(secrets(token)).noneMatch(all::contains);
    }
  }

  private static Stream<String> secrets(byte[] token) {
    return Stream.of(
        HexFormat.of().formatHex(token),
        HexFormat.of().withUpperCase().formatHex(token),
        Base64.getEncoder().encodeToString(token),
        Arrays.toString(token),
        Long.toString(INCARNATION),
        Long.toHexString(INCARNATION));
  }
}
