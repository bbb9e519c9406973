// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.transport;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.sparkrdma.shuffle.wire.Hello.Refusal;

class RefusalLogTest {
  private static final long SECOND = TimeUnit.SECONDS.toNanos(1);

  private final RefusalLog log = new RefusalLog();

  @Test
  void shouldLogOneRefusalOfAReasonInTenSecondsAndCountTheOthers() {
    assertThat(log.line(Refusal.PROOF, "one", "no proof", 5 * SECOND))
        .contains(
            "Refusing connection request from one: reason=PROOF detail=no proof; the peer uses TCP");
    for (int i = 0; i < 7; i++) {
      assertThat(log.line(Refusal.PROOF, "two", "no proof", (6 + i) * SECOND)).isEmpty();
    }
    assertThat(log.line(Refusal.PROOF, "two", "no proof", 15 * SECOND))
        .hasValueSatisfying(
            line -> assertThat(line).endsWith("; refused for this reason since the last line: 7"));
    assertThat(log.line(Refusal.PROOF, "two", "no proof", 25 * SECOND))
        .hasValueSatisfying(line -> assertThat(line).endsWith("the peer uses TCP"));
  }

  @Test
  void shouldLimitEachReasonByItself() {
    assertThat(log.line(Refusal.PROOF, "one", "", 0)).isPresent();
    assertThat(log.line(Refusal.BUSY, "one", "", 1)).isPresent();
  }
}
