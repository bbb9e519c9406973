// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.address;

import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import org.sparkrdma.shuffle.settings.DeviceSelector;
import org.sparkrdma.verbs.VerbsException;
import org.sparkrdma.verbs.device.Capability;
import org.sparkrdma.verbs.device.DeviceInfo;
import org.sparkrdma.verbs.device.DeviceLimits;
import org.sparkrdma.verbs.device.Gid;
import org.sparkrdma.verbs.device.GidType;
import org.sparkrdma.verbs.device.PortInfo;
import org.sparkrdma.verbs.device.PortState;
import org.sparkrdma.verbs.device.TransportType;

/** Settings and devices of a host, from which a test lets executors choose. */
abstract class DeviceChoiceFixture {
  static final String SPARK = "10.0.0.5";

  List<String> devices = List.of();
  OptionalInt gid = OptionalInt.empty();
  Optional<String> address = Optional.empty();
  String sparkHost = SPARK;
  boolean routed;
  boolean trusted;
  int spread;

  DeviceChoice choose(DeviceInfo... present) throws VerbsException, UnknownHostException {
    return all(List.of(present)).get(0);
  }

  List<DeviceChoice> all(List<DeviceInfo> present) throws VerbsException, UnknownHostException {
    return DeviceChoice.all(
        present,
        new DeviceSelector(devices, gid, address, at(sparkHost), routed, trusted, spread),
        own -> new NetworkAddress(own, own.getAddress().length == 4 ? 24 : 64));
  }

  static InetAddress address(DeviceChoice choice) {
    return choice.addresses().get(0).address();
  }

  /** Names of the devices that this number of executors of a host chooses. */
  List<String> chosenBy(int executors, DeviceInfo... present) throws Exception {
    List<String> chosen = new ArrayList<>();
    for (spread = 0; spread < executors; spread++) {
      chosen.add(choose(present).device().name());
    }
    return chosen;
  }

  static DeviceInfo device(String name, PortInfo... ports) {
    return device(name, TransportType.INFINIBAND, Set.of(Capability.WITHHOLDS_ACCESS), ports);
  }

  static DeviceInfo device(
      String name, TransportType transport, Set<Capability> capabilities, PortInfo... ports) {
    return new DeviceInfo(
        name,
        "test",
        transport,
        1,
        new DeviceLimits(1, 1, 1, 1, 1, 1, 1, 1, 1, 56, 1),
        capabilities,
        List.of(ports));
  }

  static PortInfo active(int number, String... addresses) throws UnknownHostException {
    return port(number, PortState.ACTIVE, addresses);
  }

  static PortInfo down(int number, String... addresses) throws UnknownHostException {
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

  static InetAddress at(String text) throws UnknownHostException {
    return InetAddress.getByName(text);
  }
}
