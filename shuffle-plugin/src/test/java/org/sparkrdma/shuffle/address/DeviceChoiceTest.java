// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.address;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.net.InetAddress;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.sparkrdma.verbs.VerbsException;
import org.sparkrdma.verbs.device.DeviceInfo;
import org.sparkrdma.verbs.device.TransportType;

/**
 * The device and port that an executor uses, the addresses of the port, and GIDs that select it;
 * and trials of the devices.
 */
class DeviceChoiceTest extends DeviceChoiceFixture {
  private final List<String> tried = new ArrayList<>();
  private final Set<String> sick = new HashSet<>();

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

  @ParameterizedTest
  @CsvSource(
      nullValues = "-",
      textBlock =
          """
          # one port of each device; network and GID asked for
          fd00::5 10.1.0.5,      -,           -, mlx5_0, 10.1.0.5
          fd00::5,               -,           -, mlx5_0, fd00::5
          10.0.0.5 + 10.1.0.5,   10.1.0.0/16, -, mlx5_1, 10.1.0.5
          fe80::5 fd00::5,       ::/0,        -, mlx5_0, fd00::5
          10.0.0.5 10.1.0.5,     -,           1, mlx5_0, 10.1.0.5
          """)
  void shouldTakeTheAddressThatIsAskedForOrThatFits(
      String ports, String network, Integer index, String name, String expected) throws Exception {
    address = Optional.ofNullable(network);
    gid = index == null ? OptionalInt.empty() : OptionalInt.of(index);
    List<DeviceInfo> present = new ArrayList<>();
    for (String port : ports.split(" \\+ ", -1)) {
      present.add(device("mlx5_" + present.size(), active(1, port.split(" ", -1))));
    }
    DeviceChoice choice = all(present).get(0);
    assertThat(choice.device().name()).isEqualTo(name);
    assertThat(address(choice)).isEqualTo(at(expected));
    assertThat(choice.addresses())
        .extracting(NetworkAddress::address)
        .noneMatch(InetAddress::isLinkLocalAddress);
  }

  @Test
  void shouldPassOverAddressesThatNoPeerCanReach() {
    assertThatThrownBy(() -> choose(device("rxe0", active(1, "fe80::1", "127.0.0.1"))))
        .isInstanceOf(VerbsException.class)
        .hasMessageContaining("rxe0 port 1 has no usable address")
        .hasMessageContaining("127.0.0.1");
  }

  // Trials.

  @Test
  void shouldNotMoveToASubnetWherePeersDoNotReachThisExecutor() {
    sick.add("a");

    assertThatThrownBy(() -> run("a 10.0.0.5", "b 10.1.0.6"))
        .isInstanceOf(VerbsException.class)
        .hasMessage("a is sick");

    assertThat(tried).containsExactly("a");
  }

  @Test
  void shouldTryOnlyDevicesThatTheSettingsAllow() {
    sick.add("a");
    devices = List.of("a");

    assertThatThrownBy(() -> run("a 10.0.0.5", "b 10.0.0.6")).hasMessage("a is sick");
  }

  private String run(String... named) throws Exception {
    trusted = true;
    sparkHost = named[0].substring(2);
    List<DeviceInfo> present = new ArrayList<>();
    for (String device : named) {
      present.add(device(device.substring(0, 1), active(1, device.substring(2))));
    }
    return DeviceTrials.run(
        all(present),
        choice -> {
          String name = choice.device().name();
          tried.add(name);
          if (sick.contains(name)) {
            throw new VerbsException("open", name + " is sick");
          }
          return name;
        },
        (failed, reason, next) -> {});
  }
}
