// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.ibverbs;

import java.util.ArrayList;
import java.util.EnumSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.sparkrdma.verbs.VerbsException;
import org.sparkrdma.verbs.device.Capability;
import org.sparkrdma.verbs.device.DeviceInfo;
import org.sparkrdma.verbs.device.DeviceLimits;
import org.sparkrdma.verbs.device.PortInfo;
import org.sparkrdma.verbs.device.PortState;
import org.sparkrdma.verbs.engine.KernelDriver;
import org.sparkrdma.verbs.engine.NetworkLinks;
import org.sparkrdma.verbs.engine.SystemGid;
import org.sparkrdma.verbs.ibverbs.ffi.Layouts.IbvContext;
import org.sparkrdma.verbs.ibverbs.ffi.Layouts.IbvDeviceAttr;
import org.sparkrdma.verbs.ibverbs.ffi.Layouts.IbvDeviceAttrEx;
import org.sparkrdma.verbs.ibverbs.ffi.Layouts.IbvPortAttr;
import org.sparkrdma.verbs.ibverbs.ffi.Native;
import org.sparkrdma.verbs.ibverbs.ffi.NativeArena;
import org.sparkrdma.verbs.ibverbs.ffi.VerbsLibrary;

/** Queries attributes and limits of a device, once. A port that fails is left out. */
final class DeviceFacts {
  private static final Logger LOG = LoggerFactory.getLogger(DeviceFacts.class);

  /** Private data that fits into a connection request on RoCE; iWARP has more room. */
  static final int MAX_PRIVATE_DATA_BYTES = 56;

  /**
   * librdmacm keeps these bits of what the device reports, and refuses connections with more READs
   * than that (ucma_init_device and ucma_valid_param in its cma.c): of 256 it keeps 0.
   */
  private static final int READS_IN_FLIGHT_BITS = 0xff;

  /** The name of ibv_devinfo(1) for the number of the vendor. */
  private static final String VENDOR_ID = "vendor_id";

  /** MTU of the code 0 of enum ibv_mtu, which means nothing; each next code doubles it. */
  private static final int MTU_UNIT_BYTES = 128;

  private final Libraries libraries;
  private final long context;
  private final NetworkLinks links;
  private final TransportRules rules;
  private final List<PortInfo> ports = new ArrayList<>();
  private long maxMessageBytes = Integer.MAX_VALUE;

  private DeviceFacts(Libraries libraries, long context, NetworkLinks links) {
    this.libraries = libraries;
    this.context = context;
    this.links = links;
    rules = TransportRules.of(Contexts.transportType(context));
  }

  /**
   * @param links network interfaces of the host, whose addresses the ports have
   * @param skipped takes the reason for each port that is left out because it cannot be queried
   * @throws VerbsException when the device or all its ports cannot be queried
   */
  static DeviceInfo of(
      Libraries libraries, long context, NetworkLinks links, Consumer<String> skipped)
      throws VerbsException {
    return new DeviceFacts(libraries, context, links).info(skipped);
  }

  private DeviceInfo info(Consumer<String> skipped) throws VerbsException {
    String name = Contexts.name(context);
    try (NativeArena arena = new NativeArena()) {
      long device = arena.allocate(IbvDeviceAttr.SIZE);
      int rc = libraries.verbs().queryDevice(context, device);
      if (rc != 0) {
        throw Libraries.failure("ibv_query_device", rc, "device=" + name);
      }
      queryPorts(arena, name, Native.getByte(device + IbvDeviceAttr.PHYS_PORT_CNT), skipped);
      var capabilities = EnumSet.copyOf(rules.capabilities(System.getenv()));
      long extended = extended(arena, name);
      long nodeGuid = Long.reverseBytes(Native.getLong(device + IbvDeviceAttr.NODE_GUID));
      if (nodeGuid == 0) {
        // librdmacm before 56 then reads through a null pointer (ucma_query_addr in its cma.c).
        throw new VerbsException(
            "ibv_query_device", "its node GUID is 0 (docs/networks.md, SR-IOV): device=" + name);
      }
      KernelDriver driver =
          KernelDriver.of(Native.getInt(device + IbvDeviceAttr.VENDOR_ID), links.driver(name));
      if (driver.has(KernelDriver.Quirk.IGNORES_TRAFFIC_CLASS)) {
        capabilities.remove(Capability.TRAFFIC_CLASS);
      }
      if (driver.has(KernelDriver.Quirk.KEEPS_ACCESS)
          || IbverbsDevice.hasRefusedAccess(name, nodeGuid)) {
        capabilities.remove(Capability.QUEUE_PAIR_ACCESS);
      }
      if (!driver.withholdsAccess() || !capabilities.contains(Capability.QUEUE_PAIR_ACCESS)) {
        capabilities.remove(Capability.WITHHOLDS_ACCESS);
      }
      if (pagesOnDemand(extended)) {
        capabilities.add(Capability.ON_DEMAND_PAGING);
      }
      return new DeviceInfo(
          name,
          IbverbsProvider.NAME,
          rules.transport(),
          nodeGuid,
          limits(name, device),
          capabilities,
          ports,
          reported(device));
    }
  }

  private void queryPorts(NativeArena arena, String name, int count, Consumer<String> skipped)
      throws VerbsException {
    List<VerbsException> failures = new ArrayList<>();
    for (int port = 1; port <= count; port++) {
      try {
        queryPort(arena, name, port);
      } catch (VerbsException e) {
        failures.add(e);
      }
    }
    if (ports.isEmpty() && !failures.isEmpty()) {
      throw failures.get(0);
    }
    failures.forEach(failure -> skipped.accept(failure.getMessage()));
  }

