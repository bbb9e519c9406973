// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.transport;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeFalse;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.UnaryOperator;
import java.util.stream.LongStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.sparkrdma.shuffle.fetch.BlockRange;
import org.sparkrdma.shuffle.metrics.Counter;
import org.sparkrdma.shuffle.metrics.FallbackReason;
import org.sparkrdma.shuffle.pinned.MemoryShares;
import org.sparkrdma.shuffle.settings.ServeSettings;
import org.sparkrdma.shuffle.transport.TestExecutor.Options;
import org.sparkrdma.shuffle.wire.Locate;
import org.sparkrdma.shuffle.wire.Located;
import org.sparkrdma.shuffle.wire.Messages;
import org.sparkrdma.shuffle.wire.SetupMessages;
import org.sparkrdma.shuffle.wire.SetupMessages.Refusal;

/**
 * Effects of a hostile server on a reader: the server's blocks use TCP in bounded time, each is
 * answered once, nothing leaks, and other servers are read as before.
 */
@Tag("slow")
@Timeout(60)
class HostileServerTest extends TransportFixture {
  private static final int LENGTH = BarePeer.PERIOD;
  private static final Duration REQUEST_TIMEOUT = Duration.ofSeconds(2);

  private final AtomicLong passedNs = new AtomicLong();
  private TestExecutor reader;
  private BarePeer server;
  private CollectedBlocks wanted;

  @BeforeEach
  void startAReader() throws Exception {
    startReader(
        new Options(1).requestTimeout(REQUEST_TIMEOUT).connectTimeout(Duration.ofSeconds(1)));
    server = new BarePeer(2);
  }

  private void startReader(Options options) throws Exception {
    reader = start(options.nanoClock(() -> System.nanoTime() + passedNs.get()));
  }

  /** Lets time pass for the reader, whose agent has read its clock again when this returns. */
  private void pass(Duration time) {
    passedNs.addAndGet(time.toNanos());
    long turns = reader.transport().built().agent.turns();
    while (reader.transport().built().agent.turns() < turns + 2) {
      Thread.onSpinWait();
    }
  }

  @AfterEach
  void readFromAnotherServerAndClose() throws Exception {
    try {
      assertThat(reader.losses()).isEmpty();
      if (wanted != null) {
        wanted.assertRead(bytes -> Arrays.equals(bytes, BarePeer.content(bytes.length)));
        readFromAnHonestServer();
      }
    } finally {
      server.close();
    }
  }

  /** The same reader goes on. */
  private void readFromAnHonestServer() throws Exception {
    TestExecutor honest = start(3);
    honest.outputs().write(0, random, LENGTH);
    List<BlockRange> block = List.of(block(0, 0, 1));
    assertRight(honest, block, fetch(reader, honest, block));
  }

  // Steps.

  private void fetch(int blocks) {
    List<BlockRange> ranges =
        LongStream.range(0, blocks).mapToObj(map -> new BlockRange(0, map, 0, 1)).toList();
    wanted = reader.fetch(server.endpoint(), ranges);
  }

  /** Fetches blocks over a proven connection; returns the id of the first LOCATE. */
  private long fetchAndAwaitLocate(int blocks) throws Exception {
    fetch(blocks);
    server.acceptAndProve();
    return server.awaitLocate(wanted).requestId();
  }

  /** Begins the answer to the first LOCATE. */
  private BarePeer.Answer fetchAndAnswer(int blocks) throws Exception {
    return server.answer(fetchAndAwaitLocate(blocks));
  }

  /** A block is read, and its lease released; returns the id of its LOCATE. */
  private long fetchAndAwaitRelease() throws Exception {
    long id = fetchAndAwaitLocate(1);
    server.answer(id).extent(0, 0, LENGTH, LENGTH).send(1);
    wanted.await();
    assertThat(server.awaitMessage()[0]).isEqualTo((byte) Messages.RELEASE);
    return id;
  }

  private BarePeer.Answer answer(Locate to) {
    return server.answer(to.requestId());
  }

