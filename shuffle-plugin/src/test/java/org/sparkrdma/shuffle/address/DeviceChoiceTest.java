// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.address;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.sparkrdma.verbs.VerbsException;
import org.sparkrdma.verbs.device.DeviceInfo;
import org.sparkrdma.verbs.device.TransportType;

/**
 * The device and port that an executor uses, the addresses of the port, and GIDs that select it.
 */
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
    DeviceInfo open = device("cxgb4_0", TransportType.IWARP, Set.of(), active(1, SPARK));
    DeviceInfo[] both = {open, device("mlx5_0", active(1, "10.1.0.5"))};

    assertThat(chosenBy(2, both)).containsOnly("mlx5_0");
    assertThat(choose(open).device().name()).as("the only one").isEqualTo("cxgb4_0");
    trusted = true;
    assertThat(choose(both).device().name()).isEqualTo("cxgb4_0");
  }

  @Test
  void shouldPreferTheFamilyThatSparkUses() throws Exception {
    DeviceChoice choice = choose(device("mlx5_0", active(1, "fd00::5", "10.1.0.5")));

    assertThat(address(choice)).isEqualTo(at("10.1.0.5"));
  }

  @Test
  void shouldTakeAnotherFamilyRatherThanNone() throws Exception {
    assertThat(address(choose(device("mlx5_0", active(1, "fd00::5"))))).isEqualTo(at("fd00::5"));
  }

  @Test
  void shouldPassOverAddressesThatNoPeerCanReach() {
    assertThatThrownBy(() -> choose(device("rxe0", active(1, "fe80::1", "127.0.0.1"))))
        .isInstanceOf(VerbsException.class)
        .hasMessageContaining("rxe0 port 1 has no usable address")
        .hasMessageContaining("127.0.0.1");
  }

  @Test
  void shouldTakeAnAddressInTheNetworkAskedFor() throws Exception {
    address = Optional.of("10.1.0.0/16");

    assertThat(
            choose(device("mlx5_0", active(1, SPARK)), device("mlx5_1", active(1, "10.1.0.5")))
                .device()
                .name())
        .isEqualTo("mlx5_1");
  }

  @Test
  void shouldNotUseLinkLocalAddressesBesideOthersOfThePort() throws Exception {
    address = Optional.of("::/0");

    assertThat(choose(device("mlx5_0", active(1, "fe80::5", "fd00::5"))).addresses())
        .extracting(NetworkAddress::address)
        .containsExactly(at("fd00::5"));
  }

  @Test
  void shouldTakeTheAddressOfTheGidAskedFor() throws Exception {
    gid = OptionalInt.of(1);

    assertThat(address(choose(device("mlx5_0", active(1, SPARK, "10.1.0.5")))))
        .isEqualTo(at("10.1.0.5"));
  }
}
