// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.transport;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.spark.network.buffer.ManagedBuffer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.sparkrdma.shuffle.fetch.BlockRange;
import org.sparkrdma.shuffle.fetch.FetchHandler;
import org.sparkrdma.shuffle.metrics.Counter;
import org.sparkrdma.shuffle.metrics.FallbackReason;
import org.sparkrdma.shuffle.wire.Hello;
import org.sparkrdma.shuffle.wire.Hello.Refusal;
import org.sparkrdma.verbs.VerbsException;

/**
 * Two executors that want blocks of each other while messages of the set-up are lost or late, in
 * virtual time.
 */
@Timeout(120)
class LostRequestTest {
  private static final int BLOCK_BYTES = 1 << 20;
  private static final long MS = Duration.ofMillis(1).toNanos();

  /** The kernel repeats a lost request after this time. */
  private static final long REPEAT_NS = 6_100 * MS;

  private static final int TRIALS = 200;

  @TempDir private Path directory;
  private Path outputs;
  private VirtualFabric fabric;
  private VirtualExecutor lower;
  private VirtualExecutor higher;
  private final List<VirtualExecutor> executors = new ArrayList<>();

  @BeforeEach
  void start() throws IOException, VerbsException {
    outputs = directory.resolve("outputs.data");
    try (RandomAccessFile file = new RandomAccessFile(outputs.toFile(), "rw")) {
      file.setLength(2L * BLOCK_BYTES);
    }
    restart(new VirtualFabric());
  }

  private void restart(VirtualFabric started) throws VerbsException {
    close();
    fabric = started;
    lower = executor(0);
    higher = executor(1);
  }

  private VirtualExecutor executor(int number) throws VerbsException {
    VirtualExecutor executor =
        new VirtualExecutor(fabric, number, 1L << 30, 16, outputs, 2, BLOCK_BYTES);
    executors.add(executor);
    return executor;
  }

  @AfterEach
  void close() {
    executors.forEach(VirtualExecutor::close);
    executors.clear();
  }

  /** A block that one executor fetches from another. */
  private final class Fetch implements FetchHandler {
    private boolean read;
    private long answeredNs;
    private FallbackReason failure;

    Fetch(VirtualExecutor reader, VirtualExecutor server) {
      reader.fetch(server.endpoint(), List.of(new BlockRange(0, 1, 0, 1)), this);
    }

    boolean isAnswered() {
      return read || failure != null;
    }

    @Override
    public void onFetched(int index, ManagedBuffer buffer) {
      read = true;
      answeredNs = fabric.nowNs();
    }

    @Override
    public void onFailed(int index, FallbackReason reason, String detail) {
      failure = reason;
    }
  }

  private void passUntil(long milliseconds) {
    assertThat(fabric.runUntil(() -> fabric.nowNs() >= milliseconds * MS, Long.MAX_VALUE)).isTrue();
  }

  /** Both ends use the same connection, and only that one is left. */
  private void assertOneConnection(String what) {
    assertThat(lower.established()).as(what).hasSize(1);
    assertThat(higher.established()).as(what).containsExactly(lower.established().get(0).other());
    assertThat(lower.connections()).as(what).isEqualTo(1);
    assertThat(higher.connections()).as(what).isEqualTo(1);
    for (VirtualExecutor executor : executors) {
      assertThat(executor.count(Counter.PEERS_QUARANTINED)).as(what).isZero();
    }
  }

  @Test
  void shouldCountTheRefusedRequestWhenRequestsCross() {
    Fetch one = new Fetch(lower, higher);
    Fetch two = new Fetch(higher, lower);

    passUntil(100);

    assertThat(one.read).isTrue();
    assertThat(two.read).isTrue();
    assertThat(lower.requests()).isEqualTo(1);
    assertThat(higher.requests()).isEqualTo(1);
    assertThat(lower.count(Counter.CONNECTIONS_COLLIDED)).isZero();
    assertThat(higher.count(Counter.CONNECTIONS_COLLIDED)).isEqualTo(1);
    assertOneConnection("after the collision");
  }

