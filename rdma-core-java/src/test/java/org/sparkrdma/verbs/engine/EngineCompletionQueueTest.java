// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.sparkrdma.verbs.CompletionChannel;
import org.sparkrdma.verbs.VerbsException;

/** Notification, users and the end of a completion queue, on {@link RecordedDevice}. */
class EngineCompletionQueueTest {
  private final RecordedDevice device = new RecordedDevice();
  private CompletionChannel channel;
  private EngineCompletionQueue queue;

  @BeforeEach
  void open() throws VerbsException {
    channel = device.createCompletionChannel();
    queue = (EngineCompletionQueue) device.createCompletionQueue(3, channel);
  }

  @Test
  void shouldStayOpenWhileQueuePairsCompleteInIt() {
    queue.retain();
    queue.retain();
    assertThatThrownBy(queue::close)
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("queuePairs=2");
    queue.release(null);
    assertThatThrownBy(queue::close).hasMessageContaining("queuePairs=1");
    assertThat(queue.poll(1, null)).isZero();
    assertThat(device.calls).isEmpty();
    queue.release(null);
    queue.close();
    assertThat(device.calls).containsExactly("destroy queue");
  }

  @Test
  void shouldReleaseItsResourcesOnceAndLeaveItsDevice() {
    assertThat(device.openResources().completionQueues()).isOne();
    queue.close();
    queue.close();
    assertThat(device.calls).containsExactly("destroy queue");
    assertThat(device.openResources().completionQueues()).isZero();
  }

  @Test
  void shouldRefuseUseAfterClose() {
    queue.close();
    assertThatThrownBy(queue::arm)
        .isInstanceOf(IllegalStateException.class)
        .hasMessage("completion queue is closed");
    assertThatThrownBy(() -> queue.poll(1, null)).hasMessage("completion queue is closed");
    assertThat(device.calls).containsExactly("destroy queue");
  }

  @Test
  void shouldRequestANotificationEachTimeItIsArmed() {
    queue.arm();
    queue.arm();
    assertThat(device.calls).containsExactly("request notification", "request notification");
  }

  @Test
  void shouldBeOnlyPolledWithoutAChannel() throws VerbsException {
    var polled = (EngineCompletionQueue) device.createCompletionQueue(3, null);
    assertThatThrownBy(polled::arm)
        .isInstanceOf(IllegalStateException.class)
        .hasMessage("completion queue has no channel");
    polled.signal();
    assertThat(device.calls).isEmpty();
    queue.signal();
    assertThat(device.calls).containsExactly("wake up");
  }

  @Test
  void shouldNotBeCountedWhenTheEngineRefusesIt() {
    device.refuses = true;
    assertThatThrownBy(() -> device.createCompletionQueue(3, channel))
        .isInstanceOf(VerbsException.class);
    assertThat(device.openResources().completionQueues()).isOne();
  }
}
