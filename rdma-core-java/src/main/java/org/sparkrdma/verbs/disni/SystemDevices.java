// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.disni;

import java.io.IOException;
import java.net.Inet4Address;
import java.net.InetAddress;
import java.net.NetworkInterface;
import java.net.SocketException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import org.sparkrdma.verbs.device.Capability;
import org.sparkrdma.verbs.device.DeviceInfo;
import org.sparkrdma.verbs.device.DeviceLimits;
import org.sparkrdma.verbs.device.Gid;
import org.sparkrdma.verbs.device.GidType;
import org.sparkrdma.verbs.device.PortInfo;
import org.sparkrdma.verbs.device.PortState;
import org.sparkrdma.verbs.device.Transport;
import org.sparkrdma.verbs.engine.RdmaNodes;
import org.sparkrdma.verbs.engine.SystemGid;

/**
 * Attributes of RDMA devices from /sys/class/infiniband, because DiSNI cannot query a device; see
 * sysfs-class-infiniband in the kernel's ABI documents. Immutable; each call reads the files again.
 */
final class SystemDevices {
  /** Maximum elements of a request: the fixed size of DiSNI's queue pairs. */
  static final int MAX_SGE = 4;

  /** DiSNI stores lengths in 31 bits. */
  static final int MAX_REGION_BYTES = Integer.MAX_VALUE;

  // DiSNI cannot query limits. These are supported by rxe, siw and the cards of the last ten years.
  private static final int MAX_QUEUE_PAIRS = 8_192;
  private static final int MAX_QUEUE_PAIR_DEPTH = 8_192;
  private static final int MAX_COMPLETION_QUEUE_DEPTH = 32_767;
  private static final int MAX_MEMORY_REGIONS = 65_536;
  private static final long MAX_MESSAGE_BYTES = 8L << 20;
  private static final int MAX_READS_IN_FLIGHT = 16;

  private static final int HARDWARE_ADDRESS_BYTES = 6;

  /** The kernel's files do not contain it. */
  private static final int UNKNOWN_MTU_BYTES = 0;

  private final Path root;

  /**
   * @param root of the file system; differs in tests only
   */
  SystemDevices(Path root) {
    this.root = root;
  }

  /** Names of the devices, sorted. */
  List<String> names() {
    return RdmaNodes.devices(root);
  }

  DeviceInfo info(String name) {
    Path device = device(name);
    Transport transport = transport(device);
    List<PortInfo> ports = new ArrayList<>();
    for (String number : SystemGid.children(device.resolve("ports"))) {
      ports.add(port(Integer.parseInt(number), device.resolve("ports").resolve(number), transport));
    }
    return new DeviceInfo(
        name,
        DisniProvider.NAME,
        transport,
        guid(device),
        limits(transport),
        capabilities(transport),
        ports);
  }

  /** The device of a descriptor of this process, or "" when it is unknown. */
  String deviceOfDescriptor(int descriptor) {
    try {
      Path node = Files.readSymbolicLink(root.resolve("proc/self/fd/" + descriptor));
      return SystemGid.read(
          root.resolve("sys/class/infiniband_verbs/" + node.getFileName() + "/ibdev"));
    } catch (IOException e) {
      return "";
    }
  }

  private Path device(String name) {
    return root.resolve("sys/class/infiniband").resolve(name);
  }

  /** The file contains "4: RNIC" for iWARP devices and "1: CA" for InfiniBand and RoCE. */
  private static Transport transport(Path device) {
    return SystemGid.read(device.resolve("node_type")).startsWith("4:")
        ? Transport.IWARP
        : Transport.INFINIBAND;
  }

  private static long guid(Path device) {
    String hex = SystemGid.read(device.resolve("node_guid")).replace(":", "");
    try {
      return Long.parseUnsignedLong(hex, 16);
    } catch (NumberFormatException e) {
      return 0;
    }
  }

