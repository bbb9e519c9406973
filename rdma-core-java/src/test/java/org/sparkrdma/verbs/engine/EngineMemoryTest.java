// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.ByteBuffer;
import java.util.Set;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.sparkrdma.verbs.MemoryRegion;
import org.sparkrdma.verbs.VerbsException;

/** Slices, regions and the end of memory of {@link FakeDevice}. */
class EngineMemoryTest {
  private FakeDevice.Objects objects;
  private EngineMemory memory;

  @BeforeEach
  void open() throws VerbsException {
    objects = new FakeDevice.Objects();
    memory = objects.memory;
  }

  private MemoryRegion register() throws VerbsException {
    return objects.domain.register(memory, 0, 64, Set.of());
  }

  @Test
  void shouldHaveTheLengthThatWasAllocated() throws VerbsException {
    assertThat(memory.lengthBytes()).isEqualTo(4096);
    assertThat(objects.device.allocate(5).lengthBytes()).isEqualTo(5);
    assertThat(memory.address()).isEqualTo(4096);
  }

  @Test
  void shouldSliceUpToItsEnd() {
    memory.slice(4088, 8).put(7, (byte) 9);
    assertThat(memory.slice(4095, 1).get(0)).isEqualTo((byte) 9);
    assertThat(memory.slice(0, 4096).get(4095)).isEqualTo((byte) 9);
    assertThat(memory.slice(4096, 0).capacity()).isZero();
  }

  @Test
  void shouldRefuseSlicesOutsideIt() {
    refusesSlice(-1, 1);
    refusesSlice(0, -1);
    refusesSlice(4089, 8);
    refusesSlice(4097, 0);
    refusesSlice(Long.MAX_VALUE, 1);
  }

  private void refusesSlice(long offset, int lengthBytes) {
    assertThatThrownBy(() -> memory.slice(offset, lengthBytes))
        .isInstanceOf(IndexOutOfBoundsException.class);
  }

  @Test
  void shouldBeFreedOnceAndLeaveItsDevice() {
    assertThat(objects.device.openResources().memories()).isOne();
    memory.close();
    memory.close();
    assertThat(objects.device.calls).containsExactly("free memory");
    assertThat(objects.device.openResources().memories()).isZero();
    objects.device.close();
    assertThat(objects.device.calls)
        .containsOnlyOnce("free memory")
        .doesNotContain("abandon memory");
  }

  @Test
  void shouldStayOpenUntilItsLastRegionIsClosed() throws VerbsException {
    MemoryRegion first = register();
    MemoryRegion second = register();
    assertThatThrownBy(memory::close)
        .isInstanceOf(IllegalStateException.class)
        .hasMessage("memory has regions: regions=2");
    first.close();
    assertThatThrownBy(memory::close).hasMessage("memory has regions: regions=1");
    assertThat(memory.slice(0, 8).capacity()).isEqualTo(8);
    assertThat(objects.device.openResources().memories()).isOne();
    second.close();
    memory.close();
    assertThat(objects.device.calls).containsExactly("deregister", "deregister", "free memory");
  }

  @Test
  void shouldRefuseSlicesAndRegionsAfterClose() {
    memory.close();
    assertThatThrownBy(() -> memory.slice(0, 8)).hasMessage("memory is closed");
    assertThatThrownBy(this::register)
        .isInstanceOf(IllegalStateException.class)
        .hasMessage("memory is closed");
    assertThat(objects.device.openResources().memoryRegions()).isZero();
    objects.domain.close();
  }

  @Test
  void shouldKeepSlicesReadableWhenItIsClosedWithItsDevice() {
    ByteBuffer slice = memory.slice(16, 8);
    slice.put(3, (byte) 5);
    objects.device.close();
    assertThat(objects.device.calls)
        .containsOnlyOnce("abandon memory")
        .doesNotContain("free memory");
    assertThat(slice.get(3)).isEqualTo((byte) 5);
  }

  @Test
  void shouldBeFreedWithTheDeviceOfAnEngineThatAbandonsNoMemory() {
    objects.device.abandonsMemory = false;
    objects.device.close();
    assertThat(objects.device.calls).containsOnlyOnce("free memory");
  }

  @Test
  void shouldRefuseNewSlicesAndCloseOnceMoreAfterItsDevice() {
    objects.device.close();
    assertThatThrownBy(() -> memory.slice(0, 8))
        .isInstanceOf(IllegalStateException.class)
        .hasMessage("memory is closed");
    memory.close();
    assertThat(objects.device.calls)
        .containsOnlyOnce("abandon memory")
        .doesNotContain("free memory");
  }
}
