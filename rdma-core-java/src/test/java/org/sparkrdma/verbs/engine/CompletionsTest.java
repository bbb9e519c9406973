// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.sparkrdma.verbs.AccessFlag;
import org.sparkrdma.verbs.MemoryRegion;
import org.sparkrdma.verbs.QueuePairSettings;
import org.sparkrdma.verbs.QueuePairState;
import org.sparkrdma.verbs.VerbsException;
import org.sparkrdma.verbs.WorkRequest;
import org.sparkrdma.verbs.cm.ConnectionEvent;
import org.sparkrdma.verbs.cm.ConnectionParameters;

/** Completions of the device and flushed work in one queue, with the objects of FakeDevice. */
class CompletionsTest {
  private static final int ACCESS_ERROR = 10;
  private static final long UNKNOWN = 0x7fff_ffff_0000_0000L;
  private static final long HOUR_NS = TimeUnit.HOURS.toNanos(1);

  private final List<String> shown = new ArrayList<>();
  private FakeDevice.Objects objects;
  private FakeQueue queue;
  private MemoryRegion region;
  private long now;

  @BeforeEach
  void open() throws VerbsException {
    objects = new FakeDevice.Objects();
    objects.device.clock = () -> now;
    queue = objects.queue;
    region = objects.domain.register(objects.memory, 0, 4096, Set.of(AccessFlag.LOCAL_WRITE));
    now = System.nanoTime();
  }

  /** A connection whose device has this work. */
  private FakeConnection connected(long... ids) throws VerbsException {
    FakeConnection connection = objects.connected();
    send(connection, ids);
    return connection;
  }

  private void send(FakeConnection connection, long... ids) {
    for (long id : ids) {
      WorkRequest request = new WorkRequest(1).send(id).local(region, 0, 8);
      assertThat(connection.pair().postSend(request)).isTrue();
    }
  }

  private void complete(FakeConnection connection, int position, int code) {
    queue.onDevice.add(new long[] {connection.pair().sendNumber(position), code});
  }

  private int poll(int limit) {
    return queue.poll(limit, c -> shown.add(c.requestId() + " " + c.status()));
  }

  /** Time that the owner of that channel waits, of ten hours. */
  private static long waitNs(ParkingChannel channel) {
    return channel.remainingNs(10 * HOUR_NS);
  }

  @Test
  void shouldKeepCompletionsThatAnEngineTookBeyondTheLimit() throws VerbsException {
    queue.takesBatches = true;
    FakeConnection connection = connected(1, 2, 3);
    for (int i = 0; i < 3; i++) {
      complete(connection, i, 0);
    }
    assertThat(poll(1)).isEqualTo(1);
    assertThat(queue.onDevice).isEmpty();
    assertThat(poll(1)).isEqualTo(1);
    assertThat(queue.takes).isEqualTo(1);
    assertThat(poll(8)).isEqualTo(1);
    assertThat(shown).containsExactly("1 SUCCESS", "2 SUCCESS", "3 SUCCESS");
  }

  @Test
  void shouldTakeMoreBehindCompletionsThatAreSuppressed() throws VerbsException {
    FakeConnection connection = connected(1);
    for (int i = 0; i < 2 * FakeQueue.BATCH; i++) {
      queue.onDevice.add(new long[] {UNKNOWN, 0});
    }
    complete(connection, 0, 0);
    assertThat(poll(8)).isEqualTo(1);
    assertThat(shown).containsExactly("1 SUCCESS");
  }

  @Test
  void shouldShowEachCompletionOnceWhenAHandlerThrows() throws VerbsException {
    FakeConnection connection = connected(1, 2);
    complete(connection, 0, 0);
    complete(connection, 1, 0);
    assertThatThrownBy(
            () ->
                queue.poll(
                    8,
                    c -> {
                      shown.add("thrown at " + c.requestId());
                      throw new IllegalArgumentException("thrown by the test");
                    }))
        .hasMessage("thrown by the test");
    assertThat(poll(8)).isEqualTo(1);
    assertThat(shown).containsExactly("thrown at 1", "2 SUCCESS");
  }

  @Test
  void shouldFlushBehindTheCompletionsOfTheDeviceInOrderAndOnce() throws VerbsException {
    FakeConnection connection = connected(1, 2, 3);
    connection.disconnect();
    complete(connection, 0, 0);
    now = connection.pair().flushDeadlineNs(queue);
    assertThat(poll(2)).isEqualTo(2);
    assertThat(shown).containsExactly("1 SUCCESS", "2 FLUSH_ERROR");
    assertThat(poll(8)).isEqualTo(1);
    assertThat(poll(8)).isZero();
    assertThat(shown).containsExactly("1 SUCCESS", "2 FLUSH_ERROR", "3 FLUSH_ERROR");
  }

