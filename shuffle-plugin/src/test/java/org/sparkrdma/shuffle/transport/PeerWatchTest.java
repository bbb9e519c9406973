// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.transport;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.sparkrdma.shuffle.transport.PeerWatch.Finding;

final class PeerWatchTest {
  private static final long MS = 1_000_000;
  private static final long TIMEOUT_MS = 4_000;

  private final PeerWatch watch = new PeerWatch(TIMEOUT_MS * MS, 0);
  private long nowMs;

  /** Checks every 20 ms until the finding; returns the time. */
  private long silentUntil(Finding finding, boolean outstanding) {
    long startMs = nowMs;
    while (nowMs - startMs < 10 * TIMEOUT_MS) {
      nowMs += 20;
      if (watch.check(nowMs * MS, true, outstanding) == finding) {
        return nowMs - startMs;
      }
    }
    throw new AssertionError("no such finding: " + finding);
  }

  @Test
  void shouldProbeAfterHalfTheTimeoutAndReportADeadPeerAfterTheTimeout() {
    assertThat(silentUntil(Finding.PROBE, false)).isEqualTo(TIMEOUT_MS / 2);
    assertThat(silentUntil(Finding.DEAD, true)).isEqualTo(TIMEOUT_MS / 2);
  }

  @Test
  void shouldRestartWhenAMessageIsReceived() {
    silentUntil(Finding.PROBE, false);
    watch.onReceived();
    assertThat(silentUntil(Finding.PROBE, false)).isEqualTo(TIMEOUT_MS / 2);
    assertThat(silentUntil(Finding.DEAD, true)).isEqualTo(TIMEOUT_MS / 2);
  }

  @Test
  void shouldPostNoProbeBehindOtherWork() {
    assertThat(silentUntil(Finding.DEAD, true)).isEqualTo(TIMEOUT_MS);
  }

  @Test
  void shouldIgnoreSilenceWithoutOpenRequests() {
    for (; nowMs < 10 * TIMEOUT_MS; nowMs += 20) {
      assertThat(watch.check(nowMs * MS, false, true)).isEqualTo(Finding.ALIVE);
    }
  }

  @Test
  void shouldNotCountAPauseOfItsOwnProcessAsSilence() {
    silentUntil(Finding.PROBE, false);
    nowMs += 10 * TIMEOUT_MS;
    assertThat(watch.check(nowMs * MS, true, true)).isEqualTo(Finding.ALIVE);
  }
}
