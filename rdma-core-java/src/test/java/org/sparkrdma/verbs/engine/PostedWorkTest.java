// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.sparkrdma.verbs.AccessFlag;
import org.sparkrdma.verbs.MemoryRegion;
import org.sparkrdma.verbs.QueuePairState;
import org.sparkrdma.verbs.VerbsException;
import org.sparkrdma.verbs.WorkRequest;
import org.sparkrdma.verbs.WorkStatus;
import org.sparkrdma.verbs.cm.ConnectionEvent;

/** Checks of posted work in a queue pair, and its completions. */
class PostedWorkTest {
  private static final int ACCESS_ERROR = 10;

  private FakeDevice.Objects objects;
  private MemoryRegion region;
  private FakeConnection connection;
  private FakeQueuePair queuePair;
  private final List<String> shown = new ArrayList<>();

  @BeforeEach
  void connect() throws VerbsException {
    objects = new FakeDevice.Objects();
    region = objects.domain.register(objects.memory, 0, 4096, Set.of(AccessFlag.LOCAL_WRITE));
    connection = objects.connected();
    queuePair = connection.pair();
  }

  private WorkRequest send(long id) {
    return new WorkRequest(2).send(id).local(region, 0, 8);
  }

  private int poll(int limit) {
    return objects.queue.poll(limit, c -> shown.add(c.requestId() + " " + c.status()));
  }

  private void complete(int position, int code) {
    objects.queue.onDevice.add(new long[] {queuePair.sendNumber(position), code});
  }

  @Test
  void shouldShowCompletionsOfTheDevice() {
    queuePair.postSend(send(5));
    queuePair.postSend(send(6));
    complete(0, 0);
    complete(1, 0);
    assertThat(poll(1)).isEqualTo(1);
    assertThat(poll(8)).isEqualTo(1);
    assertThat(shown).containsExactly("5 SUCCESS", "6 SUCCESS");
  }

  @Test
  void shouldShowEarlierWorkThatFailedSilentlyBeforeAFailure() {
    queuePair.postSend(send(5));
    queuePair.postSend(send(6));
    complete(1, ACCESS_ERROR);
    assertThat(poll(8)).isEqualTo(2);
    assertThat(shown).containsExactly("5 FLUSH_ERROR", "6 REMOTE_ACCESS_ERROR");
    assertThat(queuePair.state()).isEqualTo(QueuePairState.ERROR);
    assertThat(objects.events()).contains(ConnectionEvent.Type.DISCONNECTED);
  }

  @Test
  void shouldFlushWorkPostedAfterTheFailure() {
    connection.disconnect();
    queuePair.postSend(send(5));
    assertThat(poll(8)).isEqualTo(1);
    assertThat(shown).containsExactly("5 FLUSH_ERROR");
  }

  @Test
  void shouldFlushLateWorkAfterTheTimeOutAndSuppressItsCompletion() {
    queuePair.postSend(send(5));
    connection.disconnect();
    assertThat(poll(8)).isZero();
    var view = new CompletionView();
    long late = queuePair.flushDeadlineNs(objects.queue);
    assertThat(queuePair.flushOne(objects.queue, late - 1, view)).isFalse();
    assertThat(queuePair.flushOne(objects.queue, late, view)).isTrue();
    assertThat(view.requestId()).isEqualTo(5);
    assertThat(view.status()).isEqualTo(WorkStatus.FLUSH_ERROR);
    complete(0, 0);
    assertThat(poll(8)).isZero();
    assertThat(queuePair.flushDeadlineNs(objects.queue)).isEqualTo(Long.MAX_VALUE);
  }

  @Test
  void shouldSuppressCompletionsOfADestroyedQueuePair() {
    queuePair.postSend(send(5));
    complete(0, 0);
    queuePair.close();
    assertThat(poll(8)).isZero();
    objects.queue.close();
  }

  @Test
  void shouldKeepTheCompletionQueueOpenUnderAQueuePair() {
    assertThatThrownBy(objects.queue::close).hasMessageContaining("queuePairs=2");
    queuePair.close();
    objects.queue.close();
    assertThatThrownBy(() -> poll(1)).hasMessage("completion queue is closed");
  }

  @Test
  void shouldNotKeepTheCompletionQueueOpenWhenItsCreationFails() throws VerbsException {
    queuePair.close();
    objects.device.duringConstruction =
        () -> {
          throw new OutOfMemoryError("refused by the test");
        };
    assertThatThrownBy(objects::resolved).isInstanceOf(OutOfMemoryError.class);
    objects.queue.close();
    objects.device.close();
    assertThat(objects.device.calls).endsWith("close device", "closed");
  }

  @Test
  void shouldShowAllCompletionsOfAnOverrunQueueBeforeFailing() {
    queuePair.postSend(send(5));
    complete(0, 0);
    objects.queue.overrun();
    assertThat(poll(8)).isEqualTo(1);
    assertThatThrownBy(() -> poll(8)).hasMessageContaining("overrun: capacity=8");
  }

  @Test
  void shouldArmOnlyWithAChannel() throws VerbsException {
    objects.queue.arm();
    assertThat(objects.device.calls).contains("request notification");
    var silent = objects.device.createCompletionQueue(1, null);
    assertThatThrownBy(silent::arm).hasMessageContaining("no channel");
  }

  @Test
  void shouldRejectWorkThatTheDeviceCannotDo() throws VerbsException {
    var other = new FakeDevice.Objects();
    MemoryRegion foreign =
        other.domain.register(other.memory, 0, 64, Set.of(AccessFlag.LOCAL_WRITE));
    MemoryRegion readOnly = objects.domain.register(objects.memory, 0, 64, Set.of());
    rejects(new WorkRequest(2).receive(1), "not a send, read or write");
    rejects(new WorkRequest(2).sendWithImmediate(1, 2), "no immediate data");
    rejects(new WorkRequest(2).send(1).local(foreign, 0, 8), "another protection domain");
    rejects(new WorkRequest(2).send(1).local(region, 0, 17).inline(), "cannot be inline");
    rejects(
        new WorkRequest(2).read(1, 2, 3).local(region, 0, 8).local(region, 8, 8),
        "elements=2 limit=1");
    assertThatThrownBy(
            () -> queuePair.postReceive(new WorkRequest(1).receive(1).local(readOnly, 0, 8)))
        .hasMessageContaining("LOCAL_WRITE");
    assertThatThrownBy(() -> queuePair.postReceive(send(1))).hasMessageContaining("not a receive");
  }

  private void rejects(WorkRequest request, String reason) {
    assertThatThrownBy(() -> queuePair.postSend(request))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining(reason);
  }

  @Test
  void shouldReportAFullSendQueue() {
    for (int i = 0; i < 4; i++) {
      assertThat(queuePair.postSend(send(i))).isTrue();
    }
    assertThat(queuePair.postSend(send(4))).isFalse();
  }
}
