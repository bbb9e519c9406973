// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.pinned;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.file.Path;
import java.util.Optional;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.sparkrdma.memory.PinnedBudget;
import org.sparkrdma.shuffle.settings.ExecutorNeeds;
import org.sparkrdma.verbs.Device;
import org.sparkrdma.verbs.VerbsEngine;
import org.sparkrdma.verbs.VerbsException;
import org.sparkrdma.verbs.ibverbs.ScriptedDevice;
import org.sparkrdma.verbs.ibverbs.ScriptedEngine;
import org.sparkrdma.verbs.ibverbs.ScriptedHost;
import org.sparkrdma.verbs.ibverbs.ffi.ScriptedLibrary;

/** The test at the start, on a scripted device that has few objects. */
@Tag("slow")
@Timeout(60)
class ObjectLimitTest {
  private static final int PAGE_BYTES = 4_096;
  private static final ExecutorNeeds NEEDS =
      new ExecutorNeeds(1_000, 53, 33, 100_000, (1 << 20) + 16_384);
  private static final int OBJECTS = 4;

  @RegisterExtension static final ScriptedDevice DEVICE = new ScriptedDevice();

  @TempDir private Path root;
  private ScriptedLibrary library;

  @BeforeEach
  void takeDevice() {
    library = DEVICE.library();
  }

  private void check() throws Exception {
    MachineMemory machine = MachineMemory.under(root, 1 << 30, 2);
    PinnedLimit limit =
        PinnedLimit.of(Optional.of(64L << 20), machine, SparkMemory.of(key -> null), true);
    try (VerbsEngine engine = new ScriptedHost(root).engine(library);
        Device device = engine.open(ScriptedEngine.DEVICE);
        PinnedBudget budget = new PinnedBudget(limit.bytes(), PAGE_BYTES)) {
      Preflight.check(device, budget, limit, machine, NEEDS);
      assertThat(budget.pinnedBytes()).isZero();
    }
  }

  @ParameterizedTest(name = "the control group allows {0} objects of the device")
  @ValueSource(ints = {1, OBJECTS - 1})
  void shouldNameTheRemedyWhenNotAllObjectsFitAtOnce(int objects) {
    library.limit("objects", objects);

    assertThatThrownBy(this::check)
        .isInstanceOf(VerbsException.class)
        .hasMessageContaining(" errno=11 ")
        .hasMessageContaining("raise hca_object in rdma.max of the group");
  }

  @Test
  @DisplayName("the control group allows as many objects as the first connection needs")
  void shouldPassWithExactlyWhatTheFirstConnectionNeeds() throws Exception {
    library.limit("objects", OBJECTS);
    library.limit("mr", 1);
    library.limit("qp", 1);

    check();
  }

  @Test
  @DisplayName("ibv_create_qp fails for ever with errno 12")
  void shouldRefuseADeviceWithoutAQueuePair() {
    library.fail("ibv_create_qp", 12, 1, ScriptedLibrary.FOR_EVER);

    assertThatThrownBy(this::check).hasMessageContaining("call=ibv_create_qp errno=12");
  }
}
