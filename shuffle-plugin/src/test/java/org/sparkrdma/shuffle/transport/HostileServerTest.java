// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.transport;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.sparkrdma.faults.FaultBound;
import org.sparkrdma.shuffle.directory.Endpoint;
import org.sparkrdma.shuffle.metrics.Counter;
import org.sparkrdma.shuffle.metrics.FallbackReason;
import org.sparkrdma.shuffle.wire.ConnectionBinding;
import org.sparkrdma.shuffle.wire.Hello;
import org.sparkrdma.shuffle.wire.Located;
import org.sparkrdma.shuffle.wire.Release;

/**
 * Effects of a hostile server of the application on a reader: its own blocks use TCP, and nothing
 * else happens. Each block is answered once, nothing leaks, and no server can delay a block for
 * ever.
 */
@Tag("slow")
@Timeout(60)
class HostileServerTest extends HostileServerFixture {
  @Test
  void shouldReadTheBlocksOfAnHonestScript() throws Exception {
    CollectedBlocks collected =
        fetch(2, q -> q.answer().piece(0, 0, LENGTH, LENGTH).piece(1, 0, 0, 0).send(1));
    assertThat(collected.bytes(0)).hasSize(LENGTH);
    assertThat(collected.bytes(1)).isEmpty();
    assertThat(reader.count(Counter.PROTOCOL_ERRORS)).isZero();
    // No fault, thus no row.
    fetched = null;
  }

  @Test
  void shouldAnswerABlockOfTwoLengthsInOneMessage() throws Exception {
    CollectedBlocks collected =
        fetch(
            2,
            q ->
                q.answer()
                    .piece(0, 0, LENGTH, 2 * LENGTH)
                    .piece(0, LENGTH, LENGTH, 3 * LENGTH)
                    .piece(1, 0, LENGTH, LENGTH)
                    .send(1));
    assertProtocolError(collected, 2);
  }

  @Test
  void shouldAnswerABlockOfTwoLengthsInTwoMessages() throws Exception {
    CollectedBlocks collected =
        fetch(
            1,
            q -> {
              long before = LENGTH * (q.number() - 1L);
              q.answer().piece(0, before, LENGTH, (1L + q.number()) * LENGTH).send(q.number());
            });
    assertProtocolError(collected, 1);
  }

  @Test
  void shouldReadABlockOnceThatIsLocatedAndThenBusy() throws Exception {
    CollectedBlocks collected =
        fetch(
            1,
            q -> {
              HostileServer.Answer answer = q.answer();
              answer.piece(0, LENGTH * (q.number() - 1L), LENGTH, 4 * LENGTH);
              if (q.number() < 4) {
                answer.byTcp(0, Located.Kind.BUSY);
              }
              answer.send(q.number());
            });
    assertThat(collected.bytes(0)).hasSize(4 * LENGTH);
    assertThat(server.locates()).isEqualTo(4);
    assertThat(reader.count(Counter.PROTOCOL_ERRORS)).isZero();
  }

  @Test
  void shouldAnswerABlockThatIsBusyAndThenLocated() throws Exception {
    CollectedBlocks collected =
        fetch(
            1,
            q -> {
              HostileServer.Answer answer = q.answer();
              if (q.number() > 1) {
                answer.byTcp(0, Located.Kind.BUSY);
              }
              answer.piece(0, LENGTH * (q.number() - 1L), LENGTH, 4 * LENGTH).send(q.number());
            });
    assertProtocolError(collected, 1);
  }

  @Test
  void shouldStopRequestingWhenPiecesAreEmpty() throws Exception {
    CollectedBlocks collected = fetch(1, q -> q.answer().piece(0, 0, 0, LENGTH).send(q.number()));
    assertProtocolError(collected, 1);
    assertThat(server.locates()).isEqualTo(1);
  }

  @Test
  void shouldStopRequestingWhenPiecesAreTiny() throws Exception {
    CollectedBlocks collected =
        fetch(1, q -> q.answer().piece(0, q.number() - 1L, 1, 1L << 20).send(q.number()));
    assertProtocolError(collected, 1);
    assertThat(server.locates()).isLessThan(200);
  }

