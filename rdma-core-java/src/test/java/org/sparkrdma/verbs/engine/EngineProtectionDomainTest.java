// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Set;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.sparkrdma.verbs.AccessFlag;
import org.sparkrdma.verbs.VerbsException;

/** A protection domain, its regions and the memory under them. */
class EngineProtectionDomainTest {
  private static final Set<AccessFlag> SINK = Set.of(AccessFlag.LOCAL_WRITE);

  private FakeDevice.Objects objects;

  @BeforeEach
  void open() throws VerbsException {
    objects = new FakeDevice.Objects();
  }

  @Test
  void shouldReleaseTheMemoryWhenRegisteringFails() {
    objects.device.registrationFails = true;
    assertThatThrownBy(() -> objects.domain.register(objects.memory, 0, 64, SINK))
        .isInstanceOf(VerbsException.class);
    objects.memory.close();
    assertThat(objects.device.calls).containsExactly("free memory");
  }

  @Test
  @Timeout(60)
  void shouldWaitAtItsCloseForARegistrationWhichThenFails() throws Exception {
    var closing = new AtomicReference<Thread>();
    objects.device.duringRegistration =
        () -> closing.set(FakeDevice.startUntilItWaits(objects.domain::close));
    assertThatThrownBy(() -> objects.domain.register(objects.memory, 0, 64, SINK))
        .isInstanceOf(IllegalStateException.class)
        .hasMessage("protection domain is closed");
    closing.get().join();
    objects.memory.close();
    assertThat(objects.device.calls)
        .containsExactly("deregister", "deallocate domain", "free memory");
  }

  @Test
  @Timeout(60)
  void shouldBeDeallocatedOnceWhenTwoThreadsCloseItDuringARegistration() throws Exception {
    var closing = new ArrayList<Thread>();
    objects.device.duringRegistration =
        () -> {
          closing.add(FakeDevice.startUntilItWaits(objects.domain::close));
          closing.add(FakeDevice.startUntilItWaits(objects.domain::close));
          assertThat(closing).allMatch(Thread::isAlive);
        };
    assertThatThrownBy(() -> objects.domain.register(objects.memory, 0, 64, SINK))
        .hasMessage("protection domain is closed");
    for (Thread thread : closing) {
      thread.join();
    }
    assertThat(objects.device.calls).containsExactly("deregister", "deallocate domain");
  }

  @Test
  @Timeout(60)
  void shouldKeepTheInterruptOfAThreadThatWaitsForARegistration() throws Exception {
    var closing = new AtomicReference<Thread>();
    var interrupted = new AtomicBoolean();
    objects.device.duringRegistration =
        () -> {
          closing.set(
              FakeDevice.startUntilItWaits(
                  () -> {
                    Thread.currentThread().interrupt();
                    objects.domain.close();
                    interrupted.set(Thread.interrupted());
                  }));
          assertThat(closing.get().isAlive()).isTrue();
        };
    assertThatThrownBy(() -> objects.domain.register(objects.memory, 0, 64, SINK))
        .hasMessage("protection domain is closed");
    closing.get().join();
    assertThat(interrupted).isTrue();
    assertThat(objects.device.calls).containsExactly("deregister", "deallocate domain");
  }

  @Test
  void shouldRegisterNothingAfterClose() {
    objects.domain.close();
    assertThatThrownBy(() -> objects.domain.register(objects.memory, 0, 64, SINK))
        .isInstanceOf(IllegalStateException.class);
    assertThatThrownBy(
            () -> objects.domain.registerFile(Path.of("x"), 0, 64, Set.of(AccessFlag.REMOTE_READ)))
        .isInstanceOf(IllegalStateException.class);
    assertThat(objects.device.calls).containsExactly("deallocate domain");
  }

  @Test
  void shouldTestQueuePairsWithOpenCompletionQueuesOfItsDevice() throws VerbsException {
    objects.domain.testQueuePair(objects.settings());
    var other = new FakeDevice.Objects();
    assertThatThrownBy(() -> objects.domain.testQueuePair(other.settings()))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("another device");
    objects.queue.close();
    assertThatThrownBy(() -> objects.domain.testQueuePair(objects.settings()))
        .isInstanceOf(IllegalStateException.class)
        .hasMessage("completion queue is closed");
  }
}
