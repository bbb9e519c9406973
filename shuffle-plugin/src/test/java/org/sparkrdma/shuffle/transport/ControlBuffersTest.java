// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.transport;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.sparkrdma.memory.PinnedBudget;
import org.sparkrdma.memory.RegisteredPool;
import org.sparkrdma.verbs.AccessFlag;

class ControlBuffersTest {
  private static final int BUFFER_BYTES = 16 << 10;
  private static final int OTHERS = 5;

  /** Buffers of the reserve that answers to LOCATEs may use. */
  private static final int FOR_LOCATES =
      ControlBuffers.ANSWER_RESERVE - ControlBuffers.SHORT_ANSWER_RESERVE;

  private static final long GROWN_BYTES = (ControlBuffers.RESERVE + 1L) * BUFFER_BYTES;
  private static final long NEVER = Long.MAX_VALUE;

  private final PinnedBudget budget =
      new PinnedBudget((long) (ControlBuffers.RESERVE + OTHERS) * BUFFER_BYTES, 4096);
  private final RegisteredPool pool =
      new RegisteredPool(
          new ScriptedConnection.Memory(),
          new ScriptedConnection.Domain(),
          budget,
          Set.of(AccessFlag.LOCAL_WRITE),
          BUFFER_BYTES,
          1,
          1 << 20);
  private final ControlBuffers buffers = new ControlBuffers(pool, GROWN_BYTES);

  @AfterEach
  void closeWithoutLeaks() {
    buffers.close();
    pool.close();
    budget.close();
  }

  /** Takes all buffers that requests may have. */
  private List<ControlBuffer> exhaust() {
    assertThat(buffers.fillReserve()).isTrue();
    List<ControlBuffer> taken = new ArrayList<>();
    for (int i = 0; i < OTHERS; i++) {
      taken.add(buffers.tryTake().orElseThrow());
    }
    assertThat(buffers.tryTake()).isEmpty();
    return taken;
  }

  @Test
  void shouldReportHowMuchOfTheMemoryForConnectionsIsFree() {
    assertThat(buffers.freeShare()).isEqualTo(1);
    assertThat(buffers.fillReserve()).isTrue();
    assertThat(buffers.freeShare()).isEqualTo(1.0 / (ControlBuffers.RESERVE + 1));
    List<ControlBuffer> taken = new ArrayList<>();
    for (int i = 0; i < 2; i++) {
      taken.add(buffers.tryTake().orElseThrow());
      assertThat(buffers.freeShare()).isZero();
    }
    taken.forEach(buffers::release);
  }

  @Test
  void shouldKeepAReserveForAnswersWhenRequestsHaveTakenAllMemory() {
    List<ControlBuffer> requests = exhaust();
    List<ControlBuffer> answers = new ArrayList<>();
    for (int i = 0; i < FOR_LOCATES; i++) {
      buffers.takeForAnswer(answers::add, NEVER);
    }
    assertThat(answers).hasSize(FOR_LOCATES);
    requests.forEach(buffers::release);
    answers.forEach(buffers::release);
  }

  @Test
  void shouldGiveAnAnswerThatWaitsTheFirstBufferThatIsGivenBack() {
    List<ControlBuffer> requests = exhaust();
    List<ControlBuffer> answers = new ArrayList<>();
    for (int i = 0; i < FOR_LOCATES + 2; i++) {
      buffers.takeForAnswer(answers::add, NEVER);
    }
    assertThat(answers).as("two answers wait").hasSize(FOR_LOCATES);
    buffers.release(requests.remove(0));
    assertThat(answers).as("one answer waits").hasSize(FOR_LOCATES + 1);
    ControlBuffer sent = answers.remove(0);
    buffers.release(sent);
    assertThat(answers).as("no answer waits").hasSize(FOR_LOCATES + 1);
    assertThat(buffers.tryTake()).as("the reserve is for answers").isEmpty();
    requests.forEach(buffers::release);
    answers.forEach(buffers::release);
  }

