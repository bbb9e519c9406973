// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.engine;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.sparkrdma.verbs.VerbsException;
import org.sparkrdma.verbs.cm.ConnectionEvent;
import org.sparkrdma.verbs.cm.ConnectionParameters;

/** The deadlines of attempts to connect, with the objects of {@link FakeDevice}. */
class ConnectionAttemptsTest {
  private static final long HOUR_NS = TimeUnit.HOURS.toNanos(1);

  private FakeDevice.Objects objects;

  @BeforeEach
  void open() throws VerbsException {
    objects = new FakeDevice.Objects();
  }

  /** Attempts whose time-outs are so many hours from now; no event waits. */
  private List<FakeConnection> connecting(int... hours) throws VerbsException {
    List<FakeConnection> attempts = new ArrayList<>();
    for (int i = 0; i < hours.length; i++) {
      attempts.add(objects.resolved());
    }
    objects.events();
    for (int i = 0; i < hours.length; i++) {
      Duration timeout = Duration.ofHours(hours[i]);
      attempts.get(i).connect(new ConnectionParameters(new byte[0], 1, 1, 1, 0, timeout));
    }
    return attempts;
  }

  private long remainingNs() {
    return objects.channel.remainingNs(100 * HOUR_NS);
  }

  @Test
  void shouldWakeItsOwnerAtTheFirstDeadlineOfItsAttempts() throws VerbsException {
    assertThat(remainingNs()).isEqualTo(100 * HOUR_NS);
    List<FakeConnection> attempts = connecting(7, 2, 5);
    assertThat(remainingNs()).isBetween(HOUR_NS, 2 * HOUR_NS);
    attempts.get(1).close();
    assertThat(remainingNs()).isBetween(4 * HOUR_NS, 5 * HOUR_NS);
  }

  @Test
  void shouldGiveThreeTimesTheTimeoutToAddressAndRoute() {
    FakeConnection resolving =
        objects.manager.resolve(FakeDevice.ADDRESS, null, Duration.ofHours(2));
    assertThat(remainingNs()).isBetween(5 * HOUR_NS, 6 * HOUR_NS);
    resolving.resolved();
    assertThat(remainingNs()).isEqualTo(100 * HOUR_NS);
  }

  @Test
  void shouldWaitForNoAttemptThatHasEnded() throws VerbsException {
    List<FakeConnection> attempts = connecting(1, 1, 1);
    attempts.get(0).established();
    attempts.get(1).failed(ConnectionEvent.Type.REJECTED);
    attempts.get(2).close();
    objects.manager.resolve(FakeDevice.ADDRESS, null, Duration.ofHours(1)).close();
    assertThat(remainingNs()).isEqualTo(100 * HOUR_NS);
  }

  @Test
  void shouldEndAllLateAttemptsAndKeepTheOthers() throws VerbsException {
    connecting(0, 2, 0);
    assertThat(remainingNs()).isZero();
    assertThat(objects.events())
        .containsExactly(ConnectionEvent.Type.UNREACHABLE, ConnectionEvent.Type.UNREACHABLE);
    assertThat(remainingNs()).isBetween(HOUR_NS, 2 * HOUR_NS);
  }

  @Test
  void shouldGiveAnEventThatWaitsBeforeItEndsALateAttempt() throws VerbsException {
    List<FakeConnection> attempts = connecting(0, 1, 0);
    attempts.get(0).established();
    attempts.get(1).failed(ConnectionEvent.Type.REJECTED);
    assertThat(objects.events())
        .containsExactly(
            ConnectionEvent.Type.ESTABLISHED,
            ConnectionEvent.Type.REJECTED,
            ConnectionEvent.Type.UNREACHABLE);
  }

  @Test
  void shouldLeaveNoDeadlineInItsChannelWhenItIsClosed() throws VerbsException {
    FakeConnection late = connecting(0).get(0);
    objects.manager.close();
    objects.manager.addAttempt(late);
    assertThat(remainingNs()).isEqualTo(100 * HOUR_NS);
    assertThat(objects.device.openResources().connections()).isZero();
  }
}
