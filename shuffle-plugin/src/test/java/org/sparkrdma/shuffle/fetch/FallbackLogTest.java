// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.fetch;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.sparkrdma.shuffle.CapturedLog;
import org.sparkrdma.shuffle.metrics.FallbackReason;

class FallbackLogTest {
  private static final int FAILURES = 300;
  private static final String OMITTED = "; lines like this that were omitted before: ";

  /** Lines of single blocks are below DEBUG. */
  private final CapturedLog captured = CapturedLog.fromDebug(FallbackLog.class.getName());

  private long nowNs;
  private final FallbackLog log = new FallbackLog(() -> nowNs);

  @AfterEach
  void close() {
    captured.close();
  }

  @Test
  void shouldLogAReasonOfAPeerOnce() {
    for (int i = 0; i < FAILURES; i++) {
      log.report(peer("7"), FallbackReason.TIMEOUT, 2, "late");
      log.report(peer("8"), FallbackReason.TIMEOUT, 2, "late");
      nowNs += TimeUnit.SECONDS.toNanos(1);
    }
    assertThat(captured.warnings())
        .containsExactly(
            "Blocks of peer executor=7 are fetched over TCP: reason=timeout blocks=2 detail=late; further ones"
                + " with this reason are only counted",
            "Blocks of peer executor=8 are fetched over TCP: reason=timeout blocks=2 detail=late; further ones"
                + " with this reason are only counted");
  }

  @Test
  void shouldNotLogReasonsAgainWhenManyPeersFailAtOnce() {
    for (int round = 0; round < 3; round++) {
      for (int peer = 0; peer < 5_000; peer++) {
        log.report(peer("" + peer), FallbackReason.NO_ENDPOINT, 1, "");
      }
    }
    assertThat(captured.warnings()).hasSize(1_001);

    nowNs += TimeUnit.SECONDS.toNanos(10);
    log.report(peer("4999"), FallbackReason.NO_ENDPOINT, 1, "");
    log.report(peer("999"), FallbackReason.NO_ENDPOINT, 1, "");
    assertThat(captured.warnings()).hasSize(1_002).last().asString().endsWith(OMITTED + 11_999);
  }

  @Test
  void shouldWriteOneLineForTheCorruptBlocksOfAPeer() {
    for (int i = 0; i < FAILURES; i++) {
      log.corrupt(peer("7"), "shuffle_0_1_0", "sums");
    }
    nowNs += TimeUnit.SECONDS.toNanos(10);
    log.corrupt(peer("7"), "shuffle_0_1_0", "sums");
    assertThat(captured.warnings()).hasSize(2).allMatch(line -> line.startsWith("Corrupt RDMA"));
    assertThat(captured.warnings().get(0)).endsWith("the bytes that TCP delivered are used");
    assertThat(captured.warnings().get(1)).endsWith(OMITTED + (FAILURES - 1));
  }

  private static BlockManagerAddress peer(String executorId) {
    return new BlockManagerAddress(executorId, "host" + executorId, 7_337);
  }
}