  @Test
  void shouldCountNoCollisionWhenOneExecutorConnects() {
    Fetch one = new Fetch(lower, higher);
    passUntil(100);
    Fetch two = new Fetch(higher, lower);
    passUntil(200);

    assertThat(one.read).isTrue();
    assertThat(two.read).isTrue();
    assertThat(lower.count(Counter.CONNECTIONS_COLLIDED)).isZero();
    assertThat(higher.count(Counter.CONNECTIONS_COLLIDED)).isZero();
  }

  @Test
  void shouldUseTheConnectionOfThePeerWhenTheOwnRequestIsLost() {
    fabric.delayRequests((from, sentNs) -> from == lower ? REPEAT_NS : 0);
    Fetch one = new Fetch(lower, higher);
    Fetch two = new Fetch(higher, lower);

    fabric.runUntil(() -> one.isAnswered() && two.isAnswered(), 2_300 * MS);

    assertThat(one.read).isTrue();
    assertThat(two.read).isTrue();
    assertThat(higher.requests()).as("connection requests").isLessThanOrEqualTo(10);
    // The lost request is repeated after the connection was established.
    passUntil(20_000);
    assertOneConnection("after the late request");
    assertThat(lower.count(Counter.CONNECTIONS_ESTABLISHED)).isEqualTo(1);
    assertThat(higher.count(Counter.CONNECTIONS_ESTABLISHED)).isEqualTo(1);
    assertThat(lower.requests()).isEqualTo(1);
    assertThat(lower.count(Counter.CONNECTIONS_COLLIDED)).as("yields").isEqualTo(1);
    assertThat(higher.count(Counter.CONNECTIONS_COLLIDED))
        .as("all requests but the one that is accepted")
        .isEqualTo(higher.requests() - 1);
  }

  @Test
  void shouldConnectOnceMessagesArriveAgain() {
    fabric.delayRequests((from, sentNs) -> sentNs < 3_000 * MS ? REPEAT_NS : 0);
    Fetch one = new Fetch(lower, higher);
    Fetch two = new Fetch(higher, lower);

    passUntil(6_500);

    assertThat(one.failure).as("by TCP meanwhile").isEqualTo(FallbackReason.CONNECT_FAILED);
    assertThat(two.failure).as("by TCP meanwhile").isEqualTo(FallbackReason.CONNECT_FAILED);
    Fetch later = new Fetch(lower, higher);
    passUntil(6_600);
    assertThat(later.read).isTrue();
    passUntil(20_000);
    assertOneConnection("after the repeated requests");
    assertThat(lower.requests() + higher.requests()).isLessThanOrEqualTo(10);
  }

  /** Requests and answers of both ends arrive in any order about the time at which one yields. */
  @Test
  void shouldKeepOneConnectionHoweverMessagesOfBothEndsCross() throws VerbsException {
    Random random = new Random(41);
    long yieldsNs = timeOfTheRequestThatIsAccepted();
    for (int trial = 0; trial < TRIALS; trial++) {
      boolean anyTime = trial % 4 == 0;
      long requestNs =
          anyTime ? random.nextLong(3_000 * MS) : yieldsNs + random.nextLong(12 * MS) - 6 * MS;
      connectBoth(random, requestNs, 0);
    }
  }

  /** The peer begins when the request that was lost is repeated, and its answer arrives. */
  @Test
  void shouldKeepOneConnectionWhenThePeerConnectsWhileALateRequestIsAnswered()
      throws VerbsException {
    Random random = new Random(43);
    for (int trial = 0; trial < TRIALS; trial++) {
      connectBoth(random, REPEAT_NS, REPEAT_NS + random.nextLong(16 * MS) - 8 * MS);
    }
  }

