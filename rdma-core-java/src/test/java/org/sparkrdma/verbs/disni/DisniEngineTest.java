// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.disni;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.InetAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HexFormat;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.sparkrdma.verbs.device.Capability;
import org.sparkrdma.verbs.device.DeviceInfo;
import org.sparkrdma.verbs.device.Gid;
import org.sparkrdma.verbs.device.GidType;
import org.sparkrdma.verbs.device.PortInfo;
import org.sparkrdma.verbs.device.PortState;
import org.sparkrdma.verbs.device.TransportType;
import org.sparkrdma.verbs.engine.NetworkLinks;

/** Attributes of devices, from a directory like the kernel's. */
class DisniEngineTest {
  @TempDir private Path root;

  private List<DeviceInfo> devices() {
    return new DisniEngine(NetworkLinks.ofSystem(root)).devices();
  }

  @Test
  void shouldFindNoDeviceWithoutInfinibandInTheKernel() {
    assertThat(devices()).isEmpty();
  }

  @Test
  void shouldReportTheAttributesOfARoceDevice() throws Exception {
    write("mlx5_0/node_type", "1: CA");
    port("mlx5_0", "4: ACTIVE", "Ethernet");
    gid("mlx5_0", 0, "fe80:0000:0000:0000:0a00:27ff:fe6c:f701", "IB/RoCE v1", "lo");
    gid("mlx5_0", 1, "0000:0000:0000:0000:0000:0000:0000:0000", "", "");
    gid("mlx5_0", 2, "0000:0000:0000:0000:0000:ffff:7f00:0001", "RoCE v2", "lo");

    DeviceInfo info = devices().get(0);

    assertThat(info.name()).isEqualTo("mlx5_0");
    assertThat(info.engine()).isEqualTo("disni");
    assertThat(info.transport()).isEqualTo(TransportType.INFINIBAND);
    PortInfo port = info.ports().get(0);
    assertThat(port.number()).isEqualTo(1);
    assertThat(port.state()).isEqualTo(PortState.ACTIVE);
    assertThat(port.gids())
        .containsExactly(
            new Gid(0, GidType.ROCE_V1, address("fe800000000000000a0027fffe6cf701")),
            new Gid(2, GidType.ROCE_V2, address("7f000001")));
    assertThat(port.addresses()).containsExactly(address("7f000001"));
  }

  @Test
  void shouldNotDeclareCapabilitiesThatDisniLacks() throws Exception {
    write("siw0/node_type", "4: RNIC");
    port("siw0", "1: DOWN", "Ethernet");

    DeviceInfo info = devices().get(0);

    assertThat(info.transport()).isEqualTo(TransportType.IWARP);
    assertThat(info.ports().get(0).state()).isEqualTo(PortState.DOWN);
    assertThat(info.capabilities()).containsExactly(Capability.FILE_REGIONS);
    assertThat(info.limits().maxReadSge()).isEqualTo(1);
    assertThat(info.limits().maxPrivateDataBytes()).isZero();
  }

  @Test
  void shouldReportInfinibandForOtherLinksThanEthernet() throws Exception {
    write("mlx4_0/node_type", "1: CA");
    port("mlx4_0", "4: ACTIVE", "InfiniBand");
    gid("mlx4_0", 0, "fe80:0000:0000:0000:0a00:27ff:fe6c:f701", "IB/RoCE v1", "ib0");

    PortInfo port = devices().get(0).ports().get(0);

    assertThat(port.gids()).extracting(Gid::type).containsExactly(GidType.INFINIBAND);
  }

  private static InetAddress address(String hex) throws IOException {
    return InetAddress.getByAddress(HexFormat.of().parseHex(hex));
  }

  private void port(String device, String state, String link) throws IOException {
    write(device + "/ports/1/state", state);
    write(device + "/ports/1/link_layer", link);
  }

  private void gid(String device, int index, String gid, String type, String link)
      throws IOException {
    write(device + "/ports/1/gids/" + index, gid);
    write(device + "/ports/1/gid_attrs/types/" + index, type);
    write(device + "/ports/1/gid_attrs/ndevs/" + index, link);
  }

  private void write(String file, String content) throws IOException {
    Path path = root.resolve("sys/class/infiniband/" + file);
    Files.createDirectories(path.getParent());
    Files.writeString(path, content + "\n");
  }
}
