// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.sparkrdma.verbs.AccessFlag;
import org.sparkrdma.verbs.VerbsException;
import org.sparkrdma.verbs.device.OpenResources;

/** Closing and counting the objects of a device, with the objects of {@link FakeDevice}. */
class EngineDeviceTest {
  /** The calls of a close in verbs order, for one object of each kind. */
  private static final List<String> CLOSE_CALLS =
      List.of(
          "stop events",
          "destroy listener",
          "disconnect",
          "destroy queue pair",
          "free queue pair",
          "destroy connection",
          "destroy manager",
          "destroy queue",
          "deregister",
          "deallocate domain",
          "abandon memory",
          "close device",
          "closed");

  /** One object of each kind, and no call yet. */
  private static FakeDevice.Objects oneOfEachKind() throws VerbsException {
    var objects = new FakeDevice.Objects();
    objects.domain.register(objects.memory, 0, 64, Set.of(AccessFlag.LOCAL_WRITE));
    objects.manager.listen(FakeDevice.ADDRESS, 1);
    objects.connected();
    objects.device.calls.clear();
    return objects;
  }

  @Test
  void shouldCloseOpenObjectsInVerbsOrder() throws VerbsException {
    var objects = oneOfEachKind();
    objects.device.close();
    // The second one calls nothing.
    objects.device.close();
    assertThat(objects.device.calls).containsExactlyElementsOf(CLOSE_CALLS);
  }

  @Test
  void shouldWaitForFreedMemoryWithoutItsLock() throws VerbsException {
    var objects = new FakeDevice.Objects();
    objects.device.calls.clear();
    objects.device.refusals = 2;
    assertThat(objects.device.allocate(64).lengthBytes()).isEqualTo(64);
    assertThat(objects.device.calls).hasSize(2).containsOnly("await freed memory: locked=false");
  }

  @Test
  @Timeout(60)
  void shouldCloseAllWhenARegistrationIsInProgress() throws Exception {
    var objects = new FakeDevice.Objects();
    objects.domain.register(objects.memory, 0, 64, Set.of());
    objects.device.duringRegistration = objects.onOtherThread(objects.device::close);
    assertThatThrownBy(() -> objects.domain.register(objects.memory, 0, 64, Set.of()))
        .isInstanceOf(IllegalStateException.class)
        .hasMessage("protection domain is closed");
    objects.other.join();
    assertThat(objects.device.calls)
        .endsWith(
            "deregister",
            "deregister",
            "deallocate domain",
            "abandon memory",
            "close device",
            "closed");
  }

  @Test
  void shouldCloseAllAndThrowTheFirstFailureThenCloseWhatIsLeft() throws VerbsException {
    var objects = new FakeDevice.Objects();
    var kept = (FakeQueue) objects.device.createCompletionQueue(8, objects.channel);
    kept.retain();
    objects.domain.register(objects.memory, 0, 64, Set.of());
    assertThatThrownBy(objects.device::close)
        .isInstanceOf(IllegalStateException.class)
        .hasMessage("completion queue is in use: users=1");
    assertThat(objects.device.calls)
        .containsExactly(
            "stop events",
            "destroy manager",
            "destroy queue",
            "deregister",
            "deallocate domain",
            "abandon memory");
    assertThatThrownBy(() -> objects.device.allocate(1)).hasMessage("device is closed");
    kept.release();
    objects.device.close();
    assertThat(objects.device.calls)
        .hasSize(9)
        .endsWith("abandon memory", "destroy queue", "close device", "closed");
    objects.device.close();
    assertThat(objects.device.calls).hasSize(9);
  }

  private static List<String> callsThatMayFail() {
    return CLOSE_CALLS.subList(0, CLOSE_CALLS.size() - 1);
  }