  @Test
  void shouldSuppressLateCompletionsOfFlushedWork() throws VerbsException {
    FakeConnection connection = connected(1, 2);
    connection.disconnect();
    now = connection.pair().flushDeadlineNs(queue);
    assertThat(poll(1)).isEqualTo(1);
    complete(connection, 0, 0);
    complete(connection, 1, 0);
    assertThat(poll(8)).isEqualTo(1);
    assertThat(shown).containsExactly("1 FLUSH_ERROR", "2 SUCCESS");
  }

  @Test
  void shouldOfferAFailureAgainBehindTheEarlierWorkThatFailedSilently() throws VerbsException {
    FakeConnection connection = connected(1, 2, 3);
    complete(connection, 2, ACCESS_ERROR);
    assertThat(poll(1)).isEqualTo(1);
    assertThat(poll(1)).isEqualTo(1);
    assertThat(shown).containsExactly("1 FLUSH_ERROR", "2 FLUSH_ERROR");
    assertThat(poll(8)).isEqualTo(1);
    assertThat(shown).endsWith("3 REMOTE_ACCESS_ERROR").hasSize(3);
  }

  @Test
  void shouldFlushTheWorkOfEachBrokenQueuePair() throws VerbsException {
    FakeConnection first = connected();
    FakeConnection second = connected();
    first.disconnect();
    second.disconnect();
    send(second, 2);
    send(first, 1);
    assertThat(poll(8)).isEqualTo(2);
    assertThat(shown).containsExactlyInAnyOrder("1 FLUSH_ERROR", "2 FLUSH_ERROR");
  }

  @Test
  void shouldFlushSendsAndReceivesInTheirOwnQueues() throws VerbsException {
    var receives = (FakeQueue) objects.device.createCompletionQueue(8, null);
    FakeConnection connection = objects.withoutQueuePair();
    connection.createQueuePair(
        objects.domain, new QueuePairSettings(queue, receives, 4, 4, 2, Set.of()));
    connection.connect(ConnectionParameters.of(new byte[0]));
    connection.established();
    connection.disconnect();
    send(connection, 1);
    connection.pair().postReceive(new WorkRequest(1).receive(2).local(region, 0, 8));
    assertThat(poll(8)).isEqualTo(1);
    assertThat(shown).containsExactly("1 FLUSH_ERROR");
    assertThat(receives.poll(8, c -> shown.add(c.requestId() + " " + c.status()))).isEqualTo(1);
    assertThat(shown).containsExactly("1 FLUSH_ERROR", "2 FLUSH_ERROR");
  }

  @Test
  void shouldFlushWorkOfTheDeviceAtItsTimeOutAndWakeItsOwnerThen() throws VerbsException {
    FakeConnection connection = connected(1);
    assertThat(waitNs(objects.channel)).isEqualTo(10 * HOUR_NS);
    connection.disconnect();
    assertThat(waitNs(objects.channel)).isLessThanOrEqualTo(FakeDevice.FLUSH_TIMEOUT_NS);
    long deadline = connection.pair().flushDeadlineNs(queue);
    now = deadline - 1;
    assertThat(poll(8)).isZero();
    now = deadline;
    assertThat(poll(8)).isEqualTo(1);
    assertThat(shown).containsExactly("1 FLUSH_ERROR");
    assertThat(waitNs(objects.channel)).isEqualTo(10 * HOUR_NS);
  }

  @Test
  void shouldDropAQueuePairThatAnotherThreadBreaksDuringItsClose() throws VerbsException {
    FakeQueuePair closed = connected(1).pair();
    closed.markBroken();
    closed.close();
    queue.onStateChanged(closed);
    now = System.nanoTime() + 2 * FakeDevice.FLUSH_TIMEOUT_NS;
    assertThat(waitNs(objects.channel)).isEqualTo(10 * HOUR_NS);
    assertThat(poll(8)).isZero();
  }

  @Test
  @Timeout(60)
  void shouldWakeItsWaitingOwnerWhenAQueuePairBreaksOrItIsOverrun() throws VerbsException {
    FakeConnection connection = connected();
    objects.events();
    objects.channel.await(0);
    queue.onStateChanged(connection.pair());
    objects.channel.await(10 * HOUR_NS);
    queue.overrun();
    objects.channel.await(10 * HOUR_NS);
    assertThat(Thread.currentThread().isInterrupted()).isFalse();
  }

