// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.engine.device;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.file.Path;
import java.util.Set;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.sparkrdma.verbs.AccessFlag;
import org.sparkrdma.verbs.MemoryRegion;
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
  void shouldKeepMemoryAndDomainOpenUnderARegion() throws VerbsException {
    MemoryRegion region = objects.domain.register(objects.memory, 64, 64, SINK);
    assertThat(region.address()).isEqualTo(objects.memory.address() + 64);
    assertThatThrownBy(objects.memory::close).hasMessageContaining("regions=1");
    assertThatThrownBy(objects.domain::close).hasMessageContaining("regions=1 queuePairs=0");
    region.close();
    region.close();
    objects.memory.close();
    objects.domain.close();
    assertThat(objects.device.calls)
        .containsExactly("deregister", "free memory", "deallocate domain");
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
  void shouldDeregisterARegionWhoseDomainWasClosedDuringRegistration() {
    objects.device.duringRegistration = objects.domain::close;
    assertThatThrownBy(() -> objects.domain.register(objects.memory, 0, 64, SINK))
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("closed");
    objects.memory.close();
    assertThat(objects.device.calls)
        .containsExactly("deallocate domain", "deregister", "free memory");
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
  void shouldAcceptOnlyMemoryOfItsDevice() throws VerbsException {
    var other = new FakeDevice.Objects();
    assertThatThrownBy(() -> objects.domain.register(other.memory, 0, 64, SINK))
        .hasMessageContaining("another device");
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