  /** Whatever the failed call has left in the device, a second call could hit another object. */
  @ParameterizedTest
  @MethodSource("callsThatMayFail")
  void shouldMakeEachCallOnceWhenOneFailsAndTheCloseIsRepeated(String failing)
      throws VerbsException {
    var objects = oneOfEachKind();
    objects.device.failing = failing;

    assertThatThrownBy(objects.device::close).hasMessage("refused: " + failing);
    objects.device.close();
    objects.device.close();

    assertThat(objects.device.calls)
        .containsExactlyInAnyOrderElementsOf(CLOSE_CALLS)
        .endsWith("closed");
    assertThat(objects.device.openResources())
        .isEqualTo(new OpenResources(0, 0, 0, 0, 0, 0, 0, 0, 0));
  }

  @Test
  void shouldStayOpenDuringARegistrationThatDoesNotEnd() throws VerbsException {
    var objects = new FakeDevice.Objects();
    objects.device.closeTimeout = Duration.ofMillis(1);
    var domain = objects.device.allocateProtectionDomain();
    objects.device.duringRegistration =
        () ->
            assertThatThrownBy(objects.device::close)
                .hasMessage("protection domain is in use: unfinishedCalls=1")
                .satisfies(failure -> assertThat(failure.getSuppressed()).hasSize(1));
    assertThatThrownBy(() -> domain.register(objects.memory, 0, 64, Set.of()))
        .hasMessage("protection domain is closed");
    assertThat(objects.device.calls).doesNotContain("close device");
    objects.device.close();
    assertThat(objects.device.calls)
        .endsWith("deregister", "deallocate domain", "abandon memory", "close device", "closed");
  }

  @Test
  @Timeout(60)
  void shouldBeClosedWhenTheCloseOfAnotherThreadReturns() throws Exception {
    var objects = new FakeDevice.Objects();
    objects.domain.register(objects.memory, 0, 64, Set.of());
    objects.device.duringDeregistration =
        objects.onOtherThread(
            () -> {
              objects.device.close();
              objects.device.calls.add("second close returned");
            });
    objects.device.close();
    objects.other.join();
    assertThat(objects.device.calls)
        .containsOnlyOnce("close device", "closed")
        .endsWith("close device", "closed", "second close returned");
  }

  @Test
  void shouldRegisterNothingMoreOnceItClosesItsRegions() throws VerbsException {
    var objects = new FakeDevice.Objects();
    objects.domain.register(objects.memory, 0, 64, Set.of());
    objects.device.duringDeregistration =
        () ->
            assertThatThrownBy(() -> objects.domain.register(objects.memory, 0, 64, Set.of()))
                .hasMessage("protection domain is closed");
    objects.device.close();
    assertThat(objects.device.calls).containsOnlyOnce("deregister").endsWith("closed");
  }

  @Test
  @Timeout(60)
  void shouldDeallocateADomainOnceWhenTwoThreadsCloseItDuringARegistration() throws Exception {
    var objects = new FakeDevice.Objects();
    var closing = new ArrayList<Thread>();
    objects.device.duringRegistration =
        () -> {
          closing.add(FakeDevice.startUntilItWaits(objects.domain::close));
          closing.add(FakeDevice.startUntilItWaits(objects.domain::close));
          assertThat(closing).allMatch(Thread::isAlive);
        };
    assertThatThrownBy(() -> objects.domain.register(objects.memory, 0, 64, Set.of()))
        .hasMessage("protection domain is closed");
    for (Thread thread : closing) {
      thread.join();
    }
    assertThat(objects.device.calls).containsExactly("deregister", "deallocate domain");
  }

  @Test
  @Timeout(60)
  void shouldKeepTheInterruptOfAThreadThatWaitsForARegistration() throws Exception {
    var objects = new FakeDevice.Objects();
    var interrupted = new AtomicBoolean();
    objects.device.duringRegistration =
        objects.onOtherThread(
            () -> {
              Thread.currentThread().interrupt();
              objects.domain.close();
              interrupted.set(Thread.interrupted());
            });
    assertThatThrownBy(() -> objects.domain.register(objects.memory, 0, 64, Set.of()))
        .hasMessage("protection domain is closed");
    objects.other.join();
    assertThat(interrupted).isTrue();
    assertThat(objects.device.calls).containsExactly("deregister", "deallocate domain");
  }
}
