// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.transport;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.sparkrdma.shuffle.wire.Hello.Refusal;

class RefusalLogTest {
  private static final long SECOND = TimeUnit.SECONDS.toNanos(1);

  private long nowNs;
  private final RefusalLog log = new RefusalLog(() -> nowNs);

  private Optional<String> line(Refusal reason, String from, long atNs) {
    nowNs = atNs;
    return log.line(reason, from, "no proof");
  }

  @Test
  void shouldLogOneRefusalOfAReasonInTenSecondsAndCountTheOthers() {
    assertThat(line(Refusal.PROOF, "one", 5 * SECOND))
        .contains(
            "Refusing connection request from one: reason=PROOF detail=no proof; the peer uses TCP");
    for (int i = 0; i < 7; i++) {
      assertThat(line(Refusal.PROOF, "two", (6 + i) * SECOND)).isEmpty();
    }
    assertThat(line(Refusal.PROOF, "two", 15 * SECOND))
        .hasValueSatisfying(
            line -> assertThat(line).endsWith("; refused for this reason since the last line: 7"));
    assertThat(line(Refusal.PROOF, "two", 25 * SECOND))
        .hasValueSatisfying(line -> assertThat(line).endsWith("the peer uses TCP"));
  }

  @Test
  void shouldLimitEachReasonByItself() {
    assertThat(line(Refusal.PROOF, "one", 0)).isPresent();
    assertThat(line(Refusal.BUSY, "one", 1)).isPresent();
  }
}
