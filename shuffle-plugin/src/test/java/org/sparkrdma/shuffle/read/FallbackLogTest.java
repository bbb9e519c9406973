// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.read;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.sparkrdma.shuffle.CapturedLog;
import org.sparkrdma.shuffle.fetch.BlockRanges;
import org.sparkrdma.shuffle.fetch.SuspectBlock;
import org.sparkrdma.shuffle.metrics.FallbackReason;
import org.sparkrdma.shuffle.metrics.ShuffleCounters;

class FallbackLogTest {
  private static final int FAILURES = 300;
  private static final String OMITTED = "; lines like this that were omitted before: ";

  private final ShuffleCounters counters = new ShuffleCounters();
  private final FakeSparkClient spark = new FakeSparkClient();
  private final TcpFallback tcp = new TcpFallback(spark, counters, 1);
  private final RecordingListener listener = new RecordingListener();
  private final FakeTransport transport = new FakeTransport();

  /** Lines of single blocks are below DEBUG. */
  private final CapturedLog captured = CapturedLog.fromDebug(FallbackLog.class.getName());

  private long nowNs;
  private final FallbackLog log = new FallbackLog(() -> nowNs);

  @AfterEach
  void close() {
    captured.close();
    tcp.close();
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
            "Blocks of peer executor=7 use TCP: reason=timeout blocks=2 detail=late; further ones"
                + " with this reason are only counted",
            "Blocks of peer executor=8 use TCP: reason=timeout blocks=2 detail=late; further ones"
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
  void shouldWriteOneLineWhenTheTransportThrowsForEachFetchOfAPeer() {
    transport.thrown = new OutOfMemoryError("thrown by the test");
    for (int i = 0; i < FAILURES; i++) {
      fetch().begin(transport, null);
    }
    nowNs += TimeUnit.SECONDS.toNanos(10);
    fetch().begin(transport, null);
    String line = "Transport failed to start a fetch from peer executor=7; its blocks use TCP";
    assertThat(captured.warnings())
        .filteredOn(logged -> logged.startsWith("Transport"))
        .containsExactly(line, line + OMITTED + (FAILURES - 1));
  }

  @Test
  void shouldWriteOneLineForTheCorruptBlocksOfAPeer() throws InterruptedException {
    for (int i = 0; i < FAILURES; i++) {
      fetch().onSuspect(0, new SuspectBlock(9, 1, same -> {}));
    }
    listener.awaitAnswers(FAILURES);
    nowNs += TimeUnit.SECONDS.toNanos(10);
    fetch().onSuspect(0, new SuspectBlock(9, 1, same -> {}));
    listener.awaitAnswers(FAILURES + 1);
    assertThat(captured.warnings()).hasSize(2).allMatch(line -> line.startsWith("Corrupt RDMA"));
    assertThat(captured.warnings().get(0)).endsWith("the bytes that TCP delivered are used");
    assertThat(captured.warnings().get(1)).endsWith(OMITTED + (FAILURES - 1));
    assertThat(counters.value(FallbackReason.CORRUPT)).isEqualTo(FAILURES + 1);
  }

  @Test
  void shouldWriteOneLineForTheBlocksOfAPeerThatCannotBeCompared() throws InterruptedException {
    for (int i = 0; i < FAILURES; i++) {
      fetch()
          .onSuspect(
              0,
              new SuspectBlock(
                  9,
                  1,
                  same -> {
                    throw new OutOfMemoryError("thrown by the test");
                  }));
    }
    listener.awaitAnswers(FAILURES);
    assertThat(captured.warnings())
        .containsExactly(
            "Cannot compare the RDMA and TCP data of block=shuffle_0_1_0 from peer executor=7; the"
                + " TCP data is used");
  }

  private PeerFetch fetch() {
    return new PeerFetch(
        peer("7"),
        List.of("shuffle_0_1_0"),
        ranges(),
        listener,
        null,
        tcp,
        log,
        counters,
        () -> {});
  }

  private static BlockRanges ranges() {
    BlockRanges ranges = new BlockRanges(1);
    BlockNames.parse("shuffle_0_1_0", ranges);
    return ranges;
  }

  private static PeerAddress peer(String executorId) {
    return new PeerAddress(executorId, "host" + executorId, 7_337);
  }
}
