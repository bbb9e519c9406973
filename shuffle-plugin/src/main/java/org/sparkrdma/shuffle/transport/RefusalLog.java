// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.transport;

import java.util.EnumMap;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.sparkrdma.shuffle.wire.Hello.Refusal;

/**
 * Limits the log lines about refused connection requests, which a stranger can send in any number:
 * one for each reason in ten seconds. Owned by the agent.
 */
final class RefusalLog {
  private static final long INTERVAL_NS = TimeUnit.SECONDS.toNanos(10);

  private final Map<Refusal, Last> lastByReason = new EnumMap<>(Refusal.class);

  private static final class Last {
    private long loggedNs;
    private int notLogged;
  }

  /**
   * Counts a refusal.
   *
   * @param from the peer's address
   * @return the line to log; empty when the last one of this reason is too recent
   */
  Optional<String> line(Refusal reason, Object from, String detail, long nowNs) {
    Last last = lastByReason.get(reason);
    if (last == null) {
      last = new Last();
      lastByReason.put(reason, last);
    } else if (nowNs - last.loggedNs < INTERVAL_NS) {
      last.notLogged++;
      return Optional.empty();
    }
    String others =
        last.notLogged == 0
            ? ""
            : "; refused for this reason since the last line: " + last.notLogged;
    last.loggedNs = nowNs;
    last.notLogged = 0;
    return Optional.of(
        "Refusing connection request from %s: reason=%s detail=%s; the peer uses TCP%s"
            .formatted(from, reason, detail, others));
  }
}