  /**
   * Both executors connect; there must be one connection, which was never replaced.
   *
   * @param requestNs delay of the request of the lower one
   * @param higherBeginsNs time at which the higher one wants a block
   */
  private void connectBoth(Random random, long requestNs, long higherBeginsNs)
      throws VerbsException {
    restart(new VirtualFabric());
    long answerNs = random.nextLong(4 * MS);
    long requestOfHigherNs = random.nextLong(4 * MS);
    long answerOfLowerNs = random.nextLong(4 * MS);
    fabric.delayRequests((from, sentNs) -> from == lower ? requestNs : requestOfHigherNs);
    fabric.delayAnswers((from, sentNs) -> from == lower ? answerOfLowerNs : answerNs);
    fabric.delayMessages(random.nextLong(4 * MS));
    String what =
        "requestNs=%d answerNs=%d higherBeginsNs=%d requestOfHigherNs=%d answerOfLowerNs=%d"
            .formatted(requestNs, answerNs, higherBeginsNs, requestOfHigherNs, answerOfLowerNs);

    new Fetch(lower, higher);
    fabric.runUntil(() -> false, higherBeginsNs);
    Fetch fetch = new Fetch(higher, lower);
    fabric.runUntil(() -> false, higherBeginsNs + 9_000 * MS);

    assertThat(fetch.read).as(what).isTrue();
    assertOneConnection(what);
    assertThat(lower.count(Counter.CONNECTIONS_ESTABLISHED)).as(what).isEqualTo(1);
    assertThat(higher.count(Counter.CONNECTIONS_ESTABLISHED)).as(what).isEqualTo(1);
  }

  private long timeOfTheRequestThatIsAccepted() {
    AtomicLong lastNs = new AtomicLong();
    fabric.delayRequests(
        (from, sentNs) -> {
          if (from == higher) {
            lastNs.set(sentNs);
          }
          return from == lower ? REPEAT_NS : 0;
        });
    new Fetch(lower, higher);
    Fetch fetch = new Fetch(higher, lower);
    passUntil(3_000);
    assertThat(fetch.read).isTrue();
    return lastNs.get();
  }

  /** The peer may have access before its proof. The device has more time for the connection. */
  @Test
  void shouldEndAnAttemptThatIsConnectedAndNotAnsweredAfterTheConnectTimeout()
      throws VerbsException {
    VirtualFabric limited = new VirtualFabric();
    limited.withoutPrivateData();
    restart(limited);
    fabric.delayRequests((from, sentNs) -> 7_000 * MS);
    fabric.delayMessages(60_000 * MS);
    new Fetch(lower, higher);
    passUntil(7_100);
    higher.hang();

    passUntil(11_900);
    assertThat(lower.connections()).as("4.9 s after the device's event").isEqualTo(1);
    assertThat(lower.count(Counter.PEERS_QUARANTINED)).isZero();
    passUntil(12_200);
    assertThat(lower.connections()).as("5.2 s after the device's event").isZero();
    assertThat(lower.count(Counter.PEERS_QUARANTINED)).isEqualTo(1);
  }

  /** A pause of the JVM or of the container, longer than any time-out of an attempt. */
  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void shouldConnectAfterAPauseWithoutAQuarantine(boolean privateData) throws VerbsException {
    VirtualFabric started = new VirtualFabric();
    if (!privateData) {
      started.withoutPrivateData();
    }
    restart(started);
    Fetch late = new Fetch(lower, higher);
    fabric.runUntil(() -> false, VirtualFabric.SETUP_NS / 2);
    lower.hang();
    fabric.at(30_000 * MS, lower::resume);
    passUntil(30_000);
    assertThat(lower.requests()).as("its address was being resolved").isZero();
    passUntil(30_100);

    assertThat(late.failure).isEqualTo(FallbackReason.CONNECT_FAILED);
    Fetch next = new Fetch(lower, higher);
    passUntil(30_200);
    assertThat(next.read).isTrue();
    assertThat(lower.requests()).isEqualTo(1);
    assertOneConnection("after the pause");
  }