  private void assertReasons(FallbackReason reason) throws Exception {
    wanted.await();
    for (int i = 0; i < wanted.blocks().size(); i++) {
      assertThat(wanted.reason(i)).as("block %s", i).isEqualTo(reason);
    }
  }

  /** All blocks use TCP, and the connection ends. */
  private void assertProtocolError() throws Exception {
    assertReasons(FallbackReason.PROTOCOL_ERROR);
    server.awaitEnd();
    assertThat(reader.count(Counter.PROTOCOL_ERRORS)).isEqualTo(1);
  }

  // Set-up.

  @Test
  void shouldReadFromAServerByBareVerbs() throws Exception {
    fetchAndAnswer(2).extent(0, 0, LENGTH, LENGTH).extent(1, 0, 0, 0).send(1);
    wanted.await();
    assertThat(wanted.bytes(0)).isEqualTo(BarePeer.content(LENGTH));
    assertThat(wanted.bytes(1)).isEmpty();
    assertThat(reader.count(Counter.PROTOCOL_ERRORS)).isZero();
  }

  @Test
  void shouldReadAnEmptyBlockWithoutALease() throws Exception {
    fetchAndAnswer(1).extent(0, 0, 0, 0).send(0);
    wanted.await();
    assertThat(wanted.bytes(0)).isEmpty();
  }

  @Test
  void shouldRefuseAServerWithoutTheSecret() throws Exception {
    fetch(1);
    server.accept();
    byte[] request = server.awaitMessage();
    byte[] answer = new byte[SetupMessages.REPLY_BYTES];
    answer[0] = Messages.REPLY;
    answer[1] = Messages.PROTOCOL;
    System.arraycopy(request, request.length - 32, answer, answer.length - 32, 32);
    server.send(answer);
    assertReasons(FallbackReason.REFUSED);
    assertThat(reader.count(Counter.CONNECTIONS_ESTABLISHED)).isZero();
    server.awaitEnd();
    assertThat(server.nextMessage()).as("a CONFIRM").isNull();
  }

  @Test
  void shouldRefuseAServerThatReplaysAnAnswer() throws Exception {
    fetch(1);
    byte[] recorded = server.acceptAndTakeRequest();
    server.end();
    wanted.await();
    fetch(1);
    server.accept();
    server.awaitMessage();
    server.send(recorded);
    assertReasons(FallbackReason.REFUSED);
  }

  @Test
  void shouldEndTheConnectionOfAServerThatSendsTheRequestBack() throws Exception {
    fetch(1);
    server.accept();
    server.send(server.awaitMessage());
    assertProtocolError();
  }

  @Test
  void shouldEndTheConnectionOfAServerThatSendsFirst() throws Exception {
    fetch(1);
    server.accept();
    server.send(server.answer(0).extent(0, 0, LENGTH, LENGTH).encode(1, 60_000));
    wanted.await();
    assertThat(wanted.failed(0)).isTrue();
    assertThat(reader.count(Counter.PROTOCOL_ERRORS)).isEqualTo(1);
  }

  @Test
  void shouldEndTheConnectionOfAServerThatLocatesBeforeItsProof() throws Exception {
    fetch(1);
    server.acceptAndTakeRequest();
    server.answer(0).extent(0, 0, LENGTH, LENGTH).send(1);
    assertProtocolError();
  }

  @Test
  void shouldEndTheConnectionOfAServerWithAMalformedAnswer() throws Exception {
    fetch(1);
    byte[] answer = server.acceptAndTakeRequest();
    server.send(Arrays.copyOf(answer, answer.length - 1));
    assertProtocolError();
  }

  @Test
  void shouldEndTheConnectionOfAServerWithASecondAnswer() throws Exception {
    fetch(1);
    byte[] answer = server.acceptAndTakeRequest();
    server.send(answer);
    server.awaitMessage();
    server.send(answer);
    assertProtocolError();
  }

  private static byte[] refusal(Refusal reason) {
    ByteBuffer out = ByteBuffer.allocate(8);
    SetupMessages.writeRefusal(out, reason);
    return out.array();
  }

