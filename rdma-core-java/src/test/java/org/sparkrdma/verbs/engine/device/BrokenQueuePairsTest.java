// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.engine.device;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.sparkrdma.verbs.AccessFlag;
import org.sparkrdma.verbs.MemoryRegion;
import org.sparkrdma.verbs.VerbsException;
import org.sparkrdma.verbs.WorkRequest;
import org.sparkrdma.verbs.engine.CompletionView;

/** Flushing the work of broken queue pairs, with queue pairs of {@link FakeDevice}. */
class BrokenQueuePairsTest {
  private static final long UNKNOWN = Long.MAX_VALUE;

  private final CompletionView view = new CompletionView();
  private final List<String> shown = new ArrayList<>();
  private FakeDevice.Objects objects;
  private MemoryRegion region;
  private BrokenQueuePairs broken;

  @BeforeEach
  void open() throws VerbsException {
    objects = new FakeDevice.Objects();
    region = objects.domain.register(objects.memory, 0, 64, Set.of(AccessFlag.LOCAL_WRITE));
    broken = new BrokenQueuePairs(objects.queue);
  }

  /** A broken queue pair with this work, which the device never got. */
  private FakeQueuePair brokenWith(long... ids) throws VerbsException {
    FakeConnection connection = objects.connected();
    connection.disconnect();
    for (long id : ids) {
      connection.queuePair().postSend(new WorkRequest(1).send(id).local(region, 0, 8));
    }
    broken.add(connection.queuePair());
    return connection.queuePair();
  }

  /** A queue pair that breaks while the device has one piece of its work. */
  private FakeQueuePair brokenWithWorkOfTheDevice() throws VerbsException {
    FakeConnection connection = objects.connected();
    connection.queuePair().postSend(new WorkRequest(1).send(1).local(region, 0, 8));
    connection.disconnect();
    broken.add(connection.queuePair());
    return connection.queuePair();
  }

  private int flush(int limit) {
    return broken.flush(
        limit, System.nanoTime(), view, c -> shown.add(c.requestId() + " " + c.status()));
  }

  @Test
  void shouldFlushUpToTheLimitAndContinueThere() throws VerbsException {
    brokenWith(1, 2);
    brokenWith(3);
    assertThat(flush(1)).isEqualTo(1);
    assertThat(shown).containsExactly("1 FLUSH_ERROR");
    assertThat(flush(8)).isEqualTo(2);
    assertThat(shown).containsExactly("1 FLUSH_ERROR", "2 FLUSH_ERROR", "3 FLUSH_ERROR");
    assertThat(flush(8)).isZero();
  }

  @Test
  void shouldForgetAClosedQueuePairAndNoOther() throws VerbsException {
    assertThat(broken.isEmpty()).isTrue();
    FakeQueuePair closed = brokenWith(1);
    FakeQueuePair other = brokenWith(2);
    broken.remove(closed);
    broken.remove(closed);
    assertThat(broken.isEmpty()).isFalse();
    assertThat(flush(8)).isEqualTo(1);
    assertThat(shown).containsExactly("2 FLUSH_ERROR");
    broken.remove(other);
    assertThat(broken.isEmpty()).isTrue();
  }

  @Test
  void shouldFlushOnlyWorkThatCompletesInItsQueue() throws VerbsException {
    FakeQueuePair queuePair = brokenWith(1);
    var ofOther = new BrokenQueuePairs(objects.device.createCompletionQueue(8, objects.channel));
    ofOther.add(queuePair);
    assertThat(ofOther.flush(8, System.nanoTime(), view, c -> shown.add("flushed"))).isZero();
    assertThat(shown).isEmpty();
    assertThat(flush(8)).isEqualTo(1);
  }

  @Test
  void shouldLeaveWorkToTheDeviceBeforeTheFlushTimeOut() throws VerbsException {
    brokenWithWorkOfTheDevice();
    assertThat(flush(8)).isZero();
  }

  @Test
  void shouldWaitUntilTheNearestDeadlineOfThoseWithWork() throws VerbsException {
    assertThat(broken.deadlineNs()).isEqualTo(UNKNOWN);
    brokenWith();
    assertThat(broken.deadlineNs()).isEqualTo(UNKNOWN);
    FakeQueuePair first = brokenWithWorkOfTheDevice();
    FakeQueuePair second = brokenWithWorkOfTheDevice();
    assertThat(broken.deadlineNs()).isEqualTo(first.flushDeadlineNs(objects.queue));
    broken.remove(first);
    assertThat(broken.deadlineNs()).isEqualTo(second.flushDeadlineNs(objects.queue));
  }
}
