// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.transport;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.sparkrdma.verbs.Device;
import org.sparkrdma.verbs.VerbsException;
import org.sparkrdma.verbs.device.Capability;
import org.sparkrdma.verbs.device.DeviceInfo;
import org.sparkrdma.verbs.device.DeviceLimits;
import org.sparkrdma.verbs.device.Transport;

/** Devices on which peers could not prove who they are. */
class DeviceNeedsTest {
  private static final Set<Capability> ENOUGH =
      EnumSet.of(Capability.ACCEPT_PRIVATE_DATA, Capability.REJECT, Capability.QUEUE_PAIR_ACCESS);

  @Test
  void shouldTakeADeviceThatCarriesTheProofBothWays() {
    assertThatCode(() -> DeviceNeeds.check(device(ENOUGH, 56), false)).doesNotThrowAnyException();
  }

  @Test
  void shouldNameAllThatIsMissing() {
    assertThatThrownBy(() -> DeviceNeeds.check(device(Set.of(Capability.FILE_REGIONS), 0), true))
        .isInstanceOf(VerbsException.class)
        .hasMessageContaining("engine disni")
        .hasMessageContaining("device mlx5_0")
        .hasMessageContaining("ACCEPT_PRIVATE_DATA, REJECT, private data of 56 bytes (it has 0)");
  }

  @Test
  void shouldNameTheOneThatIsMissing() {
    assertThatThrownBy(() -> DeviceNeeds.check(device(EnumSet.of(Capability.REJECT), 56), true))
        .hasMessageEndingWith("device mlx5_0 lacks ACCEPT_PRIVATE_DATA");
    assertThatThrownBy(() -> DeviceNeeds.check(device(ENOUGH, 55), true))
        .hasMessageEndingWith("lacks private data of 56 bytes (it has 55)");
  }

  @Test
  void shouldUseADeviceThatCannotWithholdAccessOnATrustedFabricOnly() {
    DeviceInfo device = device(EnumSet.of(Capability.ACCEPT_PRIVATE_DATA, Capability.REJECT), 56);
    assertThatCode(() -> DeviceNeeds.check(device, true)).doesNotThrowAnyException();
    assertThatThrownBy(() -> DeviceNeeds.check(device, false))
        .isInstanceOf(VerbsException.class)
        .hasMessageContaining("device mlx5_0")
        .hasMessageContaining("before the peer is proven")
        .hasMessageContaining("spark.shuffle.rdma.fabric.trusted=true");
  }

  @Test
  void shouldOpenNothingOnADeviceThatLacksSomething() {
    List<String> calls = new ArrayList<>();
    Device device =
        (Device)
            Proxy.newProxyInstance(
                Device.class.getClassLoader(),
                new Class<?>[] {Device.class},
                (proxy, method, arguments) -> {
                  calls.add(method.getName());
                  return device(Set.of(), 0);
                });
    var environment =
        new RdmaTransport.Environment(
            device, null, null, null, null, 0, null, null, false, null, null, null);
    assertThatThrownBy(() -> RdmaTransport.open(null, null, environment))
        .isInstanceOf(VerbsException.class)
        .hasMessageContaining("cannot keep strangers out");
    assertThat(calls).containsOnly("info");
  }

  private static DeviceInfo device(Set<Capability> capabilities, int privateDataBytes) {
    return new DeviceInfo(
        "mlx5_0",
        "disni",
        Transport.INFINIBAND,
        1,
        new DeviceLimits(1, 1, 1, 1, 1, 1, 1, 1, 1, 0, privateDataBytes),
        capabilities,
        List.of());
  }
}
