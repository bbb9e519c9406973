// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.transport;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;
import org.sparkrdma.shuffle.CapturedLog;
import org.sparkrdma.shuffle.metrics.FallbackReason;

class PeerLogTest {
  private static final String NAME = PeerLog.class.getName();

  private long nowNs;
  private final PeerLog log = new PeerLog(() -> nowNs);

  @Test
  void shouldWriteOneLineOfEachKindForAPeerInTenSeconds() {
    assertLimited(
        peer -> log.cannotConnect(peer, "A to B", FallbackReason.REFUSED, "no proof"),
        "Cannot connect to peer executor=unknown A to B: reason=refused detail=no proof");
    assertLimited(
        peer -> log.cannotAccept(peer, "no memory"),
        "Cannot accept a connection of peer executor=unknown: detail=no memory");
    assertLimited(
        peer -> log.connectionFailed(peer, "silent"),
        "Connection to peer executor=unknown failed: silent");
    assertLimited(
        peer -> log.quarantined(peer, 2_000, "timeout", "late"),
        "Quarantining peer executor=unknown for 2000 ms: reason=timeout detail=late; its blocks use"
            + " TCP");
  }

  private void assertLimited(Consumer<Peer> event, String line) {
    Peer one = new Peer(1);
    Peer two = new Peer(2);
    try (CapturedLog captured = CapturedLog.fromInfo(NAME)) {
      for (int i = 0; i < 500; i++) {
        event.accept(one);
        event.accept(two);
        nowNs += TimeUnit.MILLISECONDS.toNanos(1);
      }
      nowNs += TimeUnit.SECONDS.toNanos(10);
      event.accept(one);
      assertThat(captured.warnings())
          .containsExactly(line, line, line + "; lines like this that were omitted before: 499");
    }
  }

  @Test
  void shouldWriteOneLineForManyAttemptsToConnectToAPeer() throws Exception {
    ScriptedReader reader = new ScriptedReader(ScriptedReader.CHUNK_BYTES, 1);
    List<String> lines;
    try (CapturedLog captured = CapturedLog.fromInfo(NAME)) {
      reader.failAttempts(100, Duration.ofMillis(99));
      reader.failAttempts(1, Duration.ofSeconds(1));
      lines = captured.warnings();
    } finally {
      reader.close();
    }
    String omitted = "; lines like this that were omitted before: 99";
    assertThat(lines).hasSize(4);
    assertThat(lines.get(0))
        .startsWith("Cannot connect to peer executor=2 ")
        .doesNotEndWith(omitted);
    assertThat(lines.get(1)).startsWith("Quarantining peer executor=2 ").doesNotEndWith(omitted);
    assertThat(lines.get(2)).startsWith("Cannot connect to peer executor=2 ").endsWith(omitted);
    assertThat(lines.get(3)).startsWith("Quarantining peer executor=2 ").endsWith(omitted);
  }
}
