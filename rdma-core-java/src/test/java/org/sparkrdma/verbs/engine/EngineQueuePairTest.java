// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.util.Set;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.sparkrdma.verbs.AccessFlag;
import org.sparkrdma.verbs.MemoryRegion;
import org.sparkrdma.verbs.QueuePairSettings;
import org.sparkrdma.verbs.QueuePairState;
import org.sparkrdma.verbs.VerbsException;
import org.sparkrdma.verbs.WorkRequest;
import org.sparkrdma.verbs.device.Capability;
import org.sparkrdma.verbs.device.DeviceLimits;

/** States of a queue pair and the work that it accepts, on {@link FakeQueuePair}. */
class EngineQueuePairTest {
  private static final Set<AccessFlag> SINK = Set.of(AccessFlag.LOCAL_WRITE);
  private static final int MAX_READ_SGE = 2;
  private static final int MAX_MESSAGE_BYTES = 1000;
  private static final DeviceLimits LIMITS =
      new DeviceLimits(8, 8, 4, MAX_READ_SGE, 64, 8, 1 << 20, MAX_MESSAGE_BYTES, 4, 56, 1);

  private FakeDevice.Objects objects;
  private EngineProtectionDomain domain;
  private MemoryRegion region;
  private MemoryRegion readOnly;
  private MemoryRegion foreign;
  private FakeQueuePair queuePair;

  @BeforeEach
  void open() throws VerbsException {
    objects =
        new FakeDevice.Objects(
            new FakeDevice(
                LIMITS,
                Set.of(
                    Capability.SEND_WITH_IMMEDIATE,
                    Capability.WRITE_WITH_IMMEDIATE,
                    Capability.QUEUE_PAIR_ACCESS)));
    FakeDevice device = objects.device;
    domain = objects.domain;
    var memory = device.allocate(4096);
    region = domain.register(memory, 0, 4096, SINK);
    readOnly = domain.register(memory, 0, 4096, Set.of());
    foreign = device.allocateProtectionDomain().register(memory, 0, 4096, SINK);
    queuePair = queuePair(objects, 3);
  }

  private static FakeQueuePair queuePair(FakeDevice.Objects objects, int maxSge)
      throws VerbsException {
    FakeConnection connection =
        objects.manager.resolve(FakeDevice.ADDRESS, null, Duration.ofSeconds(1)).resolved();
    connection.createQueuePair(
        objects.domain,
        new QueuePairSettings(objects.queue, objects.queue, 8, 8, maxSge, Set.of()));
    return connection.pair();
  }

  /** A request whose memory is added by the test. */
  private static WorkRequest request() {
    return new WorkRequest(8);
  }

  private static WorkRequest withElements(WorkRequest begun, MemoryRegion... regions) {
    for (MemoryRegion element : regions) {
      begun.local(element, 0, 8);
    }
    return begun;
  }

  private static void refuses(ThrowingCallable post, String reason) {
    assertThatThrownBy(post)
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining(reason);
  }

  private void refusesSend(WorkRequest request, String reason) {
    refuses(() -> queuePair.postSend(request), reason);
  }

  private static void refusesInState(ThrowingCallable call, String reason) {
    assertThatThrownBy(call).isInstanceOf(IllegalStateException.class).hasMessage(reason);
  }

  @Test
  void shouldStayBrokenWhenItBreaksBeforeItIsConnected() {
    assertThat(queuePair.markBroken()).isTrue();
    assertThat(queuePair.setReady()).isFalse();
    assertThat(queuePair.state()).isEqualTo(QueuePairState.ERROR);
  }

  @Test
  void shouldReceiveAndChangeAccessUntilItsClose() throws VerbsException {
    WorkRequest receive = withElements(request().receive(5), region);
    queuePair.postReceive(receive);
    queuePair.markBroken();
    queuePair.postReceive(receive);
    queuePair.setRemoteAccess(Set.of(AccessFlag.REMOTE_READ));
    queuePair.close();
    refusesInState(() -> queuePair.postReceive(receive), "queue pair is closed");
    refusesInState(() -> queuePair.setRemoteAccess(Set.of()), "queue pair is closed");
    assertThat(queuePair.posted).containsExactly("receive 5", "access [REMOTE_READ]");
  }

  @Test
  void shouldPostNothingOfABatchOutsideItsArrayOrBeforeItIsConnected() {
    WorkRequest[] requests = {request().send(5), request().send(6)};
    refusesInState(() -> queuePair.postSend(requests, 0, 2), "not connected: state=INIT");
    queuePair.setReady();
    for (int[] range : new int[][] {{1, 2}, {-1, 1}, {0, 3}, {0, -1}, {3, 0}}) {
      assertThatThrownBy(() -> queuePair.postSend(requests, range[0], range[1]))
          .isInstanceOf(IndexOutOfBoundsException.class);
    }
    assertThat(queuePair.posted).isEmpty();
    assertThat(queuePair.postSend(requests, 1, 1)).isOne();
    assertThat(queuePair.posted).containsExactly("send 6");
  }

  @Test
  void shouldCheckTheDomainOfEachElement() {
    queuePair.setReady();
    refusesSend(
        withElements(request().send(1), foreign), "memory of another protection domain: element=0");
    refusesSend(
        withElements(request().send(1), region, region, foreign),
        "memory of another protection domain: element=2");
    refuses(
        () -> queuePair.postReceive(withElements(request().receive(1), region, foreign)),
        "memory of another protection domain: element=1");
  }

  @Test
  void shouldReceiveOnlyIntoLocallyWritableMemory() {
    refuses(
        () -> queuePair.postReceive(withElements(request().receive(1), readOnly)),
        "memory without LOCAL_WRITE: element=0");
    refuses(
        () -> queuePair.postReceive(withElements(request().receive(1), region, readOnly)),
        "memory without LOCAL_WRITE: element=1");
    queuePair.setReady();
    queuePair.postSend(withElements(request().send(2), readOnly));
    assertThat(queuePair.posted).containsExactly("send 2");
  }

  @Test
  void shouldSendImmediateDataOnlyWhereTheDeviceDoes() throws VerbsException {
    WorkRequest send = request().sendWithImmediate(1, 2);
    WorkRequest write = request().writeWithImmediate(2, 3, 4, 5);
    queuePair.setReady();
    queuePair.postSend(send);
    queuePair.postSend(write);
    assertThat(queuePair.posted).containsExactly("send 1", "send 2");
    FakeQueuePair without = queuePair(new FakeDevice.Objects(new FakeDevice(LIMITS, Set.of())), 3);
    without.setReady();
    without.postSend(request().send(3));
    refuses(
        () -> without.postSend(send),
        "the device has no immediate data: opcode=SEND_WITH_IMMEDIATE");
    refuses(
        () -> without.postSend(write),
        "the device has no immediate data: opcode=WRITE_WITH_IMMEDIATE");
    assertThat(without.posted).containsExactly("send 3");
  }

  @Test
  void shouldGivePeersOnlyRemoteAccess() throws VerbsException {
    refuses(() -> queuePair.setRemoteAccess(SINK), "not an access of peers");
    queuePair.setRemoteAccess(Set.of(AccessFlag.REMOTE_WRITE));
    assertThat(queuePair.posted).containsExactly("access [REMOTE_WRITE]");
  }
}
