// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.device;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.sparkrdma.shuffle.address.NetworkAddress;
import org.sparkrdma.verbs.VerbsException;
import org.sparkrdma.verbs.device.DeviceInfo;

/** The addresses that executors use of those of a port. */
class AddressChoiceTest extends DeviceChoiceFixture {
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
  void shouldTakeALoopbackAddressWhereSparkDoes() throws Exception {
    sparkHost = "127.0.0.1";

    assertThat(address(choose(device("soft0", active(1, "127.0.0.1"))))).isEqualTo(at("127.0.0.1"));
  }

  @Test
  void shouldSendPeersAllAddressesOfThePortThatTheyMayUse() throws Exception {
    DeviceChoice choice =
        choose(
            device(
                "mlx5_0",
                active(1, "fd00::5", "10.1.0.5", "fe80::1", SPARK),
                active(2, "10.3.0.5")));

    assertThat(choice.addresses())
        .extracting(NetworkAddress::toString)
        .containsExactly("10.0.0.5/24", "10.1.0.5/24", "fd00:0:0:0:0:0:0:5/64");
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

  /** They look alike on every link, so a peer cannot know which link an address is on. */
  @Test
  void shouldRefuseADeviceWithLinkLocalAddressesOnlyUnlessTheyAreSelected() throws Exception {
    DeviceInfo device = device("mlx5_0", active(1, "fe80::5"));

    assertThatThrownBy(() -> choose(device))
        .isInstanceOf(VerbsException.class)
        .hasMessage(
            "no usable device: mlx5_0 port 1 has only link-local addresses, which are in one"
                + " subnet on every link: addresses=fe80:0:0:0:0:0:0:5: give its network interface another"
                + " one (ip addr add ADDRESS/PREFIX dev INTERFACE), or where all hosts are on one"
                + " link, set spark.shuffle.rdma.listen.address=fe80::/10");
    assertThatThrownBy(() -> choose(device("mlx5_0", active(1, "169.254.3.4"))))
        .hasMessageEndingWith("set spark.shuffle.rdma.listen.address=169.254.0.0/16");

    address = Optional.of("fe80::/10");
    assertThat(address(choose(device))).isEqualTo(at("fe80::5"));
  }

  @Test
  void shouldNotUseLinkLocalAddressesBesideOthersOfThePort() throws Exception {
    address = Optional.of("::/0");

    assertThat(choose(device("mlx5_0", active(1, "fe80::5", "fd00::5"))).addresses())
        .extracting(NetworkAddress::address)
        .containsExactly(at("fd00::5"));
  }

  @Test
  void shouldNameAnAddressThatIsNone() {
    address = Optional.of("10.1.0.0/99");

    assertThatThrownBy(() -> choose(device("mlx5_0", active(1, SPARK))))
        .isInstanceOf(VerbsException.class)
        .hasMessageContaining("cannot use address=10.1.0.0/99");
  }
}