  private void queryPort(NativeArena arena, String name, int port) throws VerbsException {
    long attributes = arena.allocate(VerbsLibrary.PORT_ATTRIBUTES_BYTES);
    int rc = libraries.verbs().queryPort(context, port, attributes);
    if (rc != 0) {
      throw Libraries.failure("ibv_query_port", rc, "device=" + name + " port=" + port);
    }
    ports.add(port(port, attributes));
    maxMessageBytes =
        Math.min(
            maxMessageBytes,
            Integer.toUnsignedLong(Native.getInt(attributes + IbvPortAttr.MAX_MSG_SZ)));
  }

  /** Firmware and vendor, under the names of ibv_devinfo(1). */
  private static Map<String, Object> reported(long device) {
    Map<String, Object> reported = new LinkedHashMap<>();
    reported.put("fw_ver", Native.string(device));
    int vendorId = Native.getInt(device + IbvDeviceAttr.VENDOR_ID);
    reported.put(VENDOR_ID, "0x" + Integer.toHexString(vendorId));
    reported.put("vendor_part_id", (long) Native.getInt(device + IbvDeviceAttr.VENDOR_PART_ID));
    return reported;
  }

  /** The driver of a device with these facts. */
  static KernelDriver driver(DeviceInfo info) {
    return KernelDriver.ofVendor(Long.decode((String) info.reported().get(VENDOR_ID)).intValue());
  }

  /**
   * Address of a struct ibv_device_attr_ex, all zero where nothing is reported. All of it is
   * optional, so a device that fails here is used.
   */
  private long extended(NativeArena arena, String name) {
    long attributes = arena.allocate(IbvDeviceAttrEx.SIZE);
    int rc = VerbsLibrary.queryDeviceEx(context, attributes);
    if (rc == 0) {
      return attributes;
    }
    LOG.info(
        "Using a device without on-demand paging: {}",
        Libraries.failure("ibv_query_device_ex", rc, "device=" + name).getMessage());
    return arena.allocate(IbvDeviceAttrEx.SIZE);
  }

  private static boolean pagesOnDemand(long attributes) {
    long general = Native.getLong(attributes + IbvDeviceAttrEx.ODP_CAPS_GENERAL);
    int reliable = Native.getInt(attributes + IbvDeviceAttrEx.ODP_CAPS_RC);
    return (general & VerbsLibrary.ODP_SUPPORT) != 0
        && (reliable & VerbsLibrary.ODP_SUPPORT_READ) != 0;
  }

  private DeviceLimits limits(String name, long device) throws VerbsException {
    int maxSge = Native.getInt(device + IbvDeviceAttr.MAX_SGE);
    long maxRegion = Native.getLong(device + IbvDeviceAttr.MAX_MR_SIZE);
    return new DeviceLimits(
        Native.getInt(device + IbvDeviceAttr.MAX_QP),
        Native.getInt(device + IbvDeviceAttr.MAX_QP_WR),
        maxSge,
        TransportRules.maxReadSge(maxSge, Native.getInt(device + IbvDeviceAttr.MAX_SGE_RD)),
        Native.getInt(device + IbvDeviceAttr.MAX_CQE),
        Native.getInt(device + IbvDeviceAttr.MAX_MR),
        maxRegion < 0 ? Long.MAX_VALUE : maxRegion,
        maxMessageBytes,
        readsInFlight(name, device),
        MAX_PRIVATE_DATA_BYTES,
        // Drivers without interrupts report none.
        Math.max(1, Native.getInt(context + IbvContext.NUM_COMP_VECTORS)));
  }

  private static int readsInFlight(String name, long device) throws VerbsException {
    int answered = Native.getInt(device + IbvDeviceAttr.MAX_QP_RD_ATOM);
    int requested = Native.getInt(device + IbvDeviceAttr.MAX_QP_INIT_RD_ATOM);
    int usable = Math.min(answered & READS_IN_FLIGHT_BITS, requested & READS_IN_FLIGHT_BITS);
    if (usable == 0 && answered > 0 && requested > 0) {
      throw new VerbsException(
          "ibv_query_device",
          "librdmacm allows no READ on this device, because it keeps eight bits of the limit: device="
              + name
              + (" max_qp_rd_atom=" + answered + " max_qp_init_rd_atom=" + requested));
    }
    return usable;
  }

  private PortInfo port(int number, long attributes) throws VerbsException {
    int state = Native.getInt(attributes + IbvPortAttr.STATE);
    PortState[] states = PortState.values();
    boolean ethernet =
        Native.getByte(attributes + IbvPortAttr.LINK_LAYER) == VerbsLibrary.LINK_LAYER_ETHERNET;
    List<SystemGid> gids =
        SystemGid.of(links.port(Contexts.name(context), number), rules.transport(), ethernet);
    return new PortInfo(
        number,
        state >= 0 && state < states.length ? states[state] : PortState.NOP,
        MTU_UNIT_BYTES << Native.getInt(attributes + IbvPortAttr.ACTIVE_MTU),
        gids.stream().map(SystemGid::gid).toList(),
        links.addresses(gids),
        Map.of("link_layer", ethernet ? "Ethernet" : "InfiniBand"));
  }
}
