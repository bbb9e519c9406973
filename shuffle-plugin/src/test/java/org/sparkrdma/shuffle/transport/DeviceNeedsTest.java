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
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
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
    assertThat(HelloPath.of(device(ENOUGH, 56))).isEqualTo(HelloPath.PRIVATE_DATA);
  }

  @ParameterizedTest
  @CsvSource({
    "QUEUE_PAIR_ACCESS, 56",
    "QUEUE_PAIR_ACCESS REJECT, 56",
    "QUEUE_PAIR_ACCESS REJECT ACCEPT_PRIVATE_DATA, 55"
  })
  void shouldUseADeviceWithoutPrivateDataOnATrustedFabricOnly(String can, int privateDataBytes) {
    Set<Capability> capabilities =
        Stream.of(can.split(" ")).map(Capability::valueOf).collect(Collectors.toSet());
    DeviceInfo device = device(capabilities, privateDataBytes);
    assertThat(HelloPath.of(device)).isEqualTo(HelloPath.SEND);
    assertThatCode(() -> DeviceNeeds.check(device, true)).doesNotThrowAnyException();
    assertThatThrownBy(() -> DeviceNeeds.check(device, false))
        .isInstanceOf(VerbsException.class)
        .hasMessageContaining("engine disni shows no private data")
        .hasMessageContaining("spark.shuffle.rdma.fabric.trusted=true");
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
        new TransportEnvironment(
            device, null, null, null, 0, 0, null, null, false, null, null, null);
    assertThatThrownBy(() -> RdmaTransport.open(null, null, environment))
        .isInstanceOf(VerbsException.class)
        .hasMessageContaining("before the peer is proven");
    assertThat(calls).containsOnly("info");
  }

  private static DeviceInfo device(Set<Capability> capabilities, int privateDataBytes) {
    return new DeviceInfo(
        "mlx5_0",
        "disni",
        Transport.INFINIBAND,
        1,
        new DeviceLimits(1, 1, 1, 1, 1, 1, 1, 1, 1, 0, privateDataBytes, 1),
        capabilities,
        List.of());
  }
}