  /** A member of the application claims to be an executor, again and again, to keep it out. */
  @Test
  void shouldConnectToAPeerWhoseIncarnationAnotherMemberClaims() throws VerbsException {
    for (boolean lowerReads : new boolean[] {true, false}) {
      restart(new VirtualFabric());
      VirtualExecutor member = executor(2);
      VirtualExecutor reader = lowerReads ? lower : higher;
      VirtualExecutor server = lowerReads ? higher : lower;
      claim(member, server, reader, 40);
      passUntil(100);
      Fetch first = new Fetch(reader, server);
      passUntil(1_500);
      assertThat(first.read).as("lowerReads=%s", lowerReads).isTrue();
      assertThat(first.answeredNs).as("lowerReads=%s", lowerReads).isLessThan(1_010 * MS);
      Fetch second = new Fetch(reader, server);
      passUntil(1_510);
      assertThat(second.read).as("lowerReads=%s", lowerReads).isTrue();
      passUntil(30_000);
      assertOneConnection("lowerReads=" + lowerReads);
    }
  }

  /** Sends requests for twelve seconds, so that there is always an unconfirmed one. */
  private void claim(VirtualExecutor member, VirtualExecutor as, VirtualExecutor at, int times) {
    try {
      member.requestAs(as.endpoint(), at.endpoint());
    } catch (VerbsException e) {
      throw new IllegalStateException(e);
    }
    if (times > 1) {
      fabric.after(300 * MS, () -> claim(member, as, at, times - 1));
    }
  }

  /** The answer to a request arrives when its responder has just begun an attempt of its own. */
  @Test
  void shouldKeepOneConnectionWhenALateAnswerCrossesAnAttempt() throws VerbsException {
    Random random = new Random(47);
    for (int trial = 0; trial < TRIALS; trial++) {
      boolean lowerAnswersLate = trial % 2 == 0;
      restart(new VirtualFabric());
      VirtualExecutor late = lowerAnswersLate ? lower : higher;
      VirtualExecutor other = lowerAnswersLate ? higher : lower;
      long lateNs = trial % 8 < 2 ? REPEAT_NS : 1_000 * MS + random.nextLong(12 * MS) - 6 * MS;
      long answerNs = random.nextLong(4 * MS);
      long requestNs = random.nextLong(4 * MS);
      long messageNs = random.nextLong(4 * MS);
      fabric.delayAnswers((from, sentNs) -> from == late ? lateNs : answerNs);
      fabric.delayRequests((from, sentNs) -> from == late ? requestNs : 0);
      fabric.delayMessages(messageNs);
      String what =
          "late=%s lateNs=%d answerNs=%d requestNs=%d messageNs=%d"
              .formatted(
                  lowerAnswersLate ? "lower" : "higher", lateNs, answerNs, requestNs, messageNs);

      Fetch one = new Fetch(other, late);
      passUntil(10);
      Fetch two = new Fetch(late, other);
      passUntil(1_200);

      assertThat(two.read).as(what).isTrue();
      assertThat(one.read).as(what).isTrue();
      passUntil(30_000);
      assertOneConnection(what);
      // The lower decides, so it establishes only one.
      assertThat(lower.count(Counter.CONNECTIONS_ESTABLISHED)).as(what).isEqualTo(1);
    }
  }

  @Test
  void shouldNotQuarantineAPeerThatRefusesForACollision() {
    fabric.rejectRequests(
        lower.endpoint().addresses().get(0).network().address(),
        Hello.encodeRefusal(Refusal.COLLISION));
    Fetch fetch = new Fetch(higher, lower);

    passUntil(5_100);

    assertThat(fetch.failure).isEqualTo(FallbackReason.CONNECT_FAILED);
    assertThat(higher.requests()).as("connection requests in 5 s").isBetween(5, 10);
    Fetch next = new Fetch(higher, lower);
    passUntil(5_200);
    assertThat(next.failure)
        .as("blocks do not wait twice")
        .isEqualTo(FallbackReason.CONNECT_FAILED);
    passUntil(40_000);
    assertThat(higher.requests()).as("nothing is wanted any more").isBetween(5, 25);
    assertThat(higher.count(Counter.PEERS_QUARANTINED)).isZero();
  }
}
