// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.soft;

import java.io.IOException;
import java.net.InetAddress;
import java.net.NetworkInterface;
import java.net.SocketException;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.function.Consumer;
import org.sparkrdma.verbs.Device;
import org.sparkrdma.verbs.VerbsException;
import org.sparkrdma.verbs.device.Capability;
import org.sparkrdma.verbs.device.DeviceInfo;
import org.sparkrdma.verbs.device.DeviceLimits;
import org.sparkrdma.verbs.device.Gid;
import org.sparkrdma.verbs.device.GidType;
import org.sparkrdma.verbs.device.PortInfo;
import org.sparkrdma.verbs.device.PortState;
import org.sparkrdma.verbs.device.Transport;
import org.sparkrdma.verbs.engine.Driver;
import org.sparkrdma.verbs.engine.EngineChannel;
import org.sparkrdma.verbs.engine.EngineCompletionQueue;
import org.sparkrdma.verbs.engine.EngineConnectionManager;
import org.sparkrdma.verbs.engine.EngineDevice;
import org.sparkrdma.verbs.engine.EngineMemory;
import org.sparkrdma.verbs.engine.EngineProtectionDomain;
import org.sparkrdma.verbs.soft.shared.HostIdentity;
import org.sparkrdma.verbs.soft.shared.SharedTable;
import org.sparkrdma.verbs.soft.wire.LinkHello;

/** An open soft device. Safe for any thread. */
final class SoftDevice extends EngineDevice {
  static final String NAME = "soft0";

  private static final long MAX_MESSAGE_BYTES = 1L << 30;

  private static final int MAX_QUEUE_PAIR_DEPTH = 16_384;
  private static final int MAX_SGE = 16;
  private static final int MAX_COMPLETION_QUEUE_DEPTH = 1 << 20;
  private static final int MAX_READS_IN_FLIGHT = 16;
  private static final int MAX_INLINE_BYTES = 256;
  private static final int MTU_BYTES = 4_096;

  private final SoftContext context;
  private int nextDomainId = 1;

  private SoftDevice(SoftContext context, HostIdentity host, Consumer<Device> onClosed)
      throws VerbsException {
    super(info(host), Driver.OTHER, 0, onClosed);
    this.context = context;
  }

  static SoftDevice open(
      SoftSettings settings, HostIdentity host, boolean copiesReads, Consumer<Device> onClosed)
      throws VerbsException {
    SoftContext context = null;
    try {
      context = SoftContext.open(settings, host, copiesReads);
      return new SoftDevice(context, host, onClosed);
    } catch (IOException | VerbsException e) {
      if (context != null) {
        context.close();
      }
      throw new VerbsException(
          "ibv_open_device",
          "ibv_open_device failed: " + e.getMessage() + " directory=" + settings.directory(),
          e);
    }
  }

  SoftContext context() {
    return context;
  }

  @Override
  protected EngineMemory newMemory(long lengthBytes) throws VerbsException {
    return SoftMemory.allocate(this, context, lengthBytes);
  }

  @Override
  protected EngineProtectionDomain newProtectionDomain() {
    return new SoftProtectionDomain(this, nextDomainId++);
  }

  @Override
  protected SoftChannel newChannel() {
    return new SoftChannel(this, context.loop());
  }

  @Override
  protected EngineCompletionQueue newCompletionQueue(
      int capacity, EngineChannel channel, int vector) {
    return new SoftCompletionQueue(this, capacity, (SoftChannel) channel, context.loop());
  }

  @Override
  protected EngineConnectionManager newConnectionManager(EngineChannel channel) {
    return new SoftConnectionManager(this, context, (SoftChannel) channel);
  }

  @Override
  protected void closeDevice() {
    context.close();
  }

  // Facts of the device.

  static DeviceInfo info(HostIdentity host) throws VerbsException {
    var capabilities = EnumSet.allOf(Capability.class);
    capabilities.remove(Capability.ACK_TIMEOUT);
    capabilities.remove(Capability.TRAFFIC_CLASS);
    capabilities.remove(Capability.READ_DEPTH);
    return new DeviceInfo(
        NAME,
        SoftProvider.NAME,
        Transport.LOOPBACK,
        host.bootId().getMostSignificantBits(),
        limits(),
        capabilities,
        List.of(port(gids())));
  }

  private static DeviceLimits limits() {
    return new DeviceLimits(
        SharedTable.QUEUE_PAIRS,
        MAX_QUEUE_PAIR_DEPTH,
        MAX_SGE,
        MAX_SGE,
        MAX_COMPLETION_QUEUE_DEPTH,
        SharedTable.REGIONS,
        Long.MAX_VALUE,
        MAX_MESSAGE_BYTES,
        MAX_READS_IN_FLIGHT,
        MAX_INLINE_BYTES,
        LinkHello.MAX_PRIVATE_DATA_BYTES,
        1);
  }

  private static PortInfo port(List<Gid> gids) {
    return new PortInfo(
        1, PortState.ACTIVE, MTU_BYTES, gids, gids.stream().map(Gid::address).toList());
  }

  private static List<Gid> gids() throws VerbsException {
    try {
      List<Gid> gids = new ArrayList<>();
      NetworkInterface.networkInterfaces()
          .flatMap(NetworkInterface::inetAddresses)
          .forEach((InetAddress at) -> gids.add(new Gid(gids.size(), GidType.LOOPBACK, at)));
      return gids;
    } catch (SocketException e) {
      throw new VerbsException("ibv_query_gid", "no addresses: " + e.getMessage(), e);
    }
  }
}
