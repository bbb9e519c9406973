// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.ibverbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.sparkrdma.verbs.AccessFlag;
import org.sparkrdma.verbs.Device;
import org.sparkrdma.verbs.HostMemory;
import org.sparkrdma.verbs.MemoryRegion;
import org.sparkrdma.verbs.ProtectionDomain;
import org.sparkrdma.verbs.VerbsEngine;
import org.sparkrdma.verbs.VerbsException;
import org.sparkrdma.verbs.device.TransportType;
import org.sparkrdma.verbs.engine.RegionAccess;
import org.sparkrdma.verbs.ibverbs.ffi.ScriptedLibrary;

/** The hint of relaxed ordering, on a device whose calls fail as the test says. */
@Timeout(60)
class RelaxedOrderingTest {
  private static final int EINVAL = 22;
  private static final String CALL = "ibv_reg_mr";
  private static final Set<AccessFlag> RELAXED =
      Set.of(AccessFlag.LOCAL_WRITE, AccessFlag.RELAXED_ORDERING);

  @Test
  void shouldRegisterWithoutTheHintWhereItIsRefused() throws Exception {
    ScriptedLibrary library = ScriptedLibrary.load();
    library.reset();
    try (VerbsEngine engine = ScriptedEngine.over(library);
        Device device = engine.open(ScriptedEngine.DEVICE);
        ProtectionDomain domain = device.allocateProtectionDomain();
        HostMemory memory = device.allocate(1 << 20)) {
      long before = library.calls(CALL);
      library.fail(CALL, EINVAL, 1, 1);
      try (MemoryRegion region = domain.register(memory, 0, 1 << 20, RELAXED)) {
        assertThat(region.access()).isEqualTo(RELAXED);
        assertThat(library.calls(CALL) - before).isEqualTo(2);
      }
      library.fail(CALL, EINVAL, 1, 1);
      assertThatThrownBy(() -> domain.register(memory, 0, 1 << 20, Set.of(AccessFlag.LOCAL_WRITE)))
          .isInstanceOf(VerbsException.class)
          .hasMessageContaining("errno=22");
    } finally {
      library.reset();
    }
  }

  @Test
  void shouldPassTheHintBesideTheAccessThatATransportNeeds() {
    int relaxed = RegionAccess.RELAXED_ORDERING;
    assertThat(RegionAccess.bits(TransportType.INFINIBAND, RELAXED)).isEqualTo(relaxed | 1);
    assertThat(RegionAccess.bits(TransportType.IWARP, RELAXED)).isEqualTo(relaxed | 1 | 2);
  }
}
