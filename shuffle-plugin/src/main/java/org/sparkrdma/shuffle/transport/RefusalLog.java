// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.transport;

import java.util.Locale;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.function.LongSupplier;
import org.sparkrdma.shuffle.metrics.LogLimit;
import org.sparkrdma.shuffle.wire.Hello.Refusal;

/**
 * Limits the log lines about refused connection requests, which a stranger can send in any number:
 * one for each reason in ten seconds. Owned by the agent.
 */
final class RefusalLog {
  private final LogLimit limit;

  /**
   * @param nanoClock as {@link System#nanoTime}
   */
  RefusalLog(LongSupplier nanoClock) {
    limit = new LogLimit(nanoClock);
  }

  /**
   * Counts a refusal.
   *
   * @param from the peer's address
   * @return the line to log; empty when the last one of this reason is too recent
   */
  Optional<String> line(Refusal reason, Object from, String detail) {
    OptionalInt omitted = limit.omittedBefore(reason);
    if (omitted.isEmpty()) {
      return Optional.empty();
    }
    String others =
        omitted.getAsInt() == 0
            ? ""
            : "; refused for this reason since the last line: " + omitted.getAsInt();
    return Optional.of(
        String.format(
            Locale.ROOT,
            "Refusing connection request from %s: reason=%s detail=%s; the peer uses TCP%s",
            from,
            reason,
            detail,
            others));
  }
}