  @Test
  void shouldFlushNothingAfterAnOverrun() throws VerbsException {
    FakeConnection connection = connected(1);
    connection.disconnect();
    send(connection, 2);
    complete(connection, 0, 0);
    queue.overrun();
    assertThat(queue.isOverrun()).isTrue();
    assertThat(poll(8)).isEqualTo(1);
    for (int i = 0; i < 2; i++) {
      assertThatThrownBy(() -> poll(8))
          .isInstanceOf(IllegalStateException.class)
          .hasMessage("completion queue was overrun: capacity=8");
    }
    assertThat(shown).containsExactly("1 SUCCESS");
  }

  /**
   * Sends while the queue pair breaks and another thread polls.
   *
   * @param taken how many sends the device takes
   */
  private FakeConnection sendWhileItBreaks(int taken) throws Exception {
    FakeConnection connection = connected();
    connection.pair().duringPost =
        count -> {
          connection.disconnect();
          objects.onOtherThread(() -> poll(8)).run();
          return taken;
        };
    send(connection, 1);
    objects.other.join();
    return connection;
  }

  /** Work of the device may still be executed: it is shown when the device says so. */
  @Test
  @Timeout(60)
  void shouldNotFlushWorkThatTheDeviceGetsWhileItsQueuePairBreaks() throws Exception {
    FakeConnection connection = sendWhileItBreaks(1);
    assertThat(shown).isEmpty();
    complete(connection, 0, 0);
    assertThat(poll(8)).isEqualTo(1);
    assertThat(shown).containsExactly("1 SUCCESS");
  }

  @Test
  @Timeout(60)
  void shouldFlushWorkOnceThatTheDeviceRefusesWhileItsQueuePairBreaks() throws Exception {
    sendWhileItBreaks(0);
    poll(8);
    assertThat(shown).containsExactly("1 FLUSH_ERROR");
  }

  /** Its owner sleeps, because nothing was to be flushed when the queue pair broke. */
  @Test
  @Timeout(60)
  void shouldWakeItsOwnerForWorkThatTheDeviceGotWhileItsQueuePairBroke() throws VerbsException {
    FakeConnection connection = connected();
    connection.pair().duringPost =
        count -> {
          connection.disconnect();
          objects.events();
          poll(8);
          objects.channel.await(0);
          return count;
        };
    send(connection, 1);
    objects.channel.await(10 * HOUR_NS);
    assertThat(waitNs(objects.channel)).isLessThanOrEqualTo(FakeDevice.FLUSH_TIMEOUT_NS);
  }

  @Test
  @Timeout(60)
  void shouldDestroyAQueuePairAfterThePostOfAnotherThread() throws Exception {
    FakeQueuePair pair = connected().pair();
    pair.duringPost =
        count -> {
          objects.onOtherThread(pair::close).run();
          assertThat(objects.device.calls).doesNotContain("destroy queue pair");
          return count;
        };
    assertThat(pair.postSend(new WorkRequest(1).send(1).local(region, 0, 8))).isTrue();
    objects.other.join();
    assertThat(objects.device.calls).contains("destroy queue pair");
    assertThatThrownBy(() -> pair.postSend(new WorkRequest(1).send(2).local(region, 0, 8)))
        .isInstanceOf(IllegalStateException.class);
  }

  /** The calls that end a connection may take long, and a task has posted. */
  @Test
  @Timeout(60)
  void shouldLeaveTheEndOfAConnectionWhosePostIsRefusedToTheThreadThatPolls() throws Exception {
    FakeConnection connection = connected();
    objects.events();
    objects.channel.await(0);
    connection.pair().duringPost =
        count -> {
          connection.pair().refusePost();
          return 0;
        };
    send(connection, 1);
    assertThat(connection.pair().state()).isEqualTo(QueuePairState.ERROR);
    assertThat(objects.device.calls).doesNotContain("disconnect");
    objects.channel.await(10 * HOUR_NS);
    assertThat(poll(8)).isEqualTo(1);
    assertThat(shown).containsExactly("1 FLUSH_ERROR");
    assertThat(objects.device.calls).containsOnlyOnce("disconnect");
    assertThat(objects.events()).containsExactly(ConnectionEvent.Type.DISCONNECTED);
  }
}
