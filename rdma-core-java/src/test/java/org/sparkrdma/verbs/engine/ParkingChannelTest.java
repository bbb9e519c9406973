// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.engine;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Events that end the owner's wait. Without the event, each test would wait for an hour. */
@Timeout(value = 30, unit = TimeUnit.SECONDS)
class ParkingChannelTest {
  private static final long HOUR_NS = TimeUnit.HOURS.toNanos(1);

  private final ParkingChannel channel = new ParkingChannel(new FakeDevice());

  @Test
  void shouldReturnAtOnceAfterAWakeup() {
    channel.wakeup();
    channel.await(HOUR_NS);
  }

  @Test
  void shouldWakeTheWaitingOwner() throws InterruptedException {
    var owner = new Thread(() -> channel.await(HOUR_NS));
    owner.start();
    while (owner.getState() != Thread.State.TIMED_WAITING) {
      Thread.onSpinWait();
    }
    channel.wakeup();
    owner.join();
  }

  @Test
  void shouldWakeAtTheNearestDeadline() {
    LongSupplier never = () -> Long.MAX_VALUE;
    long now = System.nanoTime();
    LongSupplier soon = () -> now + 1_000_000;
    channel.addDeadline(never);
    channel.addDeadline(soon);
    channel.await(HOUR_NS);
    assertThat(System.nanoTime() - now).isGreaterThanOrEqualTo(1_000_000);
    channel.removeDeadline(soon);
    assertThat(channel.remainingNs(HOUR_NS)).isEqualTo(HOUR_NS);
  }

  @Test
  void shouldNotWaitForAPastDeadline() {
    channel.addDeadline(() -> System.nanoTime() - 1);
    assertThat(channel.remainingNs(HOUR_NS)).isZero();
    channel.await(HOUR_NS);
  }
}
