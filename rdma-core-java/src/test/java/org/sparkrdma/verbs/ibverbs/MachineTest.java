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
import org.sparkrdma.verbs.device.DeviceInfo;
import org.sparkrdma.verbs.device.DeviceLimits;
import org.sparkrdma.verbs.device.PortInfo;
import org.sparkrdma.verbs.device.PortState;
import org.sparkrdma.verbs.device.TransportType;
import org.sparkrdma.verbs.spi.EngineUnavailableException;

/** Reasons why the engine cannot run on a machine. */
class MachineTest {
  @TempDir private Path root;

  private void create(String file) throws IOException {
    create(file, "");
  }

  private void create(String file, String text) throws IOException {
    Path path = root.resolve(file);
    Files.createDirectories(path.getParent());
    Files.writeString(path, text);
  }

  private void assertReason(String part) {
    assertThatThrownBy(() -> new Machine(root).checkDevices())
        .isInstanceOf(EngineUnavailableException.class)
        .hasMessageContaining(part);
  }

  @Test
  void shouldReportThatThereIsNoDevice() {
    assertReason("no RDMA device");
    assertReason("the PCI bus has no network card of a vendor with RDMA");
  }

  @Test
  void shouldReportACardWithoutItsDriver() throws Exception {
    create("sys/bus/pci/devices/0000:00:01.0/vendor", "0x8086\n");
    create("sys/bus/pci/devices/0000:00:01.0/class", "0x060000\n");
    create("sys/bus/pci/devices/0000:3b:00.0/vendor", "0x15b3\n");
    create("sys/bus/pci/devices/0000:3b:00.0/class", "0x020000\n");

    assertReason("the driver of a network card is not loaded: run modprobe mlx5_ib");
  }

  @Test
  void shouldReportThatTheContainerHasNoDeviceFiles() throws Exception {
    create("sys/class/infiniband/mlx5_0");

    assertReason("--device=/dev/infiniband");
  }

  @Test
  void shouldReportThatTheUserHasNoPermission() throws Exception {
    create("sys/class/infiniband/mlx5_0");
    create("dev/infiniband/uverbs0");
    Path node = root.resolve("dev/infiniband/uverbs0");
    Files.setPosixFilePermissions(node, PosixFilePermissions.fromString("---------"));
    assumeFalse(Files.isReadable(node), "this user may read everything");

    assertReason("no permission");
  }

  @Test
  void shouldReportThatTheConnectionManagerIsNotLoaded() throws Exception {
    create("sys/class/infiniband/mlx5_0");
    create("dev/infiniband/uverbs0");

    assertReason("rdma_ucm");
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
    create("sys/class/infiniband/efa_0");

    assertThatThrownBy(() -> new Machine(root).checkReliable(List.of()))
        .isInstanceOf(EngineUnavailableException.class)
        .hasMessageContaining("[efa_0]")
        .hasMessageContaining("reliable connections");
  }
}
