// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.serve;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class ServerSleepTest {
  private final ServerSleep sleep = new ServerSleep();

  @Test
  void shouldEndForADeadlineThatIsSetWhileDeadlinesAreRead() {
    sleep.plan();
    sleep.onDeadline(Long.MAX_VALUE);
    sleep.begin(0);
    assertThat(sleep.mayHaveNewDeadline()).as("it may be missing in the planned one").isTrue();
  }

  @Test
  void shouldEndOnlyForADeadlineBeforeThePlannedOne() {
    sleep.plan();
    sleep.begin(Long.MIN_VALUE + 10);
    sleep.onDeadline(Long.MIN_VALUE + 10);
    assertThat(sleep.mayHaveNewDeadline()).as("the same").isFalse();
    sleep.onDeadline(Long.MIN_VALUE + 11);
    assertThat(sleep.mayHaveNewDeadline()).as("a later one").isFalse();
    sleep.onDeadline(Long.MAX_VALUE);
    assertThat(sleep.mayHaveNewDeadline()).as("an earlier one; the clock wraps").isTrue();
  }

  @Test
  void shouldKnowADeadlineThatEndsIt() {
    sleep.plan();
    sleep.begin(10);
    sleep.onDeadline(sleep.beforeWakeNs());
    assertThat(sleep.mayHaveNewDeadline()).isTrue();
  }

  @Test
  void shouldForgetTheDeadlineOfTheLastSleep() {
    sleep.plan();
    sleep.onDeadline(5);
    sleep.begin(10);
    sleep.end();
    sleep.plan();
    assertThat(sleep.mayHaveNewDeadline()).isFalse();
  }

  @Test
  void shouldWakeAThreadThatIsAboutToSleep() throws Exception {
    Thread sleeper =
        new Thread(
            () -> {
              sleep.plan();
              sleep.begin(Long.MAX_VALUE);
              sleep.wakeUp();
              LockSupport.park();
              sleep.end();
            });
    sleeper.start();
    sleeper.join(30_000);
    boolean sleeps = sleeper.isAlive();
    LockSupport.unpark(sleeper);
    assertThat(sleeps).isFalse();
  }
}
