// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.runtime;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.sparkrdma.shuffle.address.ListenerAddress;
import org.sparkrdma.shuffle.address.NetworkAddress;
import org.sparkrdma.verbs.device.DeviceInfo;
import org.sparkrdma.verbs.device.Gid;
import org.sparkrdma.verbs.device.GidType;
import org.sparkrdma.verbs.device.PortInfo;
import org.sparkrdma.verbs.device.PortState;
import org.sparkrdma.verbs.device.Transport;

class LinkSpeedTest {
  @TempDir private Path devices;

  private void rate(String device, int port, String text) throws IOException {
    Path directory = devices.resolve(device).resolve("ports/" + port);
    Files.createDirectories(directory);
    Files.writeString(directory.resolve("rate"), text);
  }

  private static InetAddress address(int last) {
    try {
      return InetAddress.getByAddress(new byte[] {10, 99, 1, (byte) last});
    } catch (UnknownHostException e) {
      throw new IllegalStateException(e);
    }
  }

  /** A device with two ports, which have the addresses 1 and 2. */
  private static DeviceInfo device(String name) {
    List<PortInfo> ports =
        List.of(
            new PortInfo(1, PortState.ACTIVE, 4_096, List.of(), List.of(address(1))),
            new PortInfo(2, PortState.ACTIVE, 4_096, List.of(), List.of(address(2))));
    return new DeviceInfo(name, "ibverbs", Transport.INFINIBAND, 1, null, Set.of(), ports);
  }

  private static List<ListenerAddress> at(int last) {
    return List.of(new ListenerAddress(new NetworkAddress(address(last), 24), 7));
  }

  @Test
  void shouldBeThatOfThePortWithTheAddress() throws IOException {
    rate("mlx5_0", 1, "40 Gb/sec (4X QDR)\n");
    rate("mlx5_0", 2, "100 Gb/sec (4X EDR)\n");
    assertThat(new LinkSpeed(devices).of(device("mlx5_0"), at(2))).isEqualTo("100 Gb/sec (4X EDR)");
    assertThat(new LinkSpeed(devices).of(device("mlx5_0"), at(1))).isEqualTo("40 Gb/sec (4X QDR)");
  }

  @Test
  void shouldBeThatOfThePortWithTheGid() throws IOException {
    rate("mlx5_0", 1, "100 Gb/sec (4X EDR)\n");
    InetAddress gid = InetAddress.getByName("fe80::2:c903:29:1");
    PortInfo port =
        new PortInfo(
            1, PortState.ACTIVE, 4_096, List.of(new Gid(0, GidType.INFINIBAND, gid)), List.of());
    DeviceInfo device =
        new DeviceInfo("mlx5_0", "ibverbs", Transport.INFINIBAND, 1, null, Set.of(), List.of(port));

    assertThat(
            new LinkSpeed(devices)
                .of(device, List.of(new ListenerAddress(NetworkAddress.ofGid(gid), 7))))
        .isEqualTo("100 Gb/sec (4X EDR)");
  }

  @Test
  void shouldBeEmptyWhereTheKernelHasNone() {
    assertThat(new LinkSpeed(devices).of(device("soft0"), at(1))).isEmpty();
    assertThat(new LinkSpeed(devices).of(device("mlx5_0"), at(3))).isEmpty();
  }

  @Test
  void shouldBeReadAgainForAnotherDevice() throws IOException {
    rate("rxe0", 1, "2.5 Gb/sec (1X SDR)\n");
    rate("rxe1", 1, "10 Gb/sec (4X SDR)\n");
    LinkSpeed speed = new LinkSpeed(devices);
    assertThat(speed.of(device("rxe0"), at(1))).isEqualTo("2.5 Gb/sec (1X SDR)");
    assertThat(speed.of(device("rxe1"), at(1))).isEqualTo("10 Gb/sec (4X SDR)");
  }
}
