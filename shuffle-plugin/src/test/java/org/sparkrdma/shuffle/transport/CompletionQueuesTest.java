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
import org.sparkrdma.shuffle.CapturedLog;
import org.sparkrdma.shuffle.settings.ShuffleSettings;
import org.sparkrdma.shuffle.settings.TransportSettings;
import org.sparkrdma.verbs.CompletionChannel;
import org.sparkrdma.verbs.CompletionHandler;
import org.sparkrdma.verbs.CompletionQueue;
import org.sparkrdma.verbs.VerbsException;
import org.sparkrdma.verbs.device.DeviceInfo;
import org.sparkrdma.verbs.device.DeviceLimits;
import org.sparkrdma.verbs.device.Transport;

class CompletionQueuesTest {
  private static final long MIB = 1L << 20;
  private static final int FIRST_QUEUE_CONNECTIONS = 64;
  private static final int ENOMEM = 12;
  private static final int VECTOR = 5;

  private final List<CompletionQueues.Rings> taken = new ArrayList<>();
  private final List<Integer> capacities = new ArrayList<>();
  private PinnedBudget budget = new PinnedBudget(64 * MIB, 4_096);
  private CompletionQueues queues;

  /** The queue does not become empty while this is set: a poll handles as many as it may. */
  private boolean pollsFindMore;

  private boolean deviceRefuses;

  /** Thrown by the device; null for none. */
  private Error thrown;

  /** The device has fewer interrupts than it says. */
  private boolean deviceRefusesVector;

  private ScriptedConnection.Memory device(Transport transport) {
    DeviceInfo info =
        new DeviceInfo(
            "none",
            "none",
            transport,
            1,
            new DeviceLimits(9, 999, 1, 1, 1 << 22, 999, 1L << 40, 1 << 30, 16, 0, 56, 1),
            Set.of(),
            List.of());
    return new ScriptedConnection.Memory() {
      @Override
      public DeviceInfo info() {
        return info;
      }

      @Override
      public CompletionQueue createCompletionQueue(
          int capacity, CompletionChannel channel, int vector) throws VerbsException {
        if (thrown != null) {
          throw thrown;
        }
        if (deviceRefuses) {
          throw new VerbsException("ibv_create_cq", ENOMEM, "ibv_create_cq failed", null);
        }
        if (deviceRefusesVector && vector != 0) {
          throw new VerbsException("ibv_create_cq", ENOMEM, "ibv_create_cq failed", null);
        }
        capacities.add(capacity);
        assertThat(vector).isEqualTo(deviceRefusesVector ? 0 : VECTOR);
        return new ScriptedConnection.Queue() {
          @Override
          public int poll(int limit, CompletionHandler handler) {
            return pollsFindMore ? limit : 0;
          }
        };
      }
    };
  }

  /** Opens queues with the default settings. */
  private void create(Transport transport) throws VerbsException {
    TransportSettings settings = ShuffleSettings.defaults().transport(budget.limitBytes());
    queues = new CompletionQueues(device(transport), null, VECTOR, budget, settings);
  }

  private void take(int connections) {
    for (int i = 0; i < connections; i++) {
      taken.add(queues.tryTake().orElseThrow());
    }
  }

  private void closeAll() {
    taken.forEach(CompletionQueues.Rings::close);
    taken.clear();
  }

  @AfterEach
  void closeWithoutLeaks() {
    closeAll();
    if (queues != null) {
      queues.close();
    }
    budget.close();
  }

  @Test
  void shouldBeginWithLessThanAMebibyteAndCountIt() throws VerbsException {
    create(Transport.IWARP);
    assertThat(budget.pinnedBytes()).isBetween(5_440L * 64, MIB);
  }

  @Test
  void shouldHoldNoGrantAfterAnError() throws VerbsException {
    create(Transport.IWARP);
    take(FIRST_QUEUE_CONNECTIONS);
    long before = budget.pinnedBytes();
    thrown = new OutOfMemoryError("thrown by the test");
    assertThatThrownBy(() -> queues.tryTake()).isSameAs(thrown);
    assertThat(budget.pinnedBytes()).isEqualTo(before);
  }

  @Test
  void shouldUseTheFirstVectorWhenTheChosenOneIsRefused() throws VerbsException {
    deviceRefusesVector = true;
    create(Transport.IWARP);
    take(FIRST_QUEUE_CONNECTIONS + 1);
    assertThat(queues.count()).isEqualTo(2);
  }

  @Test
  void shouldCountTheRingsOfEachQueuePair() throws VerbsException {
    create(Transport.IWARP);
    long before = budget.pinnedBytes();
    take(10);
    assertThat(budget.pinnedBytes() - before).isBetween(10L * (75 * 256 + 10 * 64), 10L * 40_960);
    assertThat(queues.count()).isEqualTo(1);
  }

