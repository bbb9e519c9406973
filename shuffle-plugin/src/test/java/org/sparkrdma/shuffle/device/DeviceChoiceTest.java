// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.device;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.sparkrdma.verbs.device.DeviceInfo;
import org.sparkrdma.verbs.device.Transport;

class DeviceChoiceTest extends DeviceChoiceFixture {
  @Test
  void shouldTakeTheAddressThatSparkListensOn() throws Exception {
    DeviceChoice choice =
        choose(device("mlx5_0", active(1, "10.1.0.5")), device("mlx5_1", active(1, SPARK)));

    assertThat(choice.device().name()).isEqualTo("mlx5_1");
    assertThat(address(choice)).isEqualTo(at(SPARK));
    assertThat(choice.reason()).contains("Spark's own address");
  }

  @Test
  void shouldPassOverPortsThatAreDown() throws Exception {
    DeviceChoice choice = choose(device("mlx5_0", down(1, SPARK), active(2, "10.1.0.5")));

    assertThat(choice.port()).isEqualTo(2);
    assertThatThrownBy(() -> choose(device("mlx5_0", down(1, SPARK))))
        .hasMessageContaining("mlx5_0 port 1 is not active: state=DOWN");
  }

  @Test
  void shouldReportASelectedPortThatMayBecomeReadyByItsOwnException() {
    assertThatThrownBy(() -> choose(device("mlx5_0", down(1, SPARK))))
        .isInstanceOf(PortNotReadyException.class);
    assertThatThrownBy(() -> choose(device("mlx5_0", down(1, SPARK), active(2))))
        .as("the other port is active without an address")
        .isInstanceOf(PortNotReadyException.class);
    assertThatThrownBy(() -> choose(device("mlx5_0", active(1))))
        .as("no address yet")
        .isInstanceOf(PortNotReadyException.class);
    assertThatThrownBy(() -> choose(device("mlx5_0", active(1, "fe80::1"))))
        .as("an IPv6 interface before DHCP")
        .isInstanceOf(PortNotReadyException.class);
    devices = List.of("mlx5_9");
    assertThatThrownBy(() -> choose(device("mlx5_0", down(1, SPARK))))
        .as("no device is selected")
        .isNotInstanceOf(PortNotReadyException.class);
  }

  @Test
  void shouldPreferADeviceThatGivesNoAccessBeforeAPeerIsProven() throws Exception {
    DeviceInfo open = device("cxgb4_0", Transport.IWARP, Set.of(), active(1, SPARK));
    DeviceInfo[] both = {open, device("mlx5_0", active(1, "10.1.0.5"))};

    assertThat(chosenBy(2, both)).containsOnly("mlx5_0");
    assertThat(choose(open).device().name()).as("the only one").isEqualTo("cxgb4_0");
    trusted = true;
    assertThat(choose(both).device().name()).isEqualTo("cxgb4_0");
  }

  @Test
  void shouldNameARequestedDeviceThatIsMissing() {
    devices = List.of("mlx5_9");

    assertThatThrownBy(() -> choose(device("mlx5_0", active(1, SPARK))))
        .hasMessageContaining("mlx5_0 is not in spark.shuffle.rdma.device")
        .hasMessageContaining("mlx5_9 does not exist");
  }
}