  @Test
  void shouldUseTcpForARefusalOfAnUnknownReason() throws Exception {
    fetch(1);
    server.accept();
    server.awaitMessage();
    byte[] unknown = refusal(Refusal.PROOF);
    unknown[2] = 4;
    server.send(unknown);
    assertReasons(FallbackReason.REFUSED);
    server.awaitEnd();
  }

  @Test
  void shouldUseTcpWhenTheServerIsAlwaysFull() throws Exception {
    fetch(1);
    while (wanted.answered() == 0) {
      server.rejectIfRequested(full());
    }
    assertReasons(FallbackReason.CONNECT_FAILED);
    assertThat(server.attempts()).isBetween(1, 100);
  }

  private byte[] full() {
    return server.rejectsWithReason() ? new byte[] {Messages.FULL} : new byte[0];
  }

  @Test
  void shouldUseTcpAtOnceWhenNoExecutorListens() throws Exception {
    fetch(1);
    while (wanted.answered() == 0) {
      server.rejectIfRequested();
    }
    assertReasons(FallbackReason.CONNECT_FAILED);
    if (server.rejectsWithReason()) {
      assertThat(server.attempts()).isEqualTo(1);
    }
  }

  @Test
  void shouldUseTcpWhenTheServerNeverAccepts() throws Exception {
    fetch(1);
    assertReasons(FallbackReason.CONNECT_FAILED);
  }

  @Test
  void shouldUseTcpWhenTheServerNeverProvesItself() throws Exception {
    fetch(1);
    server.accept();
    assertReasons(FallbackReason.CONNECT_FAILED);
    server.awaitEnd();
  }

  @Test
  void shouldUseTcpWhenTheServerNeverReceivesTheRequest() throws Exception {
    assumeFalse(server.isOnIwarp(), "there a message without a receive ends the connection");
    server.receiveOnly(0);
    fetch(1);
    server.accept();
    assertReasons(FallbackReason.CONNECT_FAILED);
    server.awaitEnd();
  }

  /** Even a proven server has no access to the memory of the executors that read from it. */
  @Test
  void shouldRefuseReadsOfAServerFromItsReader() throws Exception {
    TestExecutor victim = start(new Options(4).mode(ServeSettings.Mode.WINDOW));
    assumeTrue(server.canLimitAccess(), "there the device cannot withhold access");
    victim.outputs().write(0, random, 200_000);
    try (BarePeer proven = new BarePeer(10)) {
      proven.prove(victim.endpoint());
      Located.Decoder extent = proven.locate(block(0, 0, 1));
      wanted = victim.fetch(server.endpoint(), List.of(block(0, 0, 1)));
      server.acceptAndProve();
      assertThat(server.read(extent)).isFalse();
      assertThat(proven.read(extent)).as("the key is right for a reader").isTrue();
      assertThat(wanted.await().failed(0)).isTrue();
    }
  }

  // Answers.

  @Test
  void shouldUseTcpForAnswersThatDoNotFitTheRequest() throws Exception {
    List<UnaryOperator<BarePeer.Answer>> wrong =
        List.of(
            // A block of two lengths.
            of -> of.extent(0, 0, LENGTH, 2 * LENGTH).extent(0, LENGTH, LENGTH, 3 * LENGTH),
            // An empty extent.
            of -> of.extent(0, 0, 0, LENGTH),
            // Blocks in another order.
            of -> of.extent(1, 0, LENGTH, LENGTH).extent(0, 0, LENGTH, LENGTH),
            // Extents that overlap, or leave a gap.
            of -> of.extent(0, 0, LENGTH, 2 * LENGTH).extent(0, LENGTH / 2, LENGTH, 2 * LENGTH),
            of -> of.extent(0, LENGTH, LENGTH, 2 * LENGTH),
            // A length of a block for which there is memory, or one that no block has.
            of -> of.notCopied(0, 0),
            of -> of.notCopied(0, -1),
            of -> of.extent(0, 0, LENGTH, 2 * LENGTH).notCopied(0, 2 * LENGTH),
            // More bytes than the block has.
            of -> of.extent(0, 0, LENGTH, LENGTH).extent(0, LENGTH, 1, LENGTH),
            // More blocks than were requested, or none.
            of -> both(of).extent(2, 0, LENGTH, LENGTH),
            of -> of);
    for (int i = 0; i < wrong.size(); i++) {
      // No fault of this executor is known.
      server.become(100 + i);
      wrong.get(i).apply(fetchAndAnswer(2)).send(1);
      assertReasons(FallbackReason.PROTOCOL_ERROR);
      server.awaitEnd();
      assertThat(reader.count(Counter.PROTOCOL_ERRORS)).as("answer %s", i).isEqualTo(i + 1);
    }
  }

