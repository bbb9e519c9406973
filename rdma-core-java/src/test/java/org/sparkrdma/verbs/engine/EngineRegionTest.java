// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.file.Path;
import java.util.EnumSet;
import java.util.Set;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.sparkrdma.verbs.AccessFlag;
import org.sparkrdma.verbs.RemoteRegion;
import org.sparkrdma.verbs.VerbsException;

/** Range, access and deregistration of regions over memory and files of {@link FakeDevice}. */
class EngineRegionTest {
  private static final Set<AccessFlag> SINK = Set.of(AccessFlag.LOCAL_WRITE);
  private static final Set<AccessFlag> READABLE = Set.of(AccessFlag.REMOTE_READ);

  private FakeDevice.Objects objects;

  @BeforeEach
  void open() throws VerbsException {
    objects = new FakeDevice.Objects();
  }

  private EngineRegion region(Set<AccessFlag> access) throws VerbsException {
    return (EngineRegion) objects.domain.register(objects.memory, 64, 32, access);
  }

  private EngineRegion fileRegion() throws VerbsException {
    return (EngineRegion) objects.domain.registerFile(Path.of("x"), 128, 16, READABLE);
  }

  @Test
  void shouldShowItsRangeAndKeyAsItsPeersUseThem() throws VerbsException {
    EngineRegion region = region(SINK);
    long address = objects.memory.address() + 64;
    assertThat(region.address()).isEqualTo(address);
    assertThat(region.lengthBytes()).isEqualTo(32);
    assertThat(region.remote()).isEqualTo(new RemoteRegion(address, 32, 7));
  }

  @Test
  void shouldKeepItsAccessWhenTheSetOfItsCallerChanges() throws VerbsException {
    Set<AccessFlag> access = EnumSet.of(AccessFlag.LOCAL_WRITE);
    EngineRegion region = region(access);
    access.clear();
    assertThat(region.access()).containsExactly(AccessFlag.LOCAL_WRITE);
    assertThat(region.isLocallyWritable()).isTrue();
  }

  @Test
  void shouldBeLocallyWritableWithLocalWriteOnly() throws VerbsException {
    assertThat(region(SINK).isLocallyWritable()).isTrue();
    assertThat(region(READABLE).isLocallyWritable()).isFalse();
    assertThat(fileRegion().isLocallyWritable()).isFalse();
  }

  @Test
  void shouldBeOverAFileWithoutMemoryOnly() throws VerbsException {
    assertThat(region(READABLE).isFile()).isFalse();
    assertThat(fileRegion().isFile()).isTrue();
  }

  @Test
  void shouldHoldItsMemoryAndItsDomainWhileItIsBeingDeregistered() throws VerbsException {
    EngineRegion region = region(SINK);
    objects.device.duringDeregistration =
        () -> {
          assertThatThrownBy(objects.memory::close).hasMessageContaining("regions=1");
          assertThatThrownBy(objects.domain::close).hasMessageContaining("regions=1");
        };
    region.close();
    objects.memory.close();
    objects.domain.close();
    assertThat(objects.device.calls)
        .containsExactly("deregister", "free memory", "deallocate domain");
  }

  @Test
  void shouldBeClosedBeforeItIsDeregistered() throws VerbsException {
    EngineRegion region = region(SINK);
    assertThat(region.isClosed()).isFalse();
    objects.device.duringDeregistration = () -> assertThat(region.isClosed()).isTrue();
    region.close();
    assertThat(region.isClosed()).isTrue();
  }

  @Test
  void shouldDeregisterAndReleaseItsMemoryOnce() throws VerbsException {
    EngineRegion closed = region(SINK);
    EngineRegion open = region(SINK);
    closed.close();
    closed.close();
    assertThat(objects.device.calls).containsExactly("deregister");
    assertThatThrownBy(objects.memory::close).hasMessageContaining("regions=1");
    open.close();
    objects.memory.close();
  }

  @Test
  void shouldDeregisterAFileWithoutMemory() throws VerbsException {
    fileRegion().close();
    objects.domain.close();
    assertThat(objects.device.calls).containsExactly("deregister", "deallocate domain");
  }

  @Test
  @Timeout(60)
  void shouldBeDeregisteredWhenTheCloseOfAnotherThreadReturns() throws Exception {
    EngineRegion region = region(SINK);
    var second = new AtomicReference<Thread>();
    objects.device.duringDeregistration =
        () -> {
          second.set(FakeDevice.startUntilItWaits(region::close));
          assertThat(second.get().isAlive()).isTrue();
        };
    region.close();
    second.get().join();
    assertThat(objects.device.calls).containsExactly("deregister");
  }

  @Test
  void shouldBeClosedWithItsDevice() throws VerbsException {
    EngineRegion region = region(SINK);
    objects.device.close();
    assertThat(region.isClosed()).isTrue();
    region.close();
    assertThat(objects.device.calls).containsOnlyOnce("deregister");
  }
}
