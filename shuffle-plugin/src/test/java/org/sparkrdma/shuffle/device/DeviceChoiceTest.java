// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.device;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.sparkrdma.shuffle.address.HostAddresses;
import org.sparkrdma.shuffle.address.NetworkAddress;
import org.sparkrdma.shuffle.settings.DeviceSelector;
import org.sparkrdma.verbs.VerbsException;
import org.sparkrdma.verbs.device.Capability;
import org.sparkrdma.verbs.device.DeviceInfo;
import org.sparkrdma.verbs.device.DeviceLimits;
import org.sparkrdma.verbs.device.Gid;
import org.sparkrdma.verbs.device.GidType;
import org.sparkrdma.verbs.device.PortInfo;
import org.sparkrdma.verbs.device.PortState;
import org.sparkrdma.verbs.device.Transport;

class DeviceChoiceTest {
  private static final String SPARK = "10.0.0.5";

  private List<String> devices = List.of();
  private OptionalInt port = OptionalInt.empty();
  private OptionalInt gid = OptionalInt.empty();
  private Optional<GidType> gidType = Optional.empty();
  private Optional<String> address = Optional.empty();
  private String sparkHost = SPARK;
  private Set<InetAddress> shortLived = Set.of();
  private boolean routed;
  private boolean trusted;
  private int spread;