  private static BarePeer.Answer both(BarePeer.Answer answer) {
    return answer.extent(0, 0, LENGTH, LENGTH).extent(1, 0, LENGTH, LENGTH);
  }

  @Test
  void shouldUseTcpForABlockOfTwoLengthsInTwoAnswers() throws Exception {
    fetchAndAnswer(1).extent(0, 0, LENGTH, 2 * LENGTH).send(1);
    answer(server.awaitLocate(wanted)).extent(0, LENGTH, LENGTH, 3 * LENGTH).send(2);
    assertProtocolError();
  }

  @Test
  void shouldUseTcpForABlockWhoseLengthIsToldTwice() throws Exception {
    fetchAndAnswer(1).notCopied(0, LENGTH).send(0);
    answer(server.awaitLocate(wanted)).notCopied(0, LENGTH).send(0);
    assertProtocolError();
  }

  @Test
  void shouldUseTcpForABlockThatIsLongerThanWasTold() throws Exception {
    fetchAndAnswer(1).notCopied(0, LENGTH).send(0);
    answer(server.awaitLocate(wanted)).extent(0, 0, LENGTH, 2 * LENGTH).send(1);
    assertProtocolError();
  }

  @Test
  void shouldReadBlocksInTheirOrderWhoseLengthsWereTold() throws Exception {
    fetchAndAnswer(3)
        .notCopied(0, LENGTH)
        .notCopied(1, Long.MAX_VALUE)
        .notCopied(2, LENGTH)
        .send(1);
    Locate again = server.awaitLocate(wanted);
    assertThat(again.blockCount()).isEqualTo(2);
    assertThat(again.mapId(0)).isZero();
    assertThat(again.leaseId(0)).as("the lease of nothing is released").isEqualTo(1);
    answer(again).extent(0, 0, LENGTH, LENGTH).extent(1, 0, LENGTH, LENGTH).send(2);
    wanted.await();
    assertThat(wanted.reason(1)).isEqualTo(FallbackReason.POOL_EMPTY);
    assertThat(wanted.bytes(0)).isEqualTo(BarePeer.content(LENGTH));
    assertThat(wanted.bytes(2)).isEqualTo(BarePeer.content(LENGTH));
    assertThat(reader.count(Counter.PEER_WAITS_IN_VAIN)).isZero();
  }

  @Test
  void shouldUseTcpForABlockThatIsLocatedAndThenBusy() throws Exception {
    fetchAndAnswer(1).extent(0, 0, LENGTH, 2 * LENGTH).send(1);
    answer(server.awaitLocate(wanted)).byTcp(0, Located.Kind.BUSY).send(0);
    wanted.await();
    assertThat(wanted.reason(0)).isEqualTo(FallbackReason.PEER_BUSY);
  }

  @Test
  void shouldUseTcpForABlockThatIsLocatedAndBusyInOneAnswer() throws Exception {
    fetchAndAnswer(2)
        .extent(0, 0, LENGTH, 2 * LENGTH)
        .byTcp(0, Located.Kind.BUSY)
        .extent(1, 0, LENGTH, LENGTH)
        .send(1);
    wanted.await();
    assertThat(wanted.reason(0)).isEqualTo(FallbackReason.PEER_BUSY);
    assertThat(wanted.bytes(1)).isEqualTo(BarePeer.content(LENGTH));
  }

