// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.disni;

import com.ibm.disni.verbs.IbvContext;
import com.ibm.disni.verbs.RdmaCm;
import com.ibm.disni.verbs.RdmaCmId;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.sparkrdma.verbs.Device;
import org.sparkrdma.verbs.VerbsException;
import org.sparkrdma.verbs.device.DeviceInfo;
import org.sparkrdma.verbs.engine.Driver;
import org.sparkrdma.verbs.engine.EngineChannel;
import org.sparkrdma.verbs.engine.EngineCompletionQueue;
import org.sparkrdma.verbs.engine.EngineConnectionManager;
import org.sparkrdma.verbs.engine.EngineDevice;
import org.sparkrdma.verbs.engine.EngineMemory;
import org.sparkrdma.verbs.engine.EngineProtectionDomain;
import org.sparkrdma.verbs.engine.ParkingChannel;

/**
 * An open device of DiSNI. Safe for any thread.
 *
 * <p>DiSNI cannot open a device by its name; so an identifier is bound to one of the device's
 * addresses, which makes the connection manager's library open it, and is kept as long as the
 * device is open.
 *
 * <p>The device's completion channels belong to the completion queues, one each: events of DiSNI do
 * not name their queue. So a watcher for each queue wakes the owner's channel.
 */
final class DisniDevice extends EngineDevice {
  /** Limit of the time in which a device flushes the posted work of a broken connection. */
  private static final long FLUSH_TIMEOUT_NS = TimeUnit.MILLISECONDS.toNanos(100);

  private final SystemDevices devices;
  private final EventChannel channel;
  private final RdmaCmId id;
  private final IbvContext context;

  private DisniDevice(
      SystemDevices devices,
      DeviceInfo info,
      EventChannel channel,
      RdmaCmId id,
      Consumer<Device> onClosed)
      throws IOException {
    // DiSNI cannot query the vendor.
    super(info, Driver.ofUnknownVendor(info.transport()), FLUSH_TIMEOUT_NS, onClosed);
    this.devices = devices;
    this.channel = channel;
    this.id = id;
    context = id.getVerbs();
  }

  static DisniDevice open(SystemDevices devices, DeviceInfo info, Consumer<Device> onClosed)
      throws VerbsException {
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
      var opened = new DisniDevice(devices, info, channel, id, onClosed);
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
    return name.equals(info().name()) ? null : name;
  }

  @Override
  protected EngineMemory newMemory(long lengthBytes) throws VerbsException {
    return DisniMemory.allocate(this, lengthBytes);
  }

  @Override
  protected EngineProtectionDomain newProtectionDomain() throws VerbsException {
    return DisniProtectionDomain.allocate(this);
  }

  @Override
  protected ParkingChannel newChannel() {
    return new ParkingChannel(this);
  }

  @Override
  protected EngineCompletionQueue newCompletionQueue(
      int capacity, EngineChannel channel, int vector) throws VerbsException {
    return DisniCompletionQueue.create(this, capacity, channel);
  }

  @Override
  protected EngineConnectionManager newConnectionManager(EngineChannel channel)
      throws VerbsException {
    return DisniConnectionManager.create(this, channel);
  }

  @Override
  protected void closeDevice() {
    try {
      id.destroyId();
      channel.destroyEventChannel();
    } catch (IOException e) {
      throw new IllegalStateException("device was closed by others: device=" + info().name(), e);
    }
  }
}
