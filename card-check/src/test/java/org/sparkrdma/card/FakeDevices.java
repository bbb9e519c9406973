// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.card;

import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.sparkrdma.verbs.device.Capability;
import org.sparkrdma.verbs.device.DeviceInfo;
import org.sparkrdma.verbs.device.DeviceLimits;
import org.sparkrdma.verbs.device.PortInfo;
import org.sparkrdma.verbs.device.PortState;
import org.sparkrdma.verbs.device.TransportType;

/** Devices for tests. */
final class FakeDevices {
  static final String FIRMWARE = "229.0.154.0";

  private FakeDevices() {}

  static DeviceInfo device(String name, PortState state, String... addresses) {
    List<InetAddress> all = new ArrayList<>();
    for (String address : addresses) {
      try {
        all.add(InetAddress.getByName(address));
      } catch (UnknownHostException e) {
        throw new IllegalArgumentException(address, e);
      }
    }
    return new DeviceInfo(
        name,
        "ibverbs",
        TransportType.INFINIBAND,
        0x0102_0304_0506_0708L,
        new DeviceLimits(100, 100, 30, 30, 100, 100, 1L << 40, 1L << 30, 16, 56, 4),
        Set.of(Capability.FILE_REGIONS),
        List.of(new PortInfo(1, state, 4096, List.of(), all, Map.of("link_layer", "Ethernet"))),
        Map.of(
            "fw_ver", FIRMWARE, "vendor_id", "0x15b3", "vendor_part_id", 4119L, "hw_ver", "0x0"));
  }

  /** A device that has passed all checks. */
  static CardDevice card() throws NotUsableException {
    DeviceInfo info = device("mlx5_0", PortState.ACTIVE, "192.0.2.7", "2001:db8::7");
    return CardDevice.find(List.of(info), "mlx5_0");
  }
}