  @Test
  void shouldGrowWithTheConnectionsAndShrinkAgain() throws VerbsException {
    create(Transport.IWARP);
    long before = budget.pinnedBytes();
    take(FIRST_QUEUE_CONNECTIONS);
    assertThat(queues.count()).isEqualTo(1);
    take(1);
    assertThat(queues.count()).isEqualTo(2);
    assertThat(taken.get(FIRST_QUEUE_CONNECTIONS).completionQueue())
        .isNotSameAs(taken.get(0).completionQueue());
    closeAll();
    assertThat(queues.count()).isEqualTo(1);
    assertThat(budget.pinnedBytes()).isEqualTo(before);
    queues.poll(1, ignored -> {});
    take(1);
    assertThat(queues.count()).isEqualTo(1);
  }

  @Test
  void shouldKeepOneUnusedQueueForTheNextConnection() throws VerbsException {
    create(Transport.IWARP);
    take(2 * FIRST_QUEUE_CONNECTIONS + 1);
    assertThat(queues.count()).isEqualTo(3);
    taken.remove(2 * FIRST_QUEUE_CONNECTIONS).close();
    assertThat(queues.count()).isEqualTo(3);
    for (int i = 0; i < FIRST_QUEUE_CONNECTIONS; i++) {
      taken.remove(taken.size() - 1).close();
    }
    assertThat(queues.count()).isEqualTo(2);
  }

  @Test
  void shouldHaveACapacityOfTheSumOfTheDepthsOfItsQueuePairs() throws VerbsException {
    create(Transport.IWARP);
    TransportSettings settings = ShuffleSettings.defaults().transport(budget.limitBytes());
    assertThat(capacities)
        .containsExactly(
            FIRST_QUEUE_CONNECTIONS * (settings.sendDepth() + settings.receiveDepth()));
  }

  @Test
  void shouldReuseTheRoomOfADestroyedQueuePairOnlyAfterAPollEmptiedTheQueue()
      throws VerbsException {
    create(Transport.IWARP);
    take(FIRST_QUEUE_CONNECTIONS);
    CompletionQueue first = taken.get(0).completionQueue();
    taken.remove(0).close();
    pollsFindMore = true;
    queues.poll(1, ignored -> {});
    CompletionQueues.Rings early = queues.tryTake().orElseThrow();
    assertThat(early.completionQueue()).isNotSameAs(first);
    early.close();

    pollsFindMore = false;
    queues.poll(1, ignored -> {});
    take(1);
    assertThat(taken.get(FIRST_QUEUE_CONNECTIONS - 1).completionQueue()).isSameAs(first);
  }

  @Test
  void shouldReuseTheRoomOfADestroyedQueuePairAfterThePollOfBusyQueuesAlsoInAnIdleOne()
      throws VerbsException {
    create(Transport.IWARP);
    take(FIRST_QUEUE_CONNECTIONS);
    for (int i = 0; i < 2 * CompletionQueues.IDLE_POLLS; i++) {
      queues.pollBusy(1, ignored -> {});
    }
    taken.remove(0).close();
    queues.pollBusy(1, ignored -> {});
    take(1);
    assertThat(queues.count()).isEqualTo(1);
  }

  @Test
  void shouldRefuseAConnectionAndLogOnceWhenTheDeviceRefusesAnotherQueue() throws Exception {
    create(Transport.IWARP);
    take(FIRST_QUEUE_CONNECTIONS);
    long before = budget.pinnedBytes();
    deviceRefuses = true;
    try (CapturedLog log = new CapturedLog()) {
      assertThat(queues.tryTake()).isEmpty();
      assertThat(queues.tryTake()).isEmpty();
      assertThat(log.warnings()).hasSize(1);
      assertThat(log.warnings().get(0))
          .contains("refuses another completion queue")
          .contains("TCP");
    }
    assertThat(budget.pinnedBytes()).isEqualTo(before);
    deviceRefuses = false;
    take(1);
    assertThat(queues.count()).isEqualTo(2);
  }

  @Test
  void shouldRefuseAConnectionWhoseRingsDoNotFit() throws VerbsException {
    budget = new PinnedBudget(MIB / 2 + 40_960, 4_096);
    create(Transport.IWARP);
    take(1);
    assertThat(queues.tryTake()).isEmpty();
  }

  @Test
  void shouldRefuseToStartWithoutRoomForTheFirstQueue() {
    budget = new PinnedBudget(MIB / 4, 4_096);
    assertThatThrownBy(() -> create(Transport.IWARP)).hasMessageContaining("pinned.max");
  }

  @Test
  void shouldCountNothingOnTheLoopbackEngine() throws VerbsException {
    create(Transport.LOOPBACK);
    take(FIRST_QUEUE_CONNECTIONS + 1);
    assertThat(queues.count()).isEqualTo(2);
    assertThat(budget.pinnedBytes()).isZero();
  }
}