  @Test
  void shouldFetchByTcpABlockOfAnAbsurdLength() throws Exception {
    CollectedBlocks collected =
        fetch(
            2, q -> q.answer().piece(0, 0, 1, Long.MAX_VALUE).piece(1, 0, LENGTH, LENGTH).send(1));
    assertThat(collected.reason(0)).isEqualTo(FallbackReason.POOL_EMPTY);
    assertThat(collected.bytes(1)).hasSize(LENGTH);
    assertThat(server.locates()).isEqualTo(1);
  }

  @Test
  void shouldStopRequestingWhenTheServerHasNoRoom() throws Exception {
    CollectedBlocks collected =
        fetch(
            2,
            q -> {
              if (q.number() == 1) {
                q.answer().piece(0, 0, LENGTH, 2 * LENGTH).send(1);
              } else {
                q.answer().byTcp(0, Located.Kind.BUSY).send(0);
              }
            });
    assertThat(collected.reason(0)).isEqualTo(FallbackReason.PEER_BUSY);
    assertThat(collected.reason(1)).isEqualTo(FallbackReason.PEER_BUSY);
    assertThat(server.locates()).isLessThan(400);
  }

  @Test
  void shouldRefuseALeaseIdOfAnotherRequest() throws Exception {
    // More blocks than one LOCATE holds, so that two are open at once.
    int blocks = 600;
    AtomicReference<HostileServer.Question> first = new AtomicReference<>();
    CollectedBlocks collected =
        fetch(
            blocks,
            q -> {
              if (!first.compareAndSet(null, q)) {
                int length = HostileServer.CONTENT_BYTES;
                first.get().answer().piece(0, 0, length, length).send(7);
                q.answer().piece(0, 0, length, length).send(7);
              }
            });
    assertThat(reader.count(Counter.PROTOCOL_ERRORS)).isEqualTo(1);
    assertThat(collected.failed(blocks - 1)).isTrue();
  }

  /** Answers no LOCATE, and grants these credits when it is asked. */
  private record Granting(int credits, AtomicInteger releases) implements HostileServer.Script {
    @Override
    public void onLocate(HostileServer.Question question) {}

    @Override
    public void onRelease(HostileServer server, Release release) {
      releases.incrementAndGet();
      server.send(HostileServer.released(release.requestId(), credits));
    }
  }

  @Test
  void shouldRefuseMoreCreditsThanLocatesMayBeOpen() throws Exception {
    int blocks = 600;
    Granting script = new Granting(HostileServer.MAX_LOCATES, new AtomicInteger());
    assertProtocolError(fetchFrom(blocks, script), blocks);
  }

  @Test
  void shouldAskOnceForCreditsThatTheServerDoesNotGrant() throws Exception {
    boundSeconds = FaultBound.OF_A_TIMEOUT;
    Granting script = new Granting(0, new AtomicInteger());
    CollectedBlocks collected = fetchFrom(2_000, script);
    assertThat(collected.failed(1_999)).isTrue();
    assertThat(server.locates()).isEqualTo(1);
    assertThat(script.releases()).hasValue(1);
  }

  @Test
  void shouldOpenAsManyLocatesAsTheServerGrantsCredits() throws Exception {
    boundSeconds = FaultBound.OF_A_TIMEOUT;
    Granting script = new Granting(2, new AtomicInteger());
    CollectedBlocks collected = fetchFrom(2_000, script);
    assertThat(collected.failed(1_999)).isTrue();
    assertThat(server.locates()).isEqualTo(1 + 2);
  }

  @Test
  void shouldReleaseLeasesWhileALocateHasTheOnlyCredit() throws Exception {
    boundSeconds = FaultBound.OF_A_TIMEOUT;
    AtomicInteger released = new AtomicInteger();
    HostileServer.Script script =
        new HostileServer.Script() {
          @Override
          public void onLocate(HostileServer.Question question) {
            if (question.number() == 1) {
              question.answer().piece(0, 0, LENGTH, LENGTH).send(7);
            }
          }

          @Override
          public void onRelease(HostileServer server, Release release) {
            released.addAndGet(release.leaseCount());
            server.send(HostileServer.released(release.requestId()));
          }
        };
    // More blocks than two LOCATEs hold, so that blocks wait for a credit all the time.
    CollectedBlocks collected = fetchFrom(2_000, script);
    assertThat(collected.bytes(0)).hasSize(LENGTH);
    assertThat(server.locates()).isEqualTo(2);
    assertThat(released).hasValue(1);
  }

