// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.transport;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.sparkrdma.shuffle.fetch.WaitBudget;
import org.sparkrdma.shuffle.wire.Located;
import org.sparkrdma.shuffle.wire.Messages;

/** A reader of many executors, of which some are slow now and then, in virtual time. */
@Tag("slow")
@Timeout(120)
class ManyPeersTest extends VirtualFixture {
  private static final int BLOCK_BYTES = 64 << 10;
  private static final long SECOND = 1_000 * MS;

  private VirtualExecutor reader;
  private boolean pausing = true;
  private int pauses;

  @BeforeEach
  void start() throws Exception {
    reader = fabric.start(BLOCK_BYTES);
  }

  /** Each task asks for a block of each in turn. */
  private List<VirtualTask> tasks(List<VirtualExecutor> servers) {
    List<VirtualTask> tasks = new ArrayList<>();
    for (int i = 0; i < 4; i++) {
      tasks.add(new VirtualTask(fabric, reader, servers, 1, 10 * MS));
    }
    return tasks;
  }

  /** The part of the blocks that came by READ in this time. */
  private double readIn(List<VirtualTask> tasks, long lengthNs) throws Exception {
    int read = tasks.stream().mapToInt(VirtualTask::read).sum();
    int answered = tasks.stream().mapToInt(VirtualTask::answered).sum();
    fabric.run(lengthNs);
    read = tasks.stream().mapToInt(VirtualTask::read).sum() - read;
    answered = tasks.stream().mapToInt(VirtualTask::answered).sum() - answered;
    return (double) read / answered;
  }

  private void end(List<VirtualTask> tasks) throws Exception {
    tasks.forEach(VirtualTask::end);
    fabric.run(2 * SECOND);
  }

  /** Executors that collect garbage, each by itself: what all may cost together is spent. */
  @ParameterizedTest
  @CsvSource({"20,300,30000,0.9", "10,500,60000,0.85"})
  void shouldReadMostBlocksOfPeersThatPauseNowAndThen(
      int count, long pauseMs, long periodMs, double most) throws Exception {
    List<VirtualExecutor> servers = servers(count, BLOCK_BYTES);
    List<VirtualTask> tasks = tasks(servers);
    fabric.run(10 * SECOND);
    for (int i = 0; i < count; i++) {
      pauseAgain(servers.get(i), periodMs * MS * i / count, pauseMs * MS, periodMs * MS);
    }
    assertThat(readIn(tasks, 120 * SECOND)).isGreaterThan(most);
    pausing = false;
    fabric.run(SECOND);
    end(tasks);
  }

  /** A peer that delivers between its pauses is forgiven each of them, also after a bad phase. */
  @Test
  void shouldStillReadFromPeersThatHavePausedForMinutes() throws Exception {
    List<VirtualExecutor> servers = servers(20, BLOCK_BYTES);
    List<VirtualTask> tasks = tasks(servers);
    for (VirtualExecutor one : servers) {
      pauseAgain(one, SECOND, 300 * MS, 1_500 * MS);
    }
    fabric.run(20 * SECOND);
    pausing = false;
    fabric.run(2 * SECOND);
    pausing = true;
    for (int i = 0; i < servers.size(); i++) {
      pauseAgain(servers.get(i), 15 * SECOND * i / servers.size(), 300 * MS, 15 * SECOND);
    }
    fabric.run(200 * SECOND);
    assertThat(readIn(tasks, 60 * SECOND)).isGreaterThan(0.8);
    pausing = false;
    fabric.run(SECOND);
    end(tasks);
  }

  private void pauseAgain(VirtualExecutor one, long afterNs, long pauseNs, long periodNs) {
    fabric.after(
        afterNs,
        () -> {
          if (pausing) {
            one.pause();
            fabric.after(pauseNs, one::resume);
            pauseAgain(one, periodNs, pauseNs, periodNs);
          }
        });
  }