  private static DeviceLimits limits(Transport transport) {
    return new DeviceLimits(
        MAX_QUEUE_PAIRS,
        MAX_QUEUE_PAIR_DEPTH,
        MAX_SGE,
        transport == Transport.IWARP ? 1 : MAX_SGE,
        MAX_COMPLETION_QUEUE_DEPTH,
        MAX_MEMORY_REGIONS,
        MAX_REGION_BYTES,
        MAX_MESSAGE_BYTES,
        MAX_READS_IN_FLIGHT,
        0,
        0,
        1);
  }

  private static Set<Capability> capabilities(Transport transport) {
    return transport == Transport.IWARP
        ? EnumSet.of(Capability.FILE_REGIONS)
        : EnumSet.of(
            Capability.FILE_REGIONS,
            Capability.SEND_WITH_IMMEDIATE,
            Capability.WRITE_WITH_IMMEDIATE);
  }

  private PortInfo port(int number, Path port, Transport transport) {
    boolean ethernet = SystemGid.read(port.resolve("link_layer")).equals("Ethernet");
    List<SystemGid> table = SystemGid.of(port);
    Set<String> links = links(table, transport);
    List<InetAddress> addresses = addresses(links);
    List<Gid> gids = transport == Transport.IWARP ? gidsOf(addresses) : gidsOf(table, ethernet);
    return new PortInfo(number, state(port), UNKNOWN_MTU_BYTES, gids, addresses);
  }

  /** The file contains for example "4: ACTIVE". */
  private static PortState state(Path port) {
    String state = SystemGid.read(port.resolve("state"));
    int colon = state.indexOf(':');
    int number = colon < 0 ? 0 : Integer.parseInt(state.substring(0, colon));
    PortState[] states = PortState.values();
    return number >= 0 && number < states.length ? states[number] : PortState.NOP;
  }

  /** Names of the network interfaces that belong to a port. */
  private static Set<String> links(List<SystemGid> table, Transport transport) {
    Set<String> links = new TreeSet<>();
    for (SystemGid gid : table) {
      if (!gid.link().isEmpty()) {
        links.add(gid.link());
      }
    }
    if (links.isEmpty() && transport == Transport.IWARP) {
      table.forEach(gid -> links.addAll(linksByHardwareAddress(gid.address().getAddress())));
    }
    return links;
  }

  /** Older kernels name no interface for iWARP, whose GID is the interface's hardware address. */
  private static List<String> linksByHardwareAddress(byte[] gid) {
    byte[] wanted = Arrays.copyOf(gid, HARDWARE_ADDRESS_BYTES);
    return interfaces().stream()
        .filter(link -> Arrays.equals(hardwareAddress(link), wanted))
        .map(NetworkInterface::getName)
        .toList();
  }

  private static byte[] hardwareAddress(NetworkInterface link) {
    try {
      byte[] address = link.getHardwareAddress();
      return address == null ? new byte[0] : address;
    } catch (SocketException e) {
      return new byte[0];
    }
  }

  private static List<NetworkInterface> interfaces() {
    try {
      return NetworkInterface.networkInterfaces().toList();
    } catch (SocketException e) {
      return List.of();
    }
  }

  /** The addresses that DiSNI can use. */
  private static List<InetAddress> addresses(Set<String> links) {
    return interfaces().stream()
        .filter(link -> links.contains(link.getName()))
        .flatMap(NetworkInterface::inetAddresses)
        .filter(Inet4Address.class::isInstance)
        .toList();
  }

  private static List<Gid> gidsOf(List<SystemGid> table, boolean ethernet) {
    return table.stream()
        .map(gid -> new Gid(gid.index(), gidType(gid, ethernet), gid.address()))
        .toList();
  }

  private static List<Gid> gidsOf(List<InetAddress> addresses) {
    List<Gid> gids = new ArrayList<>();
    for (InetAddress address : addresses) {
      gids.add(new Gid(gids.size(), GidType.IWARP, address));
    }
    return gids;
  }

  private static GidType gidType(SystemGid gid, boolean ethernet) {
    if (!ethernet) {
      return GidType.INFINIBAND;
    }
    return gid.isRoceV2() ? GidType.ROCE_V2 : GidType.ROCE_V1;
  }
}
