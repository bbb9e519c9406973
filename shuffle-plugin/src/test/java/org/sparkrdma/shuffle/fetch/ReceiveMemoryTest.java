// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.fetch;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.apache.spark.TaskContext$;
import org.apache.spark.TaskContextImpl;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.sparkrdma.shuffle.SoftPool;
import org.sparkrdma.shuffle.metrics.Counter;
import org.sparkrdma.shuffle.metrics.ShuffleCounters;
import org.sparkrdma.verbs.AccessFlag;
import org.sparkrdma.verbs.VerbsException;
import scala.Option;

/** Blocks that wait for receive memory without connections; see ScarceMemoryTest for those. */
@Timeout(60)
class ReceiveMemoryTest {
  private static final int CHUNK = 64;
  private static final int CHUNKS = 16;
  private static final long MS = TimeUnit.MILLISECONDS.toNanos(1);
  private static final long PATIENT_NS = 1_000 * MS;
  private static final int READERS = 16;

  /** More than the blocks of a reader that a check may look at. */
  private static final int FEW = 100;

  private final ShuffleCounters counters = new ShuffleCounters();
  private final ArrayDeque<FetchedBlock> held = new ArrayDeque<>();

  /** Blocks that got memory after they had waited, in order. */
  private final List<Block> granted = new ArrayList<>();

  /** Calls of {@link Block#mayTake} in the last check. */
  private int asked;

  private SoftPool soft;
  private ReceiveMemory memory;
  private long nowNs;

  private final class Block implements ReceiveMemory.Waiter {
    private final int bytes;
    private final FetchingTask reader;
    private boolean may = true;
    private boolean ended;

    Block(int chunks, FetchingTask reader) {
      this.bytes = chunks * CHUNK;
      this.reader = reader;
    }

    @Override
    public long blockBytes() {
      return bytes;
    }

    @Override
    public FetchingTask reader() {
      return reader;
    }

    @Override
    public boolean mayTake() {
      asked++;
      return may;
    }

    @Override
    public void onGranted() {}

    @Override
    public void onMemory(FetchedBlock taken) {
      assertThat(ended).as("it has waited once").isFalse();
      ended = true;
      if (taken != null) {
        granted.add(this);
        held.add(taken);
      }
    }
  }

  @BeforeEach
  void open() throws VerbsException {
    soft = new SoftPool(AccessFlag.LOCAL_WRITE, CHUNK, CHUNKS);
    memory = new ReceiveMemory(soft.pool(), counters, WaitBudgets.ofReader(1), PATIENT_NS);
  }

  @AfterEach
  void close() {
    held.forEach(FetchedBlock::release);
    memory.closeOpenChunk();
    soft.close();
  }

  private static FetchingTask hungry() {
    return FetchingTask.ofReader(null);
  }

  /** It has a block that it has not opened. */
  private static FetchingTask patient() {
    FetchingTask reader = FetchingTask.ofReader(null);
    reader.onDelivered();
    return reader;
  }

  /** It has released all that it had not opened. */
  private static List<FetchingTask> ended() {
    TaskContextImpl completed = TaskContext$.MODULE$.empty();
    completed.markTaskCompleted(Option.empty());
    return List.of(FetchingTask.ofReader(completed));
  }

  /** Other readers hold so many chunks. */
  private void hold(int chunks) {
    for (int i = 0; i < chunks; i++) {
      held.add(memory.tryTake(new Block(1, hungry())));
    }
  }

  private Block await(int chunks, FetchingTask reader) {
    Block block = new Block(chunks, reader);
    memory.enqueue(block, nowNs);
    return block;
  }

  private List<Block> await(int blocks, List<FetchingTask> readers) {
    List<Block> waiting = new ArrayList<>();
    for (int i = 0; i < blocks; i++) {
      waiting.add(await(1, readers.get(i % readers.size())));
    }
    return waiting;
  }

  private static List<FetchingTask> hungryReaders() {
    List<FetchingTask> readers = new ArrayList<>();
    for (int i = 0; i < READERS; i++) {
      readers.add(hungry());
    }
    return readers;
  }

  private void check() {
    asked = 0;
    nowNs += MS;
    memory.check(nowNs);
  }

  @Test
  void shouldLookAtFewOfTheBlocksThatWait() {
    hold(CHUNKS);
    List<Block> waiting = await(60_000, hungryReaders());
    check();
    assertThat(asked).isBetween(READERS, READERS * FEW);
    assertThat(granted).isEmpty();
    held.poll().release();
    check();
    assertThat(asked).isLessThan(READERS * FEW);
    assertThat(granted).containsExactly(waiting.get(0));
  }

  /** Each request has a reader of its own beside another shuffle manager. */
  @Test
  void shouldLookAtFewOfTheBlocksOfReadersThatAreNotKnown() {
    hold(CHUNKS * 3 / 4);
    List<FetchingTask> readers = new ArrayList<>();
    for (int i = 0; i < 10_000; i++) {
      readers.add(new FetchingTask(null));
    }
    List<Block> waiting = await(50_000, readers);
    Block known = await(1, hungry());
    check();
    assertThat(asked).isLessThan(READERS * FEW);
    assertThat(granted).containsExactly(known);
    for (int i = 0; i < 400; i++) {
      check();
    }
    assertThat(waiting).as("waits in vain").allMatch(block -> block.ended);
  }

