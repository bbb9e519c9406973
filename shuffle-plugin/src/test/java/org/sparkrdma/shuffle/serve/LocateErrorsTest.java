// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.serve;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.sparkrdma.memory.PinnedBudget;
import org.sparkrdma.shuffle.metrics.ShuffleCounters;
import org.sparkrdma.shuffle.wire.Locate;
import org.sparkrdma.shuffle.wire.Located;

/**
 * An Error at the first, second, ... step of the server that a test can let fail: a reading of the
 * clock, a question to a request, or its answer. Two disks as in {@link TwoDisks}. Closing checks
 * that no request has left a lease.
 */
@Tag("slow")
@Timeout(60)
class LocateErrorsTest {
  private static final Duration TIMEOUT = Duration.ofSeconds(30);
  private static final LoadLimits LIMITS = LoadLimits.of(TIMEOUT);
  private static final int DIRECT = 1;
  private static final int QUEUED = 2;
  private static final int MAPS = 3;

  @TempDir Path folder;
  private final FakeDomain domain = new FakeDomain();
  private final PinnedBudget budget = new PinnedBudget(1 << 30, FakeDomain.PAGE);
  private final ConcurrentLinkedQueue<Runnable> jobs = new ConcurrentLinkedQueue<>();
  private long nowNs = Long.MAX_VALUE - 1_000_000;
  private int failing = Integer.MAX_VALUE;
  private int failures = 1;
  private int steps;
  private BlockServer server;

  @BeforeEach
  void create() throws IOException {
    FakeMapOutputs outputs = DiskServers.outputsOnTwoDisks(folder, MAPS, DIRECT, QUEUED);
    server =
        DiskServers.of(
            outputs,
            domain,
            budget,
            new ShuffleCounters(),
            TIMEOUT,
            this::now,
            1000,
            List.of(
                new DiskQueue(Runnable::run, DiskServers.THREADS, this::now),
                new DiskQueue(jobs::add, DiskServers.THREADS, this::now)));
  }

  private long now() {
    step();
    return nowNs;
  }

  private void step() {
    steps++;
    if (steps >= failing && steps < failing + failures) {
      throw new OutOfMemoryError("thrown by the test");
    }
  }

  @AfterEach
  void closeAndCheckForLeaks() {
    failing = Integer.MAX_VALUE;
    server.onPeerGone(1);
    DiskServers.closeWithoutLeases(server, () -> pass(0), DIRECT, QUEUED);
    domain.close();
    budget.close();
  }

  /** Turns of the server's thread, which continues after an Error. */
  private void pass(long ns) {
    nowNs += ns;
    boolean works = true;
    while (works) {
      try {
        works = server.doWork() > 0;
      } catch (OutOfMemoryError e) {
        works = true;
      }
    }
  }

  private void runJobs() {
    for (Runnable job = jobs.poll(); job != null; job = jobs.poll()) {
      job.run();
    }
  }

  static IntStream failingSteps() {
    return IntStream.rangeClosed(1, 100);
  }

  @ParameterizedTest
  @MethodSource("failingSteps")
  void shouldAnswerEachRequestAfterAnError(int step) {
    failing = steps + step;
    run();
  }

  static Stream<Arguments> errorsThatLast() {
    return IntStream.of(2, 3, 8, 9, 10)
        .boxed()
        .flatMap(errors -> failingSteps().mapToObj(step -> Arguments.of(errors, step)));
  }

  @ParameterizedTest
  @MethodSource("errorsThatLast")
  void shouldAnswerEachRequestAfterErrorsThatLast(int errors, int step) {
    failing = steps + step;
    failures = errors;
    run();
  }

  @Test
  void shouldHaveTriedEachStep() {
    int before = steps;
    run();
    assertThat(steps - before).isBetween(60, (int) failingSteps().count());
  }

