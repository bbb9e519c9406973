// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.ibverbs;

import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeFalse;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.sparkrdma.verbs.device.DeviceInfo;
import org.sparkrdma.verbs.device.DeviceLimits;
import org.sparkrdma.verbs.device.PortInfo;
import org.sparkrdma.verbs.device.PortState;
import org.sparkrdma.verbs.device.SysfsTree;
import org.sparkrdma.verbs.device.TransportType;
import org.sparkrdma.verbs.spi.EngineUnavailableException;

/** Reasons why the engine cannot run on a machine. */
class MachineTest {
  private static final String DEVICE = "sys/class/infiniband/mlx5_0=";
  private static final String NODE = "dev/infiniband/uverbs0";

  @TempDir private Path root;

  private void assertReason(String files, String part) throws IOException {
    SysfsTree.write(files.replace(' ', '\n'), root);
    assertThatThrownBy(() -> new Machine(root).checkDevices())
        .isInstanceOf(EngineUnavailableException.class)
        .hasMessageContaining(part);
  }

  @ParameterizedTest
  @CsvSource({
    "'', no RDMA device",
    "'', the PCI bus has no network card of a vendor with RDMA",
    DEVICE + ", --device=/dev/infiniband",
    DEVICE + " " + NODE + "=, rdma_ucm"
  })
  void shouldReportWhatAMachineWithTheseFilesLacks(String files, String reason) throws Exception {
    assertReason(files, reason);
  }

  @Test
  void shouldReportACardWithoutItsDriver() throws Exception {
    String bridge = "sys/bus/pci/devices/0000:00:01.0/";
    String card = "sys/bus/pci/devices/0000:3b:00.0/";
    assertReason(
        bridge
            + "vendor=0x8086 "
            + bridge
            + "class=0x060000 "
            + card
            + "vendor=0x15b3 "
            + card
            + "class=0x020000",
        "the driver of a network card is not loaded: run modprobe mlx5_ib");
  }

  @Test
  void shouldReportThatTheUserHasNoPermission() throws Exception {
    SysfsTree.write(NODE + "=", root);
    Path node = root.resolve(NODE);
    Files.setPosixFilePermissions(node, PosixFilePermissions.fromString("---------"));
    assumeFalse(Files.isReadable(node), "this user may read everything");
    assertReason(DEVICE, "no permission");
  }

  /** The port may become active later. */
  @Test
  void shouldAcceptADeviceWhosePortsAreDown() throws Exception {
    var port = new PortInfo(1, PortState.DOWN, 4096, List.of(), List.of());
    var limits = new DeviceLimits(1, 1, 1, 1, 1, 1, 1, 1, 1, 56, 1);
    var info =
        new DeviceInfo(
            "mlx5_0", "ibverbs", TransportType.INFINIBAND, 1, limits, Set.of(), List.of(port));

    new Machine(root).checkReliable(List.of(info));
  }

  @Test
  void shouldReportThatNoDeviceHasReliableConnections() throws Exception {
    SysfsTree.write("sys/class/infiniband/efa_0=", root);

    assertThatThrownBy(() -> new Machine(root).checkReliable(List.of()))
        .isInstanceOf(EngineUnavailableException.class)
        .hasMessageContaining("[efa_0]")
        .hasMessageContaining("reliable connections");
  }
}