  /** A pause of a peer that is well costs a short wait, though what all may cost is spent. */
  @ParameterizedTest
  @ValueSource(ints = {40, 100})
  void shouldLoseLittleToPeersThatPauseNowAndThen(int count) throws Exception {
    Random random = new Random(count);
    List<VirtualExecutor> servers = servers(count, BLOCK_BYTES);
    List<VirtualTask> tasks = new ArrayList<>();
    for (int i = 0; i < 4; i++) {
      Collections.shuffle(servers, random);
      tasks.add(new VirtualTask(fabric, reader, List.copyOf(servers), 1, 10 * MS));
    }
    fabric.run(10 * SECOND);
    servers.forEach(one -> pauseAtRandom(one, random));
    fabric.run(120 * SECOND);
    pausing = false;
    fabric.run(SECOND);
    end(tasks);
    for (VirtualTask task : tasks) {
      // What READs take less than TCP is no excuse.
      assertThat(task.lostNs() + task.read() * VirtualTask.TCP_NS)
          .as("%d pauses, %d of %d by READ", pauses, task.read(), task.answered())
          .isLessThanOrEqualTo(mayLoseNs(130 * SECOND) + pauses * WaitBudget.CHECK_NS);
    }
  }

  private void pauseAtRandom(VirtualExecutor one, Random random) {
    fabric.after(
        random.nextLong(5 * SECOND, 35 * SECOND),
        () -> {
          if (pausing) {
            pauses++;
            one.pause();
            fabric.after(random.nextLong(50 * MS, 500 * MS), one::resume);
            pauseAtRandom(one, random);
          }
        });
  }

  /** As when a switch is restarted. */
  @Test
  void shouldReadAgainSoonAfterAFaultOfAll() throws Exception {
    List<VirtualExecutor> servers = servers(40, BLOCK_BYTES);
    List<VirtualTask> tasks = tasks(servers);
    fabric.run(20 * SECOND);
    servers.forEach(VirtualExecutor::pause);
    fabric.run(5 * SECOND);
    servers.forEach(VirtualExecutor::resume);
    fabric.run(10 * SECOND);
    assertThat(readIn(tasks, 10 * SECOND)).isGreaterThan(0.95);
    end(tasks);
  }

  /** The slow ones have READs for all bytes that may be in flight. */
  @ParameterizedTest
  @CsvSource({"6,20", "12,90"})
  void shouldReadFromAWellPeerBesideSlowOnes(int count, int delayMs) throws Exception {
    List<VirtualExecutor> well = servers(1, BLOCK_BYTES);
    List<VirtualExecutor> slow = servers(count, 256 << 10);
    fabric.delayReads(from -> slow.contains(from) ? delayMs * MS : 0);
    List<VirtualTask> others = new ArrayList<>();
    for (VirtualExecutor one : slow) {
      others.add(new VirtualTask(fabric, reader, List.of(one), 128, 10 * MS));
    }
    fabric.run(SECOND);
    VirtualTask task = new VirtualTask(fabric, reader, well, 1, 10 * MS);
    fabric.run(20 * SECOND);
    assertThat(task.lostNs()).isLessThanOrEqualTo(1_500 * MS + 20 * SECOND / 50);
    assertThat(task.read()).isEqualTo(task.answered());
    others.forEach(VirtualTask::end);
    task.end();
    fabric.run(60 * SECOND);
  }

  /** Each request has a block of a window, and one of a disk that hangs. */
  @Test
  void shouldReadWhatIsReadyBesideBlocksOfASickDisk() throws Exception {
    VirtualExecutor server = servers(1, BLOCK_BYTES).get(0);
    assertReads(reader, server.endpoint());
    server.hangDisk();
    fabric.delayMessages((from, type) -> from == server ? 5 * MS : 0);
    // Until it is known to hang, blocks of the disk are waited for, and that has a price.
    int read = 0;
    for (int i = 0; i < 600; i++) {
      VirtualFetch both = new VirtualFetch(reader, server.endpoint(), 0, 2, () -> {});
      fabric.run(100 * MS);
      read += i < 300 ? 0 : both.read();
    }
    assertThat(read).isEqualTo(300);
  }