  @Test
  void shouldEndTheConnectionWhenABlockIsBusyAndThenLocated() throws Exception {
    fetchAndAnswer(1).byTcp(0, Located.Kind.BUSY).extent(0, 0, LENGTH, LENGTH).send(1);
    wanted.await();
    assertThat(wanted.reason(0)).isEqualTo(FallbackReason.PEER_BUSY);
    server.awaitEnd();
    assertThat(reader.count(Counter.PROTOCOL_ERRORS)).isEqualTo(1);
  }

  @Test
  void shouldUseTcpForABlockWithTinyExtentsInBoundedTime() throws Exception {
    fetchAndAnswer(1).extent(0, 0, 1, 1 << 20).send(1);
    int answers = 1;
    Locate next = server.awaitLocate(wanted);
    while (next != null) {
      answers++;
      pass(Duration.ofMillis(20));
      answer(next).extent(0, next.startOffset(0), 1, 1 << 20).send(answers);
      next = server.awaitLocate(wanted);
    }
    assertReasons(FallbackReason.TIMEOUT);
    assertThat(answers).isLessThan(200);
  }

  @Test
  void shouldUseTcpForABlockOfAnAbsurdLength() throws Exception {
    fetchAndAnswer(2).extent(0, 0, 1, Long.MAX_VALUE).extent(1, 0, LENGTH, LENGTH).send(1);
    wanted.await();
    assertThat(wanted.reason(0)).isEqualTo(FallbackReason.POOL_EMPTY);
    assertThat(wanted.bytes(1)).isEqualTo(BarePeer.content(LENGTH));
  }

  @Test
  void shouldUseTcpForABlockThatIsReadUnderNoLease() throws Exception {
    fetchAndAnswer(1).extent(0, 0, LENGTH, LENGTH).send(0);
    assertProtocolError();
  }

  @Test
  void shouldUseTcpForBlocksThatCannotBeRead() throws Exception {
    fetchAndAnswer(1).unreadable(0, LENGTH).send(1);
    wanted.await();
    assertThat(wanted.failed(0)).isTrue();
    server.awaitEnd();
  }

  @Test
  void shouldUseTcpForMalformedAnswers() throws Exception {
    byte[] valid = fetchAndAnswer(1).extent(0, 0, LENGTH, LENGTH).encode(1, 60_000);
    int extent = Located.HEADER_BYTES;
    assertEndOfEachConnection(
        List.of(
            Arrays.copyOf(valid, 1),
            Arrays.copyOf(valid, Located.HEADER_BYTES),
            Arrays.copyOf(valid, valid.length - 1),
            Arrays.copyOf(valid, valid.length + 1),
            // Checksum kind, number of extents, lease.
            changed(valid, 1, 9),
            changed(valid, 2, 0),
            changed(valid, 2, 2),
            changed(valid, 3, 0xFF),
            changed(valid, 7, 0x80),
            // Kind, number of sums, offset, length of the block, length.
            changed(valid, extent + 2, 9),
            changed(valid, extent + 4, 1),
            changed(valid, extent + 7, 0x80),
            changed(valid, extent + 31, 0x80),
            changed(valid, extent + 39, 0x80),
            changed(valid, extent + 43, 0x80)));
  }

  private static byte[] changed(byte[] message, int at, int value) {
    byte[] copy = message.clone();
    copy[at] = (byte) value;
    return copy;
  }

  /** Sends each message on a connection of its own, in place of the answer to the first LOCATE. */
  private void assertEndOfEachConnection(List<byte[]> messages) throws Exception {
    int errors = 0;
    for (byte[] message : messages) {
      if (errors > 0) {
        // No fault of this executor is known.
        server.become(100 + errors);
        fetch(1);
        server.acceptAndProve();
        server.awaitLocate(wanted);
      }
      errors++;
      server.send(message);
      wanted.await();
      assertThat(wanted.reason(0))
          .as("message %s", errors)
          .isEqualTo(FallbackReason.PROTOCOL_ERROR);
      server.awaitEnd();
      assertThat(reader.count(Counter.PROTOCOL_ERRORS)).as("message %s", errors).isEqualTo(errors);
    }
    wanted.await();
  }

