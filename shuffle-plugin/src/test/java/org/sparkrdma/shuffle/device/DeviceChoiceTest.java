// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.device;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.net.UnknownHostException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.sparkrdma.shuffle.address.NetworkAddress;
import org.sparkrdma.verbs.VerbsException;
import org.sparkrdma.verbs.device.DeviceInfo;
import org.sparkrdma.verbs.device.Gid;
import org.sparkrdma.verbs.device.GidType;
import org.sparkrdma.verbs.device.PortInfo;
import org.sparkrdma.verbs.device.PortState;
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
    DeviceInfo open = device("cxgb4_0", TransportType.IWARP, Set.of(), active(1, SPARK));
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

  private static PortInfo infiniBand(int number, String... gids) throws UnknownHostException {
    List<Gid> table = new ArrayList<>();
    for (String gid : gids) {
      table.add(new Gid(table.size(), GidType.INFINIBAND, at(gid)));
    }
    return new PortInfo(number, PortState.ACTIVE, 4_096, table, List.of());
  }

  @Test
  void shouldSayThatAnInfiniBandPortNeedsAnIpAddress() throws Exception {
    PortInfo withoutIpoib = infiniBand(1, "fe80::2:c903:29:1");

    assertThatThrownBy(() -> choose(device("mlx5_0", withoutIpoib)))
        .isInstanceOf(PortNotReadyException.class)
        .hasMessage(
            "no usable device: mlx5_0 port 1 has no IP address in this network namespace: give its"
                + " network interface one (modprobe ib_ipoib && ip link set ib0 up && ip addr add"
                + " ADDRESS/PREFIX dev ib0)"
                + " or give a container the network of its host");
    assertThat(address(choose(device("mlx5_0", withoutIpoib), device("mlx5_1", active(1, SPARK)))))
        .as("another device is used")
        .isEqualTo(at(SPARK));
  }

  @Test
  void shouldNameAGidThatThePortDoesNotHave() throws Exception {
    gid = OptionalInt.of(2);
    DeviceInfo device = device("mlx5_0", infiniBand(1, "fe80::2:c903:29:1"));

    assertThatThrownBy(() -> choose(device)).hasMessageContaining("has no GID with index=2");
  }

  @Test
  void shouldTakeTheAddressOfTheGidAskedFor() throws Exception {
    gid = OptionalInt.of(1);

    assertThat(address(choose(device("mlx5_0", active(1, SPARK, "10.1.0.5")))))
        .isEqualTo(at("10.1.0.5"));
  }
}
