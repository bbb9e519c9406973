// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.disni;

import com.ibm.disni.verbs.IbvContext;
import com.ibm.disni.verbs.RdmaCm;
import com.ibm.disni.verbs.RdmaCmId;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import org.sparkrdma.verbs.VerbsException;
import org.sparkrdma.verbs.device.DeviceInfo;

/**
 * A device's context. DiSNI cannot open a device by its name; so an identifier is bound to one of
 * the device's addresses, which makes the connection manager's library open it, and is kept as long
 * as the device is open. Closed by the device.
 */
final class DeviceContext implements AutoCloseable {
  private final SystemDevices devices;
  private final DeviceInfo info;
  private final EventChannel channel;
  private final RdmaCmId id;
  private final IbvContext context;
  private boolean closed;

  private DeviceContext(
      SystemDevices devices,
      DeviceInfo info,
      EventChannel channel,
      RdmaCmId id,
      IbvContext context) {
    this.devices = devices;
    this.info = info;
    this.channel = channel;
    this.id = id;
    this.context = context;
  }

  static DeviceContext open(SystemDevices devices, DeviceInfo info) throws VerbsException {
    InetAddress address =
        info.ports().stream()
            .flatMap(port -> port.addresses().stream())
            .findFirst()
            .orElseThrow(
                () ->
                    new VerbsException(
                        "ibv_open_device",
                        "ibv_open_device failed: DiSNI needs an IPv4 address on a network interface"
                            + " of the device: device="
                            + info.name()));
    try (var acquired = new Acquired()) {
      EventChannel channel = EventChannel.create();
      acquired.add(() -> EventChannel.destroy(channel));
      RdmaCmId id = channel.createId(RdmaCm.RDMA_PS_TCP);
      acquired.add(() -> Failures.check("rdma_destroy_id", id.destroyId()));
      id.bindAddr(new InetSocketAddress(address, 0));
      var opened = new DeviceContext(devices, info, channel, id, id.getVerbs());
      String other = opened.otherDevice(id);
      if (opened.context == null || other != null) {
        throw new IOException("the address belongs to another device: device=" + other);
      }
      acquired.keep();
      return opened;
    } catch (IOException e) {
      throw Failures.of("ibv_open_device", e, "device=" + info.name() + " address=" + address);
    }
  }

  DeviceInfo info() {
    return info;
  }

  IbvContext context() {
    return context;
  }

  /** The device that an identifier was bound to, when it is a different one; else null. */
  String otherDevice(RdmaCmId other) throws IOException {
    IbvContext bound = other.getVerbs();
    if (bound == null) {
      return null;
    }
    String name = devices.deviceOfDescriptor(bound.getCmd_fd());
    return name.equals(info.name()) ? null : name;
  }

  @Override
  public void close() {
    if (closed) {
      return;
    }
    closed = true;
    try {
      id.destroyId();
      channel.destroyEventChannel();
    } catch (IOException e) {
      throw new IllegalStateException("device was closed by others: device=" + info.name(), e);
    }
  }
}