  @Test
  void shouldRefuseToReadUnderNoLease() throws Exception {
    assertProtocolError(fetch(1, q -> q.answer().piece(0, 0, LENGTH, LENGTH).send(0)), 1);
  }

  @Test
  void shouldAnswerBlocksInAnotherOrder() throws Exception {
    CollectedBlocks collected =
        fetch(2, q -> q.answer().piece(1, 0, LENGTH, LENGTH).piece(0, 0, LENGTH, LENGTH).send(1));
    assertProtocolError(collected, 2);
  }

  @Test
  void shouldAnswerABlockWhosePiecesOverlap() throws Exception {
    CollectedBlocks collected =
        fetch(
            1,
            q ->
                q.answer()
                    .piece(0, 0, LENGTH, 2 * LENGTH)
                    .piece(0, LENGTH / 2, LENGTH, 2 * LENGTH)
                    .send(1));
    assertProtocolError(collected, 1);
  }

  @Test
  void shouldAnswerABlockWhosePiecesLeaveAGap() throws Exception {
    CollectedBlocks collected =
        fetch(1, q -> q.answer().piece(0, LENGTH, LENGTH, 2 * LENGTH).send(1));
    assertProtocolError(collected, 1);
  }

  @Test
  void shouldAnswerAllWhenMoreBlocksComeThanWereAskedFor() throws Exception {
    CollectedBlocks collected =
        fetch(
            2,
            q ->
                q.answer()
                    .piece(0, 0, LENGTH, LENGTH)
                    .piece(1, 0, LENGTH, LENGTH)
                    .piece(2, 0, LENGTH, LENGTH)
                    .send(1));
    assertProtocolError(collected, 2);
  }

  @Test
  void shouldAnswerABlockThatWasSentToTcpAndThenLocated() throws Exception {
    CollectedBlocks collected =
        fetch(
            2,
            q ->
                q.answer()
                    .byTcp(0, Located.Kind.UNKNOWN)
                    .piece(0, 0, LENGTH, LENGTH)
                    .piece(1, 0, LENGTH, LENGTH)
                    .send(1));
    assertProtocolError(collected, 2);
  }

  @Test
  void shouldAnswerAllWhenAnAnswerIsEmpty() throws Exception {
    assertProtocolError(fetch(2, q -> q.answer().send(1)), 2);
  }

  @Test
  void shouldUseTcpWhenTheLeaseIsTooShort() throws Exception {
    CollectedBlocks collected = fetch(2, q -> q.answer().piece(0, 0, LENGTH, LENGTH).send(1, 500));
    assertThat(collected.reason(0)).isEqualTo(FallbackReason.TIMEOUT);
    assertThat(collected.reason(1)).isEqualTo(FallbackReason.TIMEOUT);
  }

  @Test
  void shouldUseTcpForBlocksThatCannotBeRead() throws Exception {
    CollectedBlocks collected = fetch(1, q -> q.answer().unreadable(0, LENGTH).send(1));
    assertThat(collected.failed(0)).isTrue();
  }

  @Test
  void shouldFetchByTcpABlockLongerThanAllMemory() throws Exception {
    CollectedBlocks collected =
        fetch(
            1,
            q -> {
              HostileServer.Answer answer = q.answer();
              long from = (q.number() - 1L) * HostileServer.CONTENT_BYTES;
              answer.piece(0, from, HostileServer.CONTENT_BYTES, Long.MAX_VALUE).send(q.number());
            });
    assertThat(collected.failed(0)).isTrue();
  }

  @Test
  void shouldEndTheConnectionOfAServerThatAnswersTwice() throws Exception {
    CollectedBlocks collected =
        fetch(
            1,
            q -> {
              q.answer().piece(0, 0, LENGTH, 2 * LENGTH).send(1);
              q.answer().piece(0, 0, LENGTH, 2 * LENGTH).send(2);
            });
    assertProtocolError(collected, 1);
    awaitEndOfConnection();
  }

  @Test
  void shouldEndTheConnectionOfAServerThatAnswersWithoutARequest() throws Exception {
    CollectedBlocks collected = fetch(1, q -> q.server().send(HostileServer.released(4711)));
    assertProtocolError(collected, 1);
    awaitEndOfConnection();
  }

  @Test
  void shouldAnswerABlockWhoseLocateIsAnsweredByReleased() throws Exception {
    CollectedBlocks collected =
        fetch(1, q -> q.server().send(HostileServer.released(q.requestId())));
    assertProtocolError(collected, 1);
  }

