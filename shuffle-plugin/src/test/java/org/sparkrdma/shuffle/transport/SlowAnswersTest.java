// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.transport;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.sparkrdma.shuffle.metrics.Counter;
import org.sparkrdma.shuffle.metrics.FallbackReason;
import org.sparkrdma.shuffle.wire.Located;
import org.sparkrdma.shuffle.wire.Release;

/** Servers that answer each LOCATE slowly, but before it times out. */
class SlowAnswersTest extends StoppedClockFixture {
  private static final int LENGTH = 4_096;
  private static final long BLOCK_BYTES = 16L << 20;
  private static final Duration ANSWER_TIME = REQUEST_TIMEOUT.minusMillis(100);

  /** Short enough that a RELEASE, which is sent meanwhile, does not time out. */
  private static final Duration SHORTER_ANSWER_TIME = Duration.ofSeconds(1);

  /** Answers take this long, in the time of the reader. */
  private interface Answers {
    void write(HostileServer.Question question, HostileServer.Answer answer);
  }

  private HostileServer start(Duration answerTime, Answers answers) throws Exception {
    startReader(new TestExecutor.Options(1));
    return startServer(
        new HostileServer.Script() {
          @Override
          public void onLocate(HostileServer.Question question) {
            passForReader(answerTime);
            HostileServer.Answer answer = question.answer();
            answers.write(question, answer);
            answer.send(question.number());
          }

          /** Grants no credits, so that one LOCATE is open at a time. */
          @Override
          public void onRelease(HostileServer server, Release release) {
            server.send(HostileServer.released(release.requestId()));
          }
        });
  }

  private Duration passedSince(long beginNs) {
    return Duration.ofNanos(nowNs.get() - beginNs);
  }

  @Test
  void shouldFetchByTcpALargeBlockWhosePiecesComeJustInTimeAndQuarantineThePeer() throws Exception {
    HostileServer slow =
        start(
            ANSWER_TIME,
            (question, answer) ->
                answer.piece(0, (question.number() - 1L) * LENGTH, LENGTH, BLOCK_BYTES));
    long beginNs = nowNs.get();
    CollectedBlocks wanted = begin(slow.endpoint(), 1).await();
    assertThat(wanted.failed(0)).isTrue();
    assertThat(wanted.reason(0)).isEqualTo(FallbackReason.TIMEOUT);
    assertThat(passedSince(beginNs)).isLessThan(REQUEST_TIMEOUT.multipliedBy(3));
    pass(Duration.ofMillis(10));
    reader.awaitQuarantine();
  }

  @Test
  void shouldFetchByTcpALargeBlockWhoseReadsCompleteJustInTime() throws Exception {
    startReader(new TestExecutor.Options(1).faults("delay@1+:100ms"));
    HostileServer slow =
        startServer(
            question ->
                question
                    .answer()
                    .piece(0, (question.number() - 1L) * LENGTH, LENGTH, BLOCK_BYTES)
                    .send(question.number()));
    long beginNs = nowNs.get();
    CollectedBlocks wanted = begin(slow.endpoint(), 1);
    long reads = 0;
    while (wanted.answered() == 0) {
      if (reader.count(Counter.RDMA_READS_POSTED) > reads) {
        reads++;
        pass(ANSWER_TIME);
      }
    }
    assertThat(wanted.await().failed(0)).isTrue();
    assertThat(wanted.reason(0)).isEqualTo(FallbackReason.TIMEOUT);
    assertThat(passedSince(beginNs)).isLessThan(REQUEST_TIMEOUT.multipliedBy(3));
  }

  @Test
  void shouldReadALargeBlockThatComesSlowlyButFasterThanTheLowestRate() throws Exception {
    int pieceBytes = HostileServer.CONTENT_BYTES;
    HostileServer slow =
        start(
            Duration.ofSeconds(1),
            (question, answer) ->
                answer.piece(0, (question.number() - 1L) * pieceBytes, pieceBytes, BLOCK_BYTES));
    long beginNs = nowNs.get();
    assertThat(begin(slow.endpoint(), 1).await().bytes(0)).hasSize((int) BLOCK_BYTES);
    assertThat(passedSince(beginNs)).isEqualTo(Duration.ofSeconds(16));
  }

  @Test
  void shouldFetchByTcpBlocksThatTheServerLeavesOutAgainAndAgainWithoutAQuarantine()
      throws Exception {
    HostileServer slow =
        start(SHORTER_ANSWER_TIME, (question, answer) -> answer.piece(0, 0, LENGTH, LENGTH));
    long beginNs = nowNs.get();
    CollectedBlocks wanted = begin(slow.endpoint(), 50).await();
    assertThat(wanted.bytes(0)).hasSize(LENGTH);
    assertThat(wanted.failed(49)).isTrue();
    assertThat(wanted.reason(49)).isEqualTo(FallbackReason.TIMEOUT);
    assertThat(passedSince(beginNs)).isLessThan(REQUEST_TIMEOUT.multipliedBy(2));
    assertThat(reader.count(Counter.PEERS_QUARANTINED)).isZero();
  }

  @Test
  void shouldFetchByTcpABlockForWhichTheServerHasNoRoomAgainAndAgain() throws Exception {
    HostileServer slow =
        start(
            SHORTER_ANSWER_TIME,
            (question, answer) -> {
              if (question.number() == 1) {
                answer.piece(0, 0, LENGTH, 2 * LENGTH);
              } else {
                answer.byTcp(0, Located.Kind.BUSY);
              }
            });
    long beginNs = nowNs.get();
    CollectedBlocks wanted = begin(slow.endpoint(), 2).await();
    assertThat(wanted.failed(0)).isTrue();
    assertThat(wanted.failed(1)).isTrue();
    assertThat(passedSince(beginNs)).isLessThan(REQUEST_TIMEOUT.multipliedBy(2));
    assertThat(reader.count(Counter.PEERS_QUARANTINED)).isZero();
  }

  @Test
  void shouldReadAllBlocksThatAreLeftOutOfQuickAnswers() throws Exception {
    HostileServer quick =
        start(Duration.ofMillis(90), (question, answer) -> answer.piece(0, 0, LENGTH, LENGTH));
    CollectedBlocks wanted = begin(quick.endpoint(), 200).await();
    for (int i = 0; i < 200; i++) {
      assertThat(wanted.bytes(i)).hasSize(LENGTH);
    }
  }
}