  /** READs that are short take each gap, but not before one that waits. */
  @ParameterizedTest
  @CsvSource({"15,256", "20,512"})
  void shouldReadLargeBlocksBesideManySmallOnes(int count, int largeKb) throws Exception {
    VirtualExecutor one = fabric.start(BLOCK_BYTES, "reads.bytes.max", "1m");
    List<VirtualExecutor> small = servers(count, BLOCK_BYTES);
    List<VirtualExecutor> large = servers(1, largeKb << 10);
    fabric.delayReads(from -> small.contains(from) ? 5 * MS : 0);
    List<VirtualTask> others = new ArrayList<>();
    for (VirtualExecutor other : small) {
      others.add(new VirtualTask(fabric, one, List.of(other), 1, 0));
      fabric.run(MS / 3);
    }
    fabric.run(SECOND);
    VirtualTask task = new VirtualTask(fabric, one, large, 1, 10 * MS);
    fabric.run(10 * SECOND);
    assertThat(task.read()).isGreaterThan(500);
    others.forEach(VirtualTask::end);
    task.end();
    fabric.run(30 * SECOND);
  }

  /**
   * No READ of theirs has ever come in time: the end of one that was given up is no result. Or they
   * never end: their connections break, and the next ones hang as well.
   */
  @ParameterizedTest
  @CsvSource({"700,0,60", "0,700,60", "0,-1,150"})
  void shouldLoseLittleToPeersThatAreAlwaysLate(int locatedMs, int readMs, int seconds)
      throws Exception {
    List<VirtualExecutor> late = servers(40, BLOCK_BYTES);
    fabric.delayReads(from -> readMs < 0 ? VirtualFabric.LOST : readMs * MS);
    fabric.delayMessages((from, type) -> type == Messages.LOCATED ? locatedMs * MS : 0);
    VirtualTask task = new VirtualTask(fabric, reader, late, 1, 10 * MS);
    fabric.run(seconds * SECOND);
    assertLosesLittle(task, seconds * SECOND);
    task.end();
    fabric.run(60 * SECOND);
  }

  /** Others have spent what all may cost, so nothing but its end shows that it is well. */
  @Test
  void shouldReadFromANewPeerWhoseFirstAnswerIsLate() throws Exception {
    List<VirtualExecutor> servers = servers(20, BLOCK_BYTES);
    List<VirtualTask> tasks = tasks(servers);
    for (int i = 0; i < servers.size(); i++) {
      pauseAgain(servers.get(i), 15 * SECOND * i / servers.size(), 300 * MS, 15 * SECOND);
    }
    fabric.run(20 * SECOND);
    List<VirtualExecutor> late = servers(1, BLOCK_BYTES);
    VirtualTask task = new VirtualTask(fabric, reader, late, 1, 10 * MS);
    fabric.delayMessages(
        (from, type) -> late.contains(from) && type == Messages.LOCATED ? 60 * MS : 0);
    fabric.run(SECOND);
    fabric.delayMessages((from, type) -> 0);
    fabric.run(120 * SECOND);
    assertThat(readIn(List.of(task), 30 * SECOND)).isGreaterThan(0.9);
    pausing = false;
    task.end();
    end(tasks);
  }

  /** Each answer has an empty block, and no room for the other one. */
  @Test
  void shouldLoseLittleToAPeerThatLocatesNothing() throws Exception {
    List<VirtualExecutor> peer = servers(1, BLOCK_BYTES);
    fabric.delayMessages((from, type) -> type == Messages.LOCATED ? 95 * MS : 0);
    fabric.changeMessages(
        message -> {
          if (message[0] != Messages.LOCATED) {
            return message;
          }
          ByteBuffer from = ByteBuffer.wrap(message).order(ByteOrder.LITTLE_ENDIAN);
          ByteBuffer to = ByteBuffer.allocate(200);
          Located.Encoder encoder = new Located.Encoder().begin(to, from.getLong(8), 0);
          encoder.located(0, 0, 0, 0, 0, 0, 0);
          encoder.byTcp(1, Located.Kind.BUSY);
          return Arrays.copyOf(to.array(), encoder.finish(0, 0));
        });
    VirtualTask task = new VirtualTask(fabric, reader, peer, 2, 10 * MS);
    fabric.run(60 * SECOND);
    assertLosesLittle(task, 60 * SECOND);
    task.end();
    fabric.run(10 * SECOND);
  }
}
