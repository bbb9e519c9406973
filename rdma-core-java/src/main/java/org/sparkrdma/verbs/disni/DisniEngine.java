// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.disni;

import java.net.Inet4Address;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.function.Consumer;
import org.sparkrdma.verbs.Device;
import org.sparkrdma.verbs.VerbsException;
import org.sparkrdma.verbs.device.Capability;
import org.sparkrdma.verbs.device.DeviceInfo;
import org.sparkrdma.verbs.device.DeviceLimits;
import org.sparkrdma.verbs.device.PortInfo;
import org.sparkrdma.verbs.device.PortState;
import org.sparkrdma.verbs.device.TransportType;
import org.sparkrdma.verbs.engine.EngineBase;
import org.sparkrdma.verbs.engine.NetworkLinks;
import org.sparkrdma.verbs.engine.RdmaNodes;
import org.sparkrdma.verbs.engine.SystemGid;

/**
 * Opens the machine's devices. Safe for any thread.
 *
 * <p>DiSNI cannot query a device: its attributes are those that the files of the kernel have, and
 * limits that rxe, siw and the cards of the last ten years have.
 */
final class DisniEngine extends EngineBase {
  /** DiSNI stores lengths in 31 bits. */
  static final int MAX_REGION_BYTES = Integer.MAX_VALUE;

  /** The fixed size of DiSNI's queue pairs. */
  private static final int MAX_SGE = 4;

  private static final int MAX_QUEUE_PAIRS = 8_192;
  private static final int MAX_QUEUE_PAIR_DEPTH = 8_192;
  private static final int MAX_COMPLETION_QUEUE_DEPTH = 32_767;
  private static final int MAX_MEMORY_REGIONS = 65_536;
  private static final long MAX_MESSAGE_BYTES = 8L << 20;
  private static final int MAX_READS_IN_FLIGHT = 16;

  private final NetworkLinks links;

  /**
   * @param links network interfaces of the host; others in tests
   */
  DisniEngine(NetworkLinks links) {
    this.links = links;
  }

  @Override
  public String name() {
    return DisniProvider.NAME;
  }

  @Override
  public List<DeviceInfo> devices() {
    return RdmaNodes.devices(links.root()).stream().map(this::info).toList();
  }

  @Override
  protected Device newDevice(String deviceName, DeviceInfo known, Consumer<Device> onClosed)
      throws VerbsException {
    for (DeviceInfo device : devices()) {
      if (device.name().equals(deviceName)) {
        return new DisniDevice(links.root(), device, Thread::new, onClosed);
      }
    }
    throw noSuchDevice(deviceName);
  }

  private DeviceInfo info(String name) {
    Path device = links.root().resolve("sys/class/infiniband").resolve(name);
    // "4: RNIC" for iWARP devices and "1: CA" for InfiniBand and RoCE.
    boolean iwarp = SystemGid.read(device.resolve("node_type")).startsWith("4:");
    TransportType transport = iwarp ? TransportType.IWARP : TransportType.INFINIBAND;
    var limits =
        new DeviceLimits(
            MAX_QUEUE_PAIRS,
            MAX_QUEUE_PAIR_DEPTH,
            MAX_SGE,
            iwarp ? 1 : MAX_SGE,
            MAX_COMPLETION_QUEUE_DEPTH,
            MAX_MEMORY_REGIONS,
            MAX_REGION_BYTES,
            MAX_MESSAGE_BYTES,
            MAX_READS_IN_FLIGHT,
            0,
            1);
    List<PortInfo> ports =
        SystemGid.children(device.resolve("ports")).stream()
            .map(number -> port(name, Integer.parseInt(number), transport))
            .toList();
    Set<Capability> capabilities = Set.of(Capability.FILE_REGIONS);
    return new DeviceInfo(name, DisniProvider.NAME, transport, 0, limits, capabilities, ports);
  }

  /** A port, without its MTU, which no file contains, and with the addresses that DiSNI can use. */
  private PortInfo port(String device, int number, TransportType transport) {
    Path port = links.port(device, number);
    boolean ethernet = SystemGid.read(port.resolve("link_layer")).equals("Ethernet");
    // For example "4: ACTIVE".
    String text = SystemGid.read(port.resolve("state"));
    PortState state =
        Arrays.stream(PortState.values())
            .filter(each -> text.endsWith(": " + each))
            .findFirst()
            .orElse(PortState.NOP);
    List<SystemGid> gids = SystemGid.of(port, transport, ethernet);
    return new PortInfo(
        number,
        state,
        0,
        gids.stream().map(SystemGid::gid).toList(),
        links.addresses(gids).stream().filter(Inet4Address.class::isInstance).toList());
  }
}
