// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.device;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.sparkrdma.shuffle.address.NetworkAddress;
import org.sparkrdma.verbs.device.Capability;
import org.sparkrdma.verbs.device.DeviceInfo;
import org.sparkrdma.verbs.device.Gid;
import org.sparkrdma.verbs.device.GidType;
import org.sparkrdma.verbs.device.PortInfo;
import org.sparkrdma.verbs.device.PortState;
import org.sparkrdma.verbs.device.Transport;

/** GIDs that executors use, as addresses of InfiniBand ports and to select a port. */
class GidChoiceTest extends DeviceChoiceFixture {
  private static PortInfo infiniBand(int number, String... gids) throws UnknownHostException {
    return infiniBand(number, List.of(), gids);
  }

  private static PortInfo infiniBand(int number, List<InetAddress> addresses, String... gids)
      throws UnknownHostException {
    List<Gid> table = new ArrayList<>();
    for (String gid : gids) {
      table.add(new Gid(table.size(), GidType.INFINIBAND, at(gid)));
    }
    return new PortInfo(number, PortState.ACTIVE, 4_096, table, addresses);
  }

  private static DeviceInfo byGid(String name, PortInfo... ports) {
    return device(
        name,
        Transport.INFINIBAND,
        Set.of(Capability.QUEUE_PAIR_ACCESS, Capability.GID_ADDRESSES),
        ports);
  }

  private static NetworkAddress gidAddress(String gid) throws UnknownHostException {
    return NetworkAddress.ofGid(at(gid));
  }

  @Test
  void shouldSayThatAnInfiniBandPortNeedsAnIpAddressOnAnEngineWithoutGids() throws Exception {
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
  void shouldTakeTheFirstGidOfAnInfiniBandPortWithoutAnIpAddress() throws Exception {
    DeviceChoice choice =
        choose(byGid("mlx5_0", infiniBand(1, "fe80::2:c903:29:1", "fec0::2:c903:29:1")));

    assertThat(choice.addresses()).containsExactly(gidAddress("fe80::2:c903:29:1"));
    assertThat(choice.reason()).isEqualTo("its port is active, and has a GID but no IP address");
  }

  @Test
  void shouldTakeTheGidOfAnInfiniBandPortAskedFor() throws Exception {
    gid = OptionalInt.of(1);
    DeviceInfo device = byGid("mlx5_0", infiniBand(1, "fe80::2:c903:29:1", "fec0::2:c903:29:1"));

    assertThat(choose(device).addresses()).containsExactly(gidAddress("fec0::2:c903:29:1"));

    gid = OptionalInt.of(2);
    assertThatThrownBy(() -> choose(device)).hasMessageContaining("has no GID with index=2");
  }

  @Test
  void shouldTakeTheIpAddressOfAnInfiniBandPortThatHasOne() throws Exception {
    PortInfo both = infiniBand(1, List.of(at("10.1.0.5")), "fe80::2:c903:29:1");

    assertThat(choose(byGid("mlx5_0", both)).addresses())
        .containsExactly(new NetworkAddress(at("10.1.0.5"), 24));
  }

  /** It may get an address yet, as from DHCP. */
  @Test
  void shouldNotTakeAGidBesideALinkLocalAddress() throws Exception {
    PortInfo early = infiniBand(1, List.of(at("fe80::5")), "fe80::2:c903:29:1");

    assertThatThrownBy(() -> choose(byGid("mlx5_0", early)))
        .isInstanceOf(PortNotReadyException.class)
        .hasMessageContaining("has only link-local addresses");
  }

  @Test
  void shouldTakeNoGidThatListenAddressDoesNotSelect() throws Exception {
    DeviceInfo device = byGid("mlx5_0", infiniBand(1, "fe80::2:c903:29:1", "fec0::2:c903:29:1"));

    address = Optional.of("fec0::/64");
    assertThat(choose(device).addresses()).containsExactly(gidAddress("fec0::2:c903:29:1"));

    address = Optional.of("10.0.0.0/8");
    assertThatThrownBy(() -> choose(device))
        .hasMessageContaining("mlx5_0 port 1 has no IP address in this network namespace");
  }

  @Test
  void shouldTakeNoGidOfARocePort() throws Exception {
    Gid gidOfRoce = new Gid(0, GidType.ROCE_V2, at("fe80::2:c903:29:1"));
    PortInfo roce = new PortInfo(1, PortState.ACTIVE, 4_096, List.of(gidOfRoce), List.of());

    assertThatThrownBy(() -> choose(byGid("mlx5_0", roce)))
        .hasMessageContaining("mlx5_0 port 1 has no IP address");
  }

  @Test
  void shouldPreferAnyIpAddressToAGid() throws Exception {
    DeviceInfo gidOnly = byGid("mlx5_0", infiniBand(1, "fe80::2:c903:29:1"));

    assertThat(address(choose(gidOnly, device("mlx5_1", active(1, "fd00::5")))))
        .isEqualTo(at("fd00::5"));
  }

  /** The default prefix fe80::/64 is that of a whole fabric, not of one link. */
  @Test
  void shouldSpreadExecutorsOverGidsOfOneSubnet() throws Exception {
    DeviceInfo[] rails = {
      byGid("mlx5_0", infiniBand(1, "fe80::2:c903:29:1")),
      byGid("mlx5_1", infiniBand(1, "fe80::2:c903:30:1")),
      byGid("mlx5_2", infiniBand(1, "fec0::2:c903:31:1"))
    };

    assertThat(chosenBy(4, rails)).containsExactly("mlx5_0", "mlx5_1", "mlx5_0", "mlx5_1");
    routed = true;
    assertThat(chosenBy(4, rails))
        .as("no router joins GIDs")
        .containsExactly("mlx5_0", "mlx5_1", "mlx5_0", "mlx5_1");
  }

  @Test
  void shouldTakeTheAddressOfTheGidAskedFor() throws Exception {
    gid = OptionalInt.of(1);

    assertThat(address(choose(device("mlx5_0", active(1, SPARK, "10.1.0.5")))))
        .isEqualTo(at("10.1.0.5"));
  }
}
