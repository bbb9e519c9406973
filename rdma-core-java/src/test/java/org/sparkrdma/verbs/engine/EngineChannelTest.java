// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.sparkrdma.verbs.VerbsException;

/** The deadlines and the end of a channel, on {@link RecordedDevice}. */
class EngineChannelTest {
  private static final long HOUR_NS = TimeUnit.HOURS.toNanos(1);

  private final RecordedDevice device = new RecordedDevice();
  private EngineChannel channel;

  @BeforeEach
  void open() throws VerbsException {
    channel = (EngineChannel) device.createCompletionChannel();
  }

  private static LongSupplier inHours(int hours) {
    long at = System.nanoTime() + hours * HOUR_NS;
    return () -> at;
  }

  @Test
  void shouldWaitForTheWholeTimeoutWithoutADeadline() {
    assertThat(channel.remainingNs(HOUR_NS)).isEqualTo(HOUR_NS);
    assertThat(channel.remainingNs(0)).isZero();
  }

  @Test
  void shouldWaitUntilTheNearestDeadline() {
    channel.addDeadline(inHours(5));
    channel.addDeadline(inHours(2));
    channel.addDeadline(inHours(7));
    assertThat(channel.remainingNs(10 * HOUR_NS)).isBetween(HOUR_NS, 2 * HOUR_NS);
  }

  @Test
  void shouldWaitForTheTimeoutBeforeALaterDeadline() {
    channel.addDeadline(inHours(5));
    assertThat(channel.remainingNs(HOUR_NS)).isEqualTo(HOUR_NS);
  }

  @Test
  void shouldNotWaitAtAllAfterADeadline() {
    channel.addDeadline(inHours(-5));
    channel.addDeadline(inHours(5));
    assertThat(channel.remainingNs(10 * HOUR_NS)).isZero();
  }

  @Test
  void shouldIgnoreADeadlineThatNeverComes() {
    channel.addDeadline(() -> Long.MAX_VALUE);
    assertThat(channel.remainingNs(Long.MAX_VALUE)).isEqualTo(Long.MAX_VALUE);
    channel.addDeadline(inHours(2));
    assertThat(channel.remainingNs(Long.MAX_VALUE)).isBetween(HOUR_NS, 2 * HOUR_NS);
  }

  @Test
  void shouldReadADeadlineAnewBeforeEachWait() {
    long[] at = {Long.MAX_VALUE};
    channel.addDeadline(() -> at[0]);
    assertThat(channel.remainingNs(HOUR_NS)).isEqualTo(HOUR_NS);
    at[0] = System.nanoTime();
    assertThat(channel.remainingNs(HOUR_NS)).isZero();
  }

  @Test
  void shouldForgetOnlyTheRemovedDeadline() {
    LongSupplier passed = inHours(-1);
    LongSupplier unknown = inHours(-1);
    channel.addDeadline(passed);
    channel.removeDeadline(unknown);
    assertThat(channel.remainingNs(HOUR_NS)).isZero();
    channel.addDeadline(inHours(2));
    channel.removeDeadline(passed);
    assertThat(channel.remainingNs(10 * HOUR_NS)).isBetween(HOUR_NS, 2 * HOUR_NS);
  }

  @Test
  void shouldReleaseItsResourcesOnceAndLeaveItsDevice() {
    assertThat(device.openResources().completionChannels()).isOne();
    assertThat(channel.isClosed()).isFalse();
    channel.close();
    assertThat(channel.isClosed()).isTrue();
    channel.close();
    assertThat(device.calls).containsExactly("destroy channel");
    assertThat(device.openResources().completionChannels()).isZero();
  }

  @Test
  void shouldRefuseAWaitAfterClose() {
    channel.await(1);
    channel.close();
    assertThatThrownBy(() -> channel.await(1))
        .isInstanceOf(IllegalStateException.class)
        .hasMessage("completion channel is closed");
    assertThat(device.calls).containsExactly("await", "destroy channel");
  }

  @Test
  void shouldNotBeCountedWhenTheEngineRefusesIt() {
    device.refuses = true;
    assertThatThrownBy(device::createCompletionChannel).isInstanceOf(VerbsException.class);
    assertThat(device.openResources().completionChannels()).isOne();
  }
}