  @Test
  void shouldAnswerReleasesAfterErrors() {
    int[] answers = new int[3];
    for (int i = 0; i < answers.length; i++) {
      int release = i;
      server.release(
          1,
          new long[0],
          () -> {
            answers[release]++;
            if (answers[release] <= 3) {
              throw new OutOfMemoryError("thrown by the test");
            }
          });
    }
    for (int i = 1; i <= 3; i++) {
      pass(0);
      assertThat(answers).as("each once in a turn").containsOnly(i);
      assertThat(server.untilNextDeadlineNs()).isLessThanOrEqualTo(OpenLocates.CHECK_NS);
      nowNs += OpenLocates.CHECK_NS;
    }
    pass(0);
    assertThat(answers).containsOnly(4);
    pass(OpenLocates.CHECK_NS);
    assertThat(answers).as("they have succeeded").containsOnly(4);
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 3, 4, 5, 6})
  void shouldEndTheLeasesOfAPeerThatIsGoneAfterErrors(int step) {
    Call call = new Call(DIRECT, DIRECT, DIRECT);
    server.locate(call, nowNs);
    pass(0);
    assertThat(call.answers).isEqualTo(1);
    failing = steps + step;
    failures = 5;
    server.onPeerGone(1);
    for (int i = 0; i < 10; i++) {
      pass(OpenLocates.CHECK_NS);
    }
    failing = Integer.MAX_VALUE;
    List<Integer> unregistered = new ArrayList<>();
    server.unregisterShuffle(DIRECT, () -> unregistered.add(DIRECT));
    pass(0);
    assertThat(unregistered).containsExactly(DIRECT);
  }

  private void run() {
    List<Call> calls = new ArrayList<>();
    int[][] requests = {{DIRECT}, {QUEUED, DIRECT}, {DIRECT, QUEUED, QUEUED}};
    for (int[] shuffles : requests) {
      calls.add(new Call(shuffles));
      server.locate(calls.get(calls.size() - 1), nowNs);
      pass(0);
    }
    pass(OpenLocates.CHECK_NS);
    runJobs();
    for (int i = 0; i < 2 * failures; i++) {
      pass(OpenLocates.CHECK_NS);
    }
    Call late = new Call(QUEUED);
    calls.add(late);
    server.locate(late, nowNs);
    pass(LIMITS.maxWaitNs() + OpenLocates.CHECK_NS);
    for (int i = 0; i < 2 * failures; i++) {
      pass(OpenLocates.CHECK_NS);
    }
    runJobs();
    assertThat(calls).allSatisfy(call -> assertThat(call.answers).isEqualTo(1));
    failing = Integer.MAX_VALUE;
    assertThat(calls).allSatisfy(Call::checkAnswer);
  }

  /** A LOCATE of peer 1 for one block of each of several map outputs. */
  private final class Call extends TestLocateCall {
    private final int blocks;
    private int answers;
    private int lengthBytes;

    Call(int... shuffles) {
      super(1, ByteBuffer.allocate(1000), ByteBuffer.allocate(Located.HEADER_BYTES + 1000));
      blocks = shuffles.length;
      Locate.Encoder encoder = new Locate.Encoder().begin(request(), 77);
      for (int i = 0; i < shuffles.length; i++) {
        encoder.block(shuffles[i], i, 0, 1, 0, false);
      }
      int length = encoder.finish();
      request().position(0).limit(length);
    }

    /** The reader can use the answer; it requests again what is left out. */
    void checkAnswer() {
      Located.Decoder in = new Located.Decoder().begin(answer().slice(0, lengthBytes));
      assertThat(in.requestId()).isEqualTo(77);
      int pieces = 0;
      boolean located = false;
      while (in.nextPiece()) {
        pieces++;
        assertThat(in.blockIndex()).isLessThan(blocks);
        if (in.kind() == Located.Kind.LOCATED) {
          located = true;
          assertThat(domain.isReadable(in.address(), in.remoteKey(), in.lengthBytes())).isTrue();
        }
      }
      assertThat(pieces).isBetween(1, blocks);
      assertThat(in.leaseId() != 0).isEqualTo(located);
      if (located) {
        server.release(1, new long[] {in.leaseId()}, () -> {});
      }
    }

    @Override
    public boolean isClosed() {
      step();
      return false;
    }

    @Override
    public void answered(int newLengthBytes) {
      step();
      answers++;
      lengthBytes = newLengthBytes;
    }

    @Override
    public void malformed(String reason) {
      throw new AssertionError(reason);
    }
  }
}
