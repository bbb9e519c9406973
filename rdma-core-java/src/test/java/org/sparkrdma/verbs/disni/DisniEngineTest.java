// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.disni;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.InetAddress;
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
import org.sparkrdma.verbs.device.SysfsTree;
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
    String gids = "sys/class/infiniband/mlx5_0/ports/1/gids/";
    SysfsTree.unpack("mlx5-roce", root);
    SysfsTree.write(gids + "1=0000:0000:0000:0000:0000:0000:0000:0000", root);
    SysfsTree.write(gids + "3=0000:0000:0000:0000:0000:ffff:7f00:0001", root);

    DeviceInfo info = devices().get(0);

    assertThat(info.name()).isEqualTo("mlx5_0");
    assertThat(info.engine()).isEqualTo("disni");
    assertThat(info.transport()).isEqualTo(TransportType.INFINIBAND);
    PortInfo port = info.ports().get(0);
    assertThat(port.number()).isEqualTo(1);
    assertThat(port.state()).isEqualTo(PortState.ACTIVE);
    assertThat(port.gids())
        .containsExactly(
            new Gid(0, GidType.ROCE_V1, address("fe80000000000000ba3fd2fffe123457")),
            new Gid(2, GidType.ROCE_V1, address("0a020005")),
            new Gid(3, GidType.ROCE_V2, address("7f000001")));
    assertThat(port.addresses()).containsExactly(address("7f000001"));
  }

  @Test
  void shouldNotDeclareCapabilitiesThatDisniLacks() throws Exception {
    String siw = "sys/class/infiniband/siw0/";
    SysfsTree.write(siw + "node_type=4: RNIC", root);
    SysfsTree.write(siw + "ports/1/state=1: DOWN", root);
    SysfsTree.write(siw + "ports/1/link_layer=Ethernet", root);

    DeviceInfo info = devices().get(0);

    assertThat(info.transport()).isEqualTo(TransportType.IWARP);
    assertThat(info.ports().get(0).state()).isEqualTo(PortState.DOWN);
    assertThat(info.capabilities()).containsExactly(Capability.FILE_REGIONS);
    assertThat(info.limits().maxReadSge()).isEqualTo(1);
    assertThat(info.limits().maxPrivateDataBytes()).isZero();
  }

  @Test
  void shouldReportInfinibandForOtherLinksThanEthernet() throws Exception {
    SysfsTree.unpack("mlx5-infiniband", root);

    PortInfo port = devices().get(0).ports().get(0);

    assertThat(port.gids()).extracting(Gid::type).containsExactly(GidType.INFINIBAND);
  }

  private static InetAddress address(String hex) throws IOException {
    return InetAddress.getByAddress(HexFormat.of().parseHex(hex));
  }
}
