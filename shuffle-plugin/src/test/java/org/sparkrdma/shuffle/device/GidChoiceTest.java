// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.device;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.net.UnknownHostException;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalInt;
import org.junit.jupiter.api.Test;
import org.sparkrdma.verbs.device.DeviceInfo;
import org.sparkrdma.verbs.device.Gid;
import org.sparkrdma.verbs.device.GidType;
import org.sparkrdma.verbs.device.PortInfo;
import org.sparkrdma.verbs.device.PortState;

/** GIDs that select a port, and ports that have nothing else. */
class GidChoiceTest extends DeviceChoiceFixture {
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