  @Test
  void shouldCancelABlockWithoutALookAtTheOthers() {
    List<Block> waiting = await(60_000, hungryReaders()).subList(20_000, 40_000);
    ThreadMXBean threads = ManagementFactory.getThreadMXBean();
    long beginNs = threads.getCurrentThreadCpuTime();
    waiting.forEach(memory::cancel);
    // Some 10 ms; more than 1 s with a look at all others.
    assertThat(threads.getCurrentThreadCpuTime() - beginNs).isLessThan(300 * MS);
  }

  @Test
  void shouldServeAHungryReaderBehindTheManyBlocksOfAPatientOne() {
    hold(CHUNKS * 3 / 4);
    List<Block> many = await(50_000, List.of(patient()));
    Block block = await(1, hungry());
    check();
    assertThat(granted).containsExactly(block);
    assertThat(asked).isLessThan(2 * FEW);
    many.forEach(memory::cancel);
  }

  @Test
  void shouldServeBlocksInTheOrderInWhichTheyCameWhoeverReadsThem() {
    hold(CHUNKS);
    List<Block> waiting = await(3 * READERS, hungryReaders());
    while (!held.isEmpty()) {
      held.poll().release();
    }
    check();
    check();
    assertThat(granted).isEqualTo(waiting.subList(0, CHUNKS));
  }

  @Test
  void shouldLetSmallBlocksPassALargeOneOfTheSameReader() {
    hold(CHUNKS / 2);
    FetchingTask reader = hungry();
    Block large = await(CHUNKS * 3 / 4, reader);
    List<Block> small = await(CHUNKS, List.of(reader));
    check();
    assertThat(granted).isEqualTo(small.subList(0, CHUNKS / 2));
    assertThat(large.ended).isFalse();
  }

  /** They leave to TCP in half a second when the connection makes no progress. */
  @Test
  void shouldServeAReaderWhenItsBlocksInFrontOfAConnectionThatMayNotTakeHaveLeft() {
    FetchingTask reader = hungry();
    List<Block> sick = await(10 * FEW, List.of(reader));
    sick.forEach(block -> block.may = false);
    Block well = await(1, reader);
    Block other = await(1, hungry());
    check();
    assertThat(granted).containsExactly(other);
    sick.forEach(memory::cancel);
    check();
    assertThat(granted).containsExactly(other, well);
  }

  @Test
  void shouldEndAllWaitsOfHungryReadersWhenOneWasInVain() {
    hold(CHUNKS);
    List<Block> waiting = await(1_000, hungryReaders());
    Block patient = await(1, patient());
    for (int i = 0; i < 240; i++) {
      check();
    }
    assertThat(waiting).noneMatch(block -> block.ended);
    nowNs += 200 * MS;
    memory.onLate(200 * MS);
    check();
    assertThat(waiting).as("the agent was late").noneMatch(block -> block.ended);
    for (int i = 0; i < 20; i++) {
      check();
    }
    assertThat(waiting).allMatch(block -> block.ended);
    assertThat(granted).isEmpty();
    assertThat(counters.value(Counter.MEMORY_WAITS_IN_VAIN)).isEqualTo(1_000);
    assertThat(patient.ended).isFalse();
  }

  /** Nobody waits for their blocks. */
  @Test
  void shouldServeALivingReaderBeforeThoseThatHaveEndedWhoseWaitsAreNotInVain() {
    hold(CHUNKS);
    List<Block> waiting = await(10, ended());
    for (int i = 0; i < 300; i++) {
      check();
    }
    assertThat(counters.value(Counter.MEMORY_WAITS_IN_VAIN)).isZero();
    Block living = await(1, hungry());
    held.poll().release();
    check();
    assertThat(granted).containsExactly(living);
    waiting.forEach(memory::cancel);
  }

  /** Peers may have spent what a reader's waits may cost: else a check too early means TCP. */
  @Test
  void shouldWaitShortlyForMemoryNowAndThenWhenAllBudgetsAreSpent() {
    WaitBudget reader = WaitBudgets.ofReader(1);
    memory = new ReceiveMemory(soft.pool(), counters, reader, PATIENT_NS);
    reader.inVain(nowNs, nowNs + 1_600 * MS);
    nowNs += 1_600 * MS;
    hold(CHUNKS);
    Block first = await(1, hungry());
    check();
    held.poll().release();
    check();
    assertThat(granted).containsExactly(first);
    List<Block> waiting = await(10, hungryReaders());
    for (int i = 0; i < 19; i++) {
      check();
    }
    assertThat(waiting).noneMatch(block -> block.ended);
    check();
    assertThat(waiting).allMatch(block -> block.ended);
    Block next = await(1, hungry());
    check();
    assertThat(next.ended).as("one was in vain lately").isTrue();
    assertThat(granted).containsExactly(first);
  }

  @Test
  void shouldEndAllWaitsThatTakeTooLong() {
    hold(CHUNKS);
    List<Block> waiting = await(10 * FEW, List.of(patient()));
    nowNs += PATIENT_NS;
    check();
    assertThat(waiting).allMatch(block -> block.ended);
    assertThat(memory.hasWaiters()).isFalse();
  }
}
