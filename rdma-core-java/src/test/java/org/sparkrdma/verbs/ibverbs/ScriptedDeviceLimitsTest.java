// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.ibverbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.sparkrdma.verbs.Device;
import org.sparkrdma.verbs.device.Capability;

/** Low limits of the device, and capabilities that it lacks or has. */
class ScriptedDeviceLimitsTest extends ScriptedDeviceFixture {
  private static final int EINVAL = 22;

  @ParameterizedTest(name = "the device answers {0} READs at once")
  @CsvSource({"1, 1", "16, 16", "255, 255", "260, 4"})
  void shouldRequestNoMoreReadsThanTheDeviceAnswers(long limit, int expected) throws Exception {
    library.limit("rd_atom", limit);

    ScriptedExchange exchange = open();
    assertThat(exchange.device.info().limits().maxReadsInFlight()).isEqualTo(expected);
    exchange.run();
  }

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

  /** The device charges what queues and regions need; each limit has room for those before. */
  @ParameterizedTest(name = "at most {0} bytes may be locked")
  @CsvSource({
    "1000, ibv_create_cq failed: errno=12",
    "4000, ibv_reg_mr failed: errno=12",
    "11000, rdma_create_qp failed: errno=12"
  })
  void shouldNameTheCallThatExceedsTheLimitOfLockedMemory(long bytes, String message) {
    library.limit("memlock", bytes);

    assertThatThrownBy(this::run).hasMessageContaining(message);
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
  @DisplayName("a device that pages on demand refuses the timer of page faults")
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
}