  @Test
  void shouldUseTcpWhenTheServerSendsRequestsOrUnknownTypes() throws Exception {
    fetchAndAwaitLocate(1);
    List<byte[]> messages = new ArrayList<>();
    messages.add(new byte[0]);
    for (int type : List.of(0, 1, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 99, 200)) {
      messages.add(changed(new byte[8], 0, type));
      messages.add(changed(new byte[SetupMessages.REPLY_BYTES], 0, type));
    }
    byte[] garbage = new byte[200];
    new Random(4).nextBytes(garbage);
    messages.add(garbage);
    messages.add(new byte[MemoryShares.MESSAGE_BYTES + 1]);
    assertEndOfEachConnection(messages);
  }

  @Test
  void shouldUseTcpWhenTheAnswerHasAnUnknownRequestId() throws Exception {
    long id = fetchAndAwaitLocate(1);
    server.answer(id + 2).extent(0, 0, LENGTH, LENGTH).send(1);
    assertProtocolError();
  }

  @Test
  void shouldEndTheConnectionOfAServerThatAnswersTwice() throws Exception {
    long id = fetchAndAwaitLocate(1);
    server.answer(id).extent(0, 0, LENGTH, LENGTH).send(1);
    server.answer(id).extent(0, 0, LENGTH, LENGTH).send(2);
    // Its block may have been read before.
    wanted.await();
    server.awaitEnd();
    assertThat(reader.count(Counter.PROTOCOL_ERRORS)).isEqualTo(1);
  }

  @Test
  void shouldEndTheConnectionOfAServerThatAnswersAReleaseWithLocated() throws Exception {
    long id = fetchAndAwaitRelease();
    server.answer(id + 1).extent(0, 0, LENGTH, LENGTH).send(2);
    server.awaitEnd();
    assertThat(reader.count(Counter.PROTOCOL_ERRORS)).isEqualTo(1);
  }

  @Test
  void shouldEndTheConnectionOfAServerThatAnswersAReleaseTwice() throws Exception {
    fetchAndAwaitRelease();
    server.sendReleased();
    server.sendReleased();
    server.awaitEnd();
    assertThat(reader.count(Counter.PROTOCOL_ERRORS)).isEqualTo(1);
  }

  @Test
  void shouldEndTheConnectionOfAServerThatNeverAnswersARelease() throws Exception {
    fetchAndAwaitRelease();
    pass(REQUEST_TIMEOUT.plusMillis(1));
    server.awaitEnd();
    assertThat(reader.count(Counter.PROTOCOL_ERRORS)).isZero();
  }

  /** Recorded and computed checksums are of other ranges, which do not fit together. */
  @Test
  void shouldRequestTheSameChecksumsInAllAnswersToABlock() throws Exception {
    BarePeer.Answer first = fetchAndAnswer(1);
    reader.unusable().add(0, 0);
    first.extent(0, 0, LENGTH, 2 * LENGTH).send(1);
    Locate rest = server.awaitLocate(wanted);
    assertThat(rest.freshSums(0)).isFalse();
    answer(rest).extent(0, LENGTH, LENGTH, 2 * LENGTH).send(2);
    assertThat(wanted.await().bytes(0)).isEqualTo(BarePeer.content(2 * LENGTH));
  }

  /** Memory for the block is held by the first answer. */
  @Test
  void shouldReleaseTheMemoryOfABlockWhoseSecondLeaseIsTooShort() throws Exception {
    fetchAndAnswer(1).extent(0, 0, LENGTH, 2 * LENGTH).send(1);
    answer(server.awaitLocate(wanted)).extent(0, LENGTH, LENGTH, 2 * LENGTH).send(2, 500);
    assertReasons(FallbackReason.TIMEOUT);
    // The end of the test checks for leaks.
  }

  // Silence and slowness.