  @Test
  void shouldEndTheConnectionOfAServerThatAnswersAReleaseWithLocated() throws Exception {
    HostileServer.Script script =
        new HostileServer.Script() {
          @Override
          public void onLocate(HostileServer.Question question) {
            question.answer().piece(0, 0, LENGTH, LENGTH).send(1);
          }

          @Override
          public void onRelease(HostileServer server, Release release) {
            new HostileServer.Answer(server, release.requestId())
                .piece(0, 0, LENGTH, LENGTH)
                .send(2);
          }
        };
    assertThat(fetchFrom(1, script).bytes(0)).hasSize(LENGTH);
    reader.awaitQuarantine();
    awaitEndOfConnection();
    assertThat(reader.count(Counter.PROTOCOL_ERRORS)).isEqualTo(1);
  }

  @Test
  void shouldEndTheConnectionOfAServerThatAnswersAReleaseWithAnUnknownRequestId() throws Exception {
    HostileServer.Script script =
        new HostileServer.Script() {
          @Override
          public void onLocate(HostileServer.Question question) {
            question.answer().piece(0, 0, LENGTH, LENGTH).send(1);
          }

          @Override
          public void onRelease(HostileServer server, Release release) {
            server.send(HostileServer.released(release.requestId() + 4711));
          }
        };
    assertThat(fetchFrom(1, script).bytes(0)).hasSize(LENGTH);
    reader.awaitQuarantine();
    awaitEndOfConnection();
    assertThat(reader.count(Counter.PROTOCOL_ERRORS)).isEqualTo(1);
    // The fault and its effect are those of an answer without a request, which has a row.
    fetched = null;
  }

  /** Answers each request in this way and at once sends a LOCATED without a request. */
  private record EagerServer(UnaryOperator<byte[]> key) implements HostileServer.Script {
    @Override
    public void onLocate(HostileServer.Question question) {}

    @Override
    public byte[] answer(Hello request, ConnectionBinding binding, Endpoint self) {
      return request
          .answer(1, new byte[Hello.NONCE_BYTES])
          .encodeAnswer(key.apply(self.token()), binding, request);
    }

    @Override
    public void onAccepted(HostileServer server) {
      new HostileServer.Answer(server, 4711).piece(0, 0, LENGTH, LENGTH).send(1);
    }
  }

  @Test
  void shouldAcceptNothingFromAServerWithoutProof() throws Exception {
    CollectedBlocks collected = fetchFrom(1, new EagerServer(token -> new byte[] {1, 2, 3}));
    assertThat(collected.reason(0)).isIn(FallbackReason.REFUSED, FallbackReason.PROTOCOL_ERROR);
    assertThat(reader.count(Counter.CONNECTIONS_ESTABLISHED)).isZero();
    assertThat(server.confirms()).isZero();
  }

  @Test
  void shouldAnswerAllWhenTheServerSendsFirst() throws Exception {
    // Before or after the check of the answer, depending on the threads.
    CollectedBlocks collected = fetchFrom(1, new EagerServer(UnaryOperator.identity()));
    assertThat(collected.reason(0)).isIn(FallbackReason.QUARANTINED, FallbackReason.PROTOCOL_ERROR);
    assertThat(reader.count(Counter.PROTOCOL_ERRORS)).isEqualTo(1);
  }

  @Test
  void shouldConfirmOnceBeforeItsFirstRequest() throws Exception {
    AtomicInteger before = new AtomicInteger();
    fetch(
        1,
        q -> {
          before.set(q.server().confirms());
          q.answer().piece(0, 0, LENGTH, LENGTH).send(1);
        });
    assertThat(before).hasValue(1);
    assertThat(server.confirms()).isEqualTo(1);
    // No fault, thus no row.
    fetched = null;
  }

  @Test
  void shouldAnswerAllWhenTheServerSendsInvalidMessages() throws Exception {
    assertProtocolError(fetch(1, q -> q.server().send(new byte[] {9, 9, 9})), 1);
  }

  @Test
  void shouldAnswerAllWhenTheServerNeverAnswers() throws Exception {
    boundSeconds = FaultBound.OF_A_TIMEOUT;
    CollectedBlocks collected = fetch(1, q -> {});
    assertThat(collected.reason(0)).isEqualTo(FallbackReason.TIMEOUT);
  }
}