  @Test
  void shouldSendShortAnswersWhileDisksHoldTheAnswersToLocates() {
    List<ControlBuffer> taken = exhaust();
    for (int i = 0; i < ControlBuffers.ANSWER_RESERVE; i++) {
      buffers.takeForAnswer(taken::add, NEVER);
    }
    for (int i = 0; i < 100; i++) {
      List<ControlBuffer> shortAnswers = new ArrayList<>();
      for (int j = 0; j < ControlBuffers.SHORT_ANSWER_RESERVE; j++) {
        buffers.takeForShortAnswer(shortAnswers::add);
      }
      assertThat(shortAnswers).hasSize(ControlBuffers.SHORT_ANSWER_RESERVE);
      shortAnswers.forEach(buffers::release);
    }
    assertThat(taken).as("an answer to a LOCATE waits").hasSize(OTHERS + FOR_LOCATES);
    while (!taken.isEmpty()) {
      buffers.release(taken.remove(0));
    }
  }

  @Test
  void shouldPassOverManyAnswersOfClosedConnections() {
    List<ControlBuffer> requests = exhaust();
    List<ControlBuffer> answers = new ArrayList<>();
    for (int i = 0; i < FOR_LOCATES; i++) {
      buffers.takeForAnswer(answers::add, NEVER);
    }
    for (int i = 0; i < 50_000; i++) {
      ConnectionBuffers closed = new ConnectionBuffers(buffers);
      closed.takeForAnswer(
          buffer -> {
            throw new IllegalStateException("answer of a closed connection");
          },
          NEVER);
      closed.close();
    }
    buffers.takeForAnswer(answers::add, NEVER);
    buffers.release(requests.remove(0));
    assertThat(answers).hasSize(FOR_LOCATES + 1);
    requests.forEach(buffers::release);
    answers.forEach(buffers::release);
  }

  @Test
  void shouldReleaseTheReserveOnlyWhenNoConnectionHasABuffer() {
    assertThat(buffers.fillReserve()).isTrue();
    ControlBuffer used = buffers.tryTake().orElseThrow();
    buffers.trimUnused();
    assertThat(pool.chunksOut()).isEqualTo(ControlBuffers.RESERVE + 1);
    buffers.release(used);
    buffers.trimUnused();
    assertThat(pool.chunksOut()).isZero();
    assertThat(buffers.fillReserve()).as("for the next connection").isTrue();
  }

  @Test
  void shouldRefuseTheFirstConnectionWhenTheReserveDoesNotFit() {
    PinnedBudget.Grant others = budget.tryGrant((OTHERS + 1L) * BUFFER_BYTES).orElseThrow();
    assertThat(buffers.fillReserve()).isFalse();
    others.close();
    assertThat(buffers.fillReserve()).isTrue();
  }

  @Test
  void shouldGrowUpToItsShareOnly() {
    assertThat(buffers.fillReserve()).isTrue();
    ControlBuffer grown = buffers.tryTakeToGrow().orElseThrow();
    assertThat(buffers.tryTakeToGrow()).isEmpty();
    ControlBuffer used = buffers.tryTake().orElseThrow();
    buffers.release(grown);
    assertThat(buffers.tryTakeToGrow()).as("what others use counts as well").isEmpty();
    buffers.release(used);
  }

  @Test
  void shouldLeaveBuffersToRequestsWhenItGrows() {
    assertThat(buffers.fillReserve()).isTrue();
    PinnedBudget.Grant others = budget.tryGrant(BUFFER_BYTES).orElseThrow();
    assertThat(buffers.tryTakeToGrow()).as("the last %d", OTHERS - 1).isEmpty();
    others.close();
    buffers.release(buffers.tryTakeToGrow().orElseThrow());
  }