  @Test
  void shouldUseTcpWhenTheServerNeverAnswers() throws Exception {
    fetchAndAwaitLocate(1);
    assertReasons(FallbackReason.TIMEOUT);
    server.awaitEnd();
  }

  @Test
  void shouldUseTcpWhenTheServerNeverReceives() throws Exception {
    assumeFalse(server.isOnIwarp(), "there a message without a receive ends the connection");
    // For REQUEST and CONFIRM.
    server.receiveOnly(2);
    fetch(1_000);
    server.acceptAndProve();
    assertReasons(FallbackReason.TIMEOUT);
    server.awaitEnd();
  }

  @Test
  void shouldUseTcpWhenTheServerDisconnects() throws Exception {
    fetchAndAwaitLocate(1);
    server.end();
    assertReasons(FallbackReason.LOST_PEER);
  }

  @Test
  void shouldUseTcpForALargeBlockWhoseExtentsComeJustInTime() throws Exception {
    long beforeNs = passedNs.get();
    fetchAndAnswer(1).extent(0, 0, LENGTH, 1 << 24).send(1);
    Locate next = server.awaitLocate(wanted);
    for (int i = 2; next != null; i++) {
      pass(Duration.ofMillis(1_500));
      answer(next).extent(0, next.startOffset(0), LENGTH, 1 << 24).send(i);
      next = server.awaitLocate(wanted);
    }
    assertReasons(FallbackReason.TIMEOUT);
    assertThat(passedNs.get() - beforeNs).isLessThan(REQUEST_TIMEOUT.multipliedBy(3).toNanos());
    assertThat(reader.count(Counter.PEER_WAITS_IN_VAIN)).isPositive();
  }

  @Test
  void shouldReadALargeBlockThatComesSlowlyButFasterThanTheLowestRate() throws Exception {
    int extents = 100;
    int length = 60 * LENGTH;
    fetchAndAnswer(1).extent(0, 0, length, (long) extents * length).send(1);
    for (int i = 2; i <= extents; i++) {
      pass(Duration.ofMillis(50));
      Locate next = server.awaitLocate(wanted);
      answer(next).extent(0, next.startOffset(0), length, (long) extents * length).send(i);
    }
    wanted.await();
    assertThat(wanted.bytes(0)).isEqualTo(BarePeer.content(extents * length));
  }

  /** More blocks than LOCATEs hold, so that most are never requested. */
  @Test
  void shouldUseTcpForBlocksThatAnswersLeaveOutAgainAndAgain() throws Exception {
    int blocks = 2_000;
    long beforeNs = passedNs.get();
    fetchAndAnswer(blocks).extent(0, 0, LENGTH, LENGTH).send(1);
    Locate next = server.awaitLocate(wanted);
    for (int i = 2; next != null; i++) {
      pass(Duration.ofMillis(400));
      answer(next).extent(0, 0, LENGTH, LENGTH).send(i);
      next = server.awaitLocate(wanted);
    }
    wanted.await();
    assertThat(wanted.bytes(0)).isEqualTo(BarePeer.content(LENGTH));
    assertThat(wanted.reason(blocks - 1)).isEqualTo(FallbackReason.TIMEOUT);
    assertThat(passedNs.get() - beforeNs).isLessThan(REQUEST_TIMEOUT.multipliedBy(4).toNanos());
    assertThat(reader.count(Counter.PEERS_QUARANTINED)).isZero();
  }

  @Test
  void shouldConnectAgainAtOnceAfterAFault() throws Exception {
    for (int i = 0; i < 3; i++) {
      fetchAndAwaitLocate(1);
      server.send(new byte[] {99});
      assertReasons(FallbackReason.PROTOCOL_ERROR);
      server.awaitEnd();
    }
    fetchAndAnswer(1).extent(0, 0, LENGTH, LENGTH).send(1);
    wanted.await();
    assertThat(wanted.bytes(0)).isEqualTo(BarePeer.content(LENGTH));
    assertThat(reader.count(Counter.PEERS_QUARANTINED)).isZero();
  }
}
