// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.ibverbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.sparkrdma.verbs.AccessFlag;
import org.sparkrdma.verbs.Device;
import org.sparkrdma.verbs.HostMemory;
import org.sparkrdma.verbs.MemoryRegion;
import org.sparkrdma.verbs.ProtectionDomain;
import org.sparkrdma.verbs.VerbsException;
import org.sparkrdma.verbs.device.Capability;
import org.sparkrdma.verbs.ibverbs.ffi.VerbsLibrary;

/** Low limits of the device, and capabilities that it lacks or has. */
class ScriptedDeviceLimitsTest extends ScriptedDeviceFixture {
  private static final int EINVAL = 22;
  private static final int EOPNOTSUPP = 95;
  private static final int PAGE_BYTES = 4096;
  private static final int SEND = 2;
  private static final int READ = 4;

  @TempDir private Path folder;

  @Test
  void shouldCreateACompletionQueueOnTheVectorThatIsNamed() throws Exception {
    faulty = false;
    try (Device device = engine.open(ScriptedEngine.DEVICE)) {
      assertThat(device.info().limits().completionVectors()).isEqualTo(4);
      device.createCompletionQueue(1, null);
      assertThat(library.newestVector()).isZero();
      device.createCompletionQueue(1, null, 3);
      assertThat(library.newestVector()).isEqualTo(3);
    }
  }

  /** Otherwise each page fault of a READ would cost 655 ms. */
  @Test
  void shouldRepeatSoonAfterAPageFaultOnADeviceThatPagesOnDemand() throws Exception {
    faulty = false;
    library.limit("odp", 1);
    ScriptedExchange exchange = open();
    exchange.run();

    assertThat(exchange.device.info().can(Capability.ON_DEMAND_PAGING)).isTrue();
    assertThat(library.minRnrTimer()).as("encoded 0.64 ms").isEqualTo(12);
  }

  @Test
  void shouldTransferWithoutTheTimerOfPageFaults() throws Exception {
    library.limit("odp", 1);
    library.fail("ibv_modify_qp", EINVAL, 1, 1);
    run();
  }

  @Test
  void shouldLeaveTheTimerOfADeviceThatPinsPages() throws Exception {
    faulty = false;
    ScriptedExchange exchange = open();
    exchange.run();

    assertThat(library.minRnrTimer()).isEqualTo(-1);
  }

  /** The driver of siw completes a send before the READs that were posted earlier. */
  @ParameterizedTest(name = "the vendor id of {0}")
  @CsvSource({"siw, 0x626d74, true", "rxe, 0xffffff, false", "Chelsio, 0x1425, false"})
  void shouldFenceSendsOnlyWhereTheDriverCompletesThemBeforeReads(
      String driver, int vendor, boolean isFenced) throws Exception {
    library.limit("vendor", vendor);
    run();

    assertThat(library.sendFlags(SEND))
        .isEqualTo(VerbsLibrary.SEND_SIGNALED | (isFenced ? VerbsLibrary.SEND_FENCE : 0));
    assertThat(library.sendFlags(READ)).isEqualTo(VerbsLibrary.SEND_SIGNALED);
  }

  @Test
  void shouldRegisterWithoutTheHintOfRelaxedOrderingWhereItIsRefused() throws Exception {
    Set<AccessFlag> relaxed = Set.of(AccessFlag.LOCAL_WRITE, AccessFlag.RELAXED_ORDERING);
    try (Device device = engine.open(ScriptedEngine.DEVICE);
        ProtectionDomain domain = device.allocateProtectionDomain();
        HostMemory memory = device.allocate(1 << 20)) {
      long before = library.calls("ibv_reg_mr");
      library.fail("ibv_reg_mr", EINVAL, 1, 1);
      try (MemoryRegion region = domain.register(memory, 0, 1 << 20, relaxed)) {
        assertThat(region.access()).isEqualTo(relaxed);
        assertThat(library.calls("ibv_reg_mr") - before).isEqualTo(2);
      }
      library.fail("ibv_reg_mr", EINVAL, 1, 1);
      assertThatThrownBy(() -> domain.register(memory, 0, 1 << 20, Set.of(AccessFlag.LOCAL_WRITE)))
          .isInstanceOf(VerbsException.class)
          .hasMessageContaining("errno=22");
    }
  }

  @Test
  void shouldRegisterAFileThatCannotBeWrittenWhereTheKernelPinsForReading() throws Exception {
    faulty = false;
    try (Device device = engine.open(ScriptedEngine.DEVICE)) {
      ProtectionDomain domain = device.allocateProtectionDomain();
      assertThat(domain.testReadOnlyFile(page(), PAGE_BYTES)).isTrue();
      assertThat(library.calls("ibv_dereg_mr")).isEqualTo(library.calls("ibv_reg_mr"));
    }
  }

  /** Linux before 6.2. */
  @Test
  void shouldTellAKernelThatPinsForWritingFromADeviceThatRefusesEverything() throws Exception {
    try (Device device = engine.open(ScriptedEngine.DEVICE)) {
      ProtectionDomain domain = device.allocateProtectionDomain();
      library.limit("write_pins", 1);
      assertThat(errnoOf(domain)).isEqualTo(VerbsException.EFAULT);
      domain.registerFile(page(), 0, PAGE_BYTES, Set.of(AccessFlag.REMOTE_READ)).close();

      library.limit("write_pins", 0);
      library.fail("ibv_reg_mr", EOPNOTSUPP, 1, 1);
      assertThat(errnoOf(domain)).isEqualTo(EOPNOTSUPP);
    }
  }

  private int errnoOf(ProtectionDomain domain) throws Exception {
    Path file = page();
    return catchThrowableOfType(
            VerbsException.class, () -> domain.testReadOnlyFile(file, PAGE_BYTES))
        .errno();
  }

  private Path page() throws IOException {
    return Files.write(folder.resolve("page"), new byte[PAGE_BYTES]);
  }
}