  @Test
  void shouldTakeTheAddressThatSparkListensOn() throws Exception {
    DeviceChoice choice =
        choose(device("mlx5_0", active(1, "10.1.0.5")), device("mlx5_1", active(1, SPARK)));

    assertThat(choice.device().name()).isEqualTo("mlx5_1");
    assertThat(address(choice)).isEqualTo(at(SPARK));
    assertThat(choice.reason()).contains("Spark's own address");
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
            "no usable device: mlx5_0 port 1 has no IP address in this network namespace, and engine"
                + " test does not connect by GID here: give the port's IPoIB interface one (modprobe"
                + " ib_ipoib && ip link set ib0 up && ip addr add ADDRESS/PREFIX dev ib0)"
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
        .hasMessageContaining("and the settings select none of its GIDs: give");
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
  void shouldSayThatARocePortNeedsAnIpAddress() throws Exception {
    Gid gid = new Gid(0, GidType.ROCE_V2, at("fe80::2:c903:29:1"));
    PortInfo withoutAddress = new PortInfo(1, PortState.ACTIVE, 4_096, List.of(gid), List.of());

    assertThatThrownBy(() -> choose(device("mlx5_0", withoutAddress)))
        .hasMessageContaining("mlx5_0 port 1 has no IP address")
        .hasMessageContaining("give its network interface one (ip link set INTERFACE up")
        .hasMessageNotContaining("IPoIB");
  }

  @Test
  void shouldTakeALoopbackAddressWhereSparkDoes() throws Exception {
    sparkHost = "127.0.0.1";

    assertThat(address(choose(device("soft0", active(1, "127.0.0.1"))))).isEqualTo(at("127.0.0.1"));
  }

  @Test
  void shouldPassOverPortsThatAreDown() throws Exception {
    DeviceChoice choice = choose(device("mlx5_0", down(1, SPARK), active(2, "10.1.0.5")));

    assertThat(choice.port()).isEqualTo(2);
    assertThatThrownBy(() -> choose(device("mlx5_0", down(1, SPARK))))
        .hasMessageContaining("mlx5_0 port 1 is not active: state=DOWN");
  }

  @Test
  void shouldSpreadExecutorsOverDevicesOfOneSubnetThatAreEquallyGood() throws Exception {
    DeviceInfo[] two = {
      device("mlx5_0", active(1, "10.1.0.5")), device("mlx5_1", active(1, "10.1.0.6"))
    };

    assertThat(chosenBy(4, two)).containsExactly("mlx5_0", "mlx5_1", "mlx5_0", "mlx5_1");
  }

  @Test
  void shouldUseTheLowestOfSeveralSubnetsInAllExecutors() throws Exception {
    DeviceInfo[] two = {
      device("mlx5_0", active(1, "10.2.0.5")), device("mlx5_1", active(1, "10.1.0.200"))
    };

    assertThat(chosenBy(3, two)).containsOnly("mlx5_1");
    assertThat(choose(two).reason()).contains("in another subnet: mlx5_0", "rails.routed");
  }

  @Test
  void shouldUseTheSubnetWhereSparkListensOfTheDevicesAskedFor() throws Exception {
    devices = List.of("mlx5_0", "mlx5_1", "mlx5_2");
    sparkHost = "10.2.0.5";
    DeviceInfo[] three = {
      device("mlx5_0", active(1, "10.1.0.5")),
      device("mlx5_1", active(1, "10.2.0.5")),
      device("mlx5_2", active(1, "10.2.0.6"))
    };

    assertThat(chosenBy(3, three)).containsExactly("mlx5_1", "mlx5_2", "mlx5_1");
  }

  @Test
  void shouldSpreadExecutorsOverSubnetsThatARouterJoins() throws Exception {
    routed = true;
    DeviceInfo[] two = {
      device("mlx5_0", active(1, "10.1.0.5")), device("mlx5_1", active(1, "10.2.0.5"))
    };

    assertThat(chosenBy(4, two)).containsExactly("mlx5_0", "mlx5_1", "mlx5_0", "mlx5_1");
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
  void shouldSpreadExecutorsOverTheDevicesAskedForEvenIfSparkUsesOneOfThem() throws Exception {
    devices = List.of("mlx5_0", "mlx5_1");
    DeviceInfo[] three = {
      device("mlx5_0", active(1, SPARK)),
      device("mlx5_1", active(1, "10.0.0.6")),
      device("mlx5_2", active(1, "10.0.0.7"))
    };

    assertThat(chosenBy(3, three)).containsExactly("mlx5_0", "mlx5_1", "mlx5_0");
  }

  @Test
  void shouldSpreadExecutorsOverASubnetInWhichOneDeviceHasSparksOwnAddress() throws Exception {
    DeviceInfo[] four = {
      device("mlx5_0", active(1, SPARK)),
      device("mlx5_1", active(1, "10.0.0.6")),
      device("mlx5_2", active(1, "10.1.0.7")),
      device("mlx5_3", active(1, "fd00::8"))
    };

    assertThat(chosenBy(3, four)).containsExactly("mlx5_0", "mlx5_1", "mlx5_0");
    spread = 1;
    assertThat(choose(four).reason())
        .isEqualTo(
            "its port is active and has an address of Spark's address family, one of mlx5_0 mlx5_1;"
                + " not used, because they are in another subnet: mlx5_2"
                + " (where a router joins the subnets,"
                + " spark.shuffle.rdma.rails.routed=true uses them)");
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
    port = OptionalInt.of(2);
    assertThatThrownBy(() -> choose(device("mlx5_0", down(1, SPARK))))
        .as("no port is selected")
        .isNotInstanceOf(PortNotReadyException.class);
    port = OptionalInt.empty();
    devices = List.of("mlx5_9");
    assertThatThrownBy(() -> choose(device("mlx5_0", down(1, SPARK))))
        .as("no device is selected")
        .isNotInstanceOf(PortNotReadyException.class);
  }

  @Test
  void shouldNotSpreadExecutorsOverDevicesThatCannotConnectToEachOther() throws Exception {
    trusted = true;
    DeviceInfo iwarp = device("cxgb4_0", Transport.IWARP, Set.of(), active(1, "10.0.0.6"));

    assertThat(chosenBy(2, device("mlx5_0", active(1, SPARK)), iwarp)).containsOnly("mlx5_0");
  }

  @Test
  void shouldPreferADeviceThatGivesNoAccessBeforeAPeerIsProven() throws Exception {
    DeviceInfo open = device("cxgb4_0", Transport.IWARP, Set.of(), active(1, SPARK));
    DeviceInfo[] both = {open, device("mlx5_0", active(1, "10.1.0.5"))};

    assertThat(chosenBy(2, both)).containsOnly("mlx5_0");
    assertThat(choose(both).reason())
        .endsWith("; not used without spark.shuffle.rdma.fabric.trusted=true: cxgb4_0");
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
  void shouldTakeThePortAskedFor() throws Exception {
    port = OptionalInt.of(2);

    assertThat(address(choose(device("mlx5_0", active(1, SPARK), active(2, "10.1.0.5")))))
        .isEqualTo(at("10.1.0.5"));
  }

  @Test
  void shouldTakeTheAddressOfTheGidAskedFor() throws Exception {
    gid = OptionalInt.of(1);

    assertThat(address(choose(device("mlx5_0", active(1, SPARK, "10.1.0.5")))))
        .isEqualTo(at("10.1.0.5"));
  }

  @Test
  void shouldRefuseAGidOfTheWrongType() {
    gidType = Optional.of(GidType.ROCE_V1);

    assertThatThrownBy(() -> choose(device("mlx5_0", active(1, SPARK))))
        .hasMessageContaining("mlx5_0 port 1 has no GID with index=any and type=ROCE_V1");
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
  void shouldNotSpreadExecutorsOverLinksThatLookAlike() throws Exception {
    address = Optional.of("::/0");
    routed = true;
    DeviceInfo[] links = {
      device("mlx5_0", active(1, "fe80::5")), device("mlx5_1", active(1, "fe80::6"))
    };

    assertThat(chosenBy(3, links)).containsOnly("mlx5_0");
    assertThat(chosenBy(2, links[0], links[1], device("mlx5_2", active(1, "fd00::5"))))
        .as("a device with an address that names its network")
        .containsOnly("mlx5_2");
  }

  @Test
  void shouldNameAnAddressThatIsNone() {
    address = Optional.of("10.1.0.0/99");

    assertThatThrownBy(() -> choose(device("mlx5_0", active(1, SPARK))))
        .isInstanceOf(VerbsException.class)
        .hasMessageContaining("cannot use address=10.1.0.0/99");
  }

  @Test
  void shouldNotUseShortLivedAddressesBesideOthers() throws Exception {
    shortLived = Set.of(at("fd00::66"), at("fd00::67"));

    DeviceChoice choice =
        choose(device("mlx5_0", active(1, "fd00::66", "fd00::5", "fd00::67", "10.1.0.5")));

    assertThat(choice.addresses())
        .extracting(NetworkAddress::address)
        .containsExactly(at("10.1.0.5"), at("fd00::5"));
  }

  @Test
  void shouldUseAShortLivedAddressThatIsTheOnlyOneOrSparks() throws Exception {
    shortLived = Set.of(at("fd00::66"), at("fd00::67"));

    assertThat(address(choose(device("mlx5_0", active(1, "fd00::66"))))).isEqualTo(at("fd00::66"));

    assertThat(choose(device("mlx5_0", active(1, "fd00::66", "10.1.0.5"))).addresses())
        .as("the only one of its family")
        .extracting(NetworkAddress::address)
        .containsExactly(at("10.1.0.5"), at("fd00::66"));

    sparkHost = "fd00::67";
    assertThat(address(choose(device("mlx5_0", active(1, "fd00::5", "fd00::67")))))
        .isEqualTo(at("fd00::67"));
  }

  private DeviceChoice choose(DeviceInfo... present) throws VerbsException, UnknownHostException {
    return DeviceChoice.of(
        List.of(present),
        new DeviceSelector(
            devices, port, gid, gidType, address, at(sparkHost), routed, trusted, spread),
        new HostAddresses() {
          @Override
          public NetworkAddress network(InetAddress own) {
            return new NetworkAddress(own, own.getAddress().length == 4 ? 24 : 64);
          }

          @Override
          public boolean isShortLived(InetAddress own) {
            return shortLived.contains(own);
          }
        });
  }

  private static InetAddress address(DeviceChoice choice) {
    return choice.addresses().get(0).address();
  }

  /** Names of the devices that this number of executors of a host chooses. */
  private List<String> chosenBy(int executors, DeviceInfo... present) throws Exception {
    List<String> chosen = new ArrayList<>();
    for (spread = 0; spread < executors; spread++) {
      chosen.add(choose(present).device().name());
    }
    return chosen;
  }

  private static DeviceInfo device(String name, PortInfo... ports) {
    return device(name, Transport.INFINIBAND, Set.of(Capability.QUEUE_PAIR_ACCESS), ports);
  }

  private static DeviceInfo device(
      String name, Transport transport, Set<Capability> capabilities, PortInfo... ports) {
    return new DeviceInfo(
        name,
        "test",
        transport,
        1,
        new DeviceLimits(1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 56, 1),
        capabilities,
        List.of(ports));
  }

  private static PortInfo active(int number, String... addresses) throws UnknownHostException {
    return port(number, PortState.ACTIVE, addresses);
  }

  private static PortInfo down(int number, String... addresses) throws UnknownHostException {
    return port(number, PortState.DOWN, addresses);
  }

  private static PortInfo port(int number, PortState state, String... texts)
      throws UnknownHostException {
    List<InetAddress> addresses = new ArrayList<>();
    List<Gid> gids = new ArrayList<>();
    for (String text : Arrays.asList(texts)) {
      addresses.add(at(text));
      gids.add(new Gid(gids.size(), GidType.ROCE_V2, at(text)));
    }
    return new PortInfo(number, state, 4_096, gids, addresses);
  }

  private static InetAddress at(String text) throws UnknownHostException {
    return InetAddress.getByName(text);
  }
}
