// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.ibverbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.sparkrdma.verbs.VerbsException;
import org.sparkrdma.verbs.device.DeviceInfo;
import org.sparkrdma.verbs.device.DeviceLimits;
import org.sparkrdma.verbs.device.Transport;

class DeviceScanTest {
  private static final long FAULTY = 100;

  @Test
  void shouldSkipADeviceThatFails() throws Exception {
    List<DeviceInfo> devices = new DeviceScan().run(List.of(1L, FAULTY, 2L), DeviceScanTest::query);

    assertThat(devices).extracting(DeviceInfo::name).containsExactly("test1", "test2");
  }

  @Test
  void shouldGiveEveryReasonWhenAllDevicesFail() {
    assertThatThrownBy(
            () -> new DeviceScan().run(List.of(FAULTY, FAULTY + 1), DeviceScanTest::query))
        .isInstanceOf(VerbsException.class)
        .hasMessageContaining("device=test100")
        .hasMessageContaining("device=test101");
  }

  @Test
  void shouldFindNoDeviceOnAMachineWithoutAny() throws Exception {
    assertThat(new DeviceScan().run(List.of(), DeviceScanTest::query)).isEmpty();
  }

  private static DeviceInfo query(long context) throws VerbsException {
    String name = "test" + context;
    if (context >= FAULTY) {
      throw new VerbsException("ibv_query_port", "ibv_query_port failed: device=" + name);
    }
    return new DeviceInfo(
        name,
        "test",
        Transport.INFINIBAND,
        context,
        new DeviceLimits(1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 56, 1),
        Set.of(),
        List.of());
  }
}
