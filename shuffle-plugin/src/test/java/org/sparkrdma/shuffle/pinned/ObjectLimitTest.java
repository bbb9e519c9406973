// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.pinned;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.file.Path;
import java.util.List;
import java.util.Map;
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
      new ExecutorNeeds(1_000, 53, 33, 100_000, 14, 16_384, 1 << 20);
  private static final int REGIONS = 16;

  @RegisterExtension static final ScriptedDevice DEVICE = new ScriptedDevice();

  @TempDir private Path root;
  private ScriptedLibrary library;

  @BeforeEach
  void takeDevice() {
    library = DEVICE.library();
  }

  /** Runs the test on a machine whose control group has this line in rdma.max. */
  private void check(String limits) throws Exception {
    ScriptedHost host = new ScriptedHost(root).inControlGroup(limits);
    MachineMemory machine = MachineMemory.under(root, 1 << 30, 2);
    PinnedLimit limit =
        PinnedLimit.of(Optional.of(64L << 20), machine, SparkMemory.of(key -> null), true);
    try (VerbsEngine engine = host.engine(library);
        Device device = engine.open(ScriptedEngine.DEVICE);
        PinnedBudget budget = new PinnedBudget(limit.bytes(), PAGE_BYTES)) {
      new Preflight(Map.of(), root).check(device, budget, limit, machine, NEEDS);
      assertThat(budget.pinnedBytes()).isZero();
    }
  }

  @ParameterizedTest(name = "the control group allows {0} objects of the device")
  @ValueSource(ints = {3, 5, 10, 19})
  void shouldNameTheLimitAndTheRemedyWhenNotAllObjectsFitAtOnce(int objects) {
    library.limit("objects", objects);

    assertThatThrownBy(() -> check("scripted0 hca_handle=max hca_object=" + objects))
        .isInstanceOf(VerbsException.class)
        .hasMessageStartingWith(
            "the control group allows hca_object="
                + objects
                + " RDMA objects of device scripted0, and an executor needs at least 20 at the same"
                + " time and three more for each connection: write \"scripted0 hca_object=max\""
                + " into rdma.max of the group: call=ibv_")
        .hasMessageEndingWith("errno=11");
  }

  @Test
  @DisplayName("the control group allows as many objects as an executor needs")
  void shouldPassWithExactlyWhatAnExecutorNeeds() throws Exception {
    library.limit("objects", NEEDS.objects());

    check("scripted0 hca_handle=max hca_object=" + NEEDS.objects());
  }

  @ParameterizedTest(name = "the device has room for too few memory regions ({0})")
  @ValueSource(ints = {1, REGIONS - 1})
  void shouldRefuseADeviceWithFewerRegions(int regions) {
    library.limit("mr", regions);

    assertThatThrownBy(() -> check("scripted0 hca_object=max"))
        .hasMessageContaining("call=ibv_reg_mr errno=12");
  }

  @Test
  @DisplayName("the device has room for the regions and queue pairs that an executor needs")
  void shouldPassWithExactlyTheRegionsAndQueuePairsThatAnExecutorNeeds() throws Exception {
    library.limit("mr", REGIONS);
    library.limit("qp", 1);

    check("scripted0 hca_object=max");
  }

  @Test
  @DisplayName("ibv_create_qp fails for ever with errno 12")
  void shouldRefuseADeviceWithoutAQueuePair() {
    library.fail("ibv_create_qp", 12, 1, ScriptedLibrary.FOR_EVER);

    assertThatThrownBy(() -> check("")).hasMessageContaining("call=ibv_create_qp errno=12");
  }

  @Test
  void shouldTakeTheLowestLimitOfTheDevice() {
    assertThat(
            ObjectLimit.of(
                "mlx5_0",
                List.of(
                    "mlx5_1 hca_handle=2 hca_object=7",
                    "mlx5_0 hca_handle=2 hca_object=max",
                    "mlx5_0 hca_handle=2 hca_object=90",
                    "mlx5_0 hca_handle=2 hca_object=50")))
        .contains(new ObjectLimit("mlx5_0", 50));
    assertThat(ObjectLimit.of("mlx5_0", List.of("mlx5_0 hca_object=max", "", "x"))).isEmpty();
  }
}