  @Test
  void shouldKeepBuffersForOneReleaseWhileAnswersAndRequestsHaveTakenAllOthers() {
    List<ControlBuffer> taken = exhaust();
    for (int i = 0; i < ControlBuffers.RESERVE; i++) {
      buffers.takeForAnswer(taken::add, NEVER);
      buffers.takeForShortAnswer(taken::add);
    }
    for (int i = 0; i < 10; i++) {
      List<ControlBuffer> release = buffers.tryTakeForRelease(ControlBuffers.RELEASE_RESERVE);
      assertThat(release).hasSize(ControlBuffers.RELEASE_RESERVE);
      assertThat(buffers.tryTakeForRelease(1)).as("another connection").isEmpty();
      int answers = taken.size();
      release.forEach(buffers::release);
      while (taken.size() > answers) {
        buffers.release(taken.remove(answers));
      }
      buffers.endRelease();
    }
    while (!taken.isEmpty()) {
      buffers.release(taken.remove(0));
    }
  }

  @Test
  void shouldEndTheReleaseOfAConnectionThatIsClosed() {
    assertThat(buffers.fillReserve()).isTrue();
    ConnectionBuffers connection = new ConnectionBuffers(buffers);
    assertThat(connection.tryTakeForRelease(2)).hasSize(2);
    assertThat(buffers.tryTakeForRelease(2)).isEmpty();
    connection.close();
    List<ControlBuffer> next = buffers.tryTakeForRelease(2);
    assertThat(next).hasSize(2);
    next.forEach(buffers::release);
  }

  @Test
  void shouldReportAShortageOnceForEachTick() {
    List<Long> shortages = new ArrayList<>();
    budget.onShortage(shortages::add);
    List<ControlBuffer> taken = exhaust();
    for (int tick = 1; tick <= 3; tick++) {
      for (int i = 0; i < 100; i++) {
        assertThat(buffers.tryTake()).isEmpty();
      }
      assertThat(shortages).hasSize(tick);
      buffers.onTick(0);
    }
    taken.forEach(buffers::release);
  }

  @Test
  void shouldFindAtATickTheMemoryForAnAnswerThatWaits() {
    assertThat(buffers.fillReserve()).isTrue();
    PinnedBudget.Grant others = budget.tryGrant((long) OTHERS * BUFFER_BYTES).orElseThrow();
    List<ControlBuffer> answers = new ArrayList<>();
    for (int i = 0; i < FOR_LOCATES + 1; i++) {
      buffers.takeForAnswer(answers::add, NEVER);
    }
    assertThat(answers).hasSize(FOR_LOCATES);
    others.close();
    buffers.onTick(0);
    assertThat(answers).hasSize(FOR_LOCATES + 1);
    answers.forEach(buffers::release);
  }

  @Test
  void shouldGiveAnAnswerThatIsOverdueABufferOfShortAnswers() {
    List<ControlBuffer> taken = exhaust();
    for (int i = 0; i < FOR_LOCATES; i++) {
      buffers.takeForAnswer(taken::add, NEVER);
    }
    List<ControlBuffer> late = new ArrayList<>();
    buffers.takeForAnswer(late::add, 1_000);
    buffers.onTick(1_000);
    assertThat(late).isEmpty();
    buffers.onTick(1_001);
    assertThat(late).hasSize(1);
    late.forEach(buffers::release);
    taken.forEach(buffers::release);
  }

  @Test
  void shouldNotGrowWhereOtherMemoryWouldHaveToBeEvicted() {
    List<Long> shortages = new ArrayList<>();
    budget.onShortage(shortages::add);
    PinnedBudget.Grant others = budget.tryGrant(budget.limitBytes()).orElseThrow();
    assertThat(buffers.tryTakeToGrow()).isEmpty();
    assertThat(shortages).isEmpty();
    others.close();
  }

  @Test
  void shouldGiveEachBufferOfAConnectionBackOnce() {
    ConnectionBuffers connection = new ConnectionBuffers(buffers);
    ControlBuffer first = connection.tryTake().orElseThrow();
    assertThat(connection.tryTake()).isPresent();
    connection.release(first);
    assertThatThrownBy(() -> connection.release(first)).isInstanceOf(IllegalStateException.class);
    connection.close();
    assertThat(connection.count()).isZero();
    assertThat(pool.chunksOut()).isZero();
  }
}
