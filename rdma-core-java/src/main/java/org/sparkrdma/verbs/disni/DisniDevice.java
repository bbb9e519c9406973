// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.disni;

import com.ibm.disni.verbs.IbvContext;
import com.ibm.disni.verbs.RdmaCm;
import com.ibm.disni.verbs.RdmaCmId;
import com.ibm.disni.verbs.impl.NatIbvContext;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.sparkrdma.verbs.Device;
import org.sparkrdma.verbs.VerbsException;
import org.sparkrdma.verbs.device.DeviceInfo;
import org.sparkrdma.verbs.engine.DirectMemory;
import org.sparkrdma.verbs.engine.EngineChannel;
import org.sparkrdma.verbs.engine.EngineCompletionQueue;
import org.sparkrdma.verbs.engine.EngineConnectionManager;
import org.sparkrdma.verbs.engine.EngineDevice;
import org.sparkrdma.verbs.engine.EngineMemory;
import org.sparkrdma.verbs.engine.EngineProtectionDomain;
import org.sparkrdma.verbs.engine.KernelDriver;
import org.sparkrdma.verbs.engine.ParkingChannel;
import org.sparkrdma.verbs.engine.RdmaNodes;

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

  private final ThreadFactory threads;
  private final EventChannel channel;
  private final RdmaCmId id;
  private final IbvContext context;

  /**
   * @param root of the file system with /sys and /proc
   * @param threads creates those that wait for events
   */
  DisniDevice(Path root, DeviceInfo info, ThreadFactory threads, Consumer<Device> onClosed)
      throws VerbsException {
    // DiSNI cannot query the vendor.
    super(info, KernelDriver.ofUnknownVendor(info.transport()), FLUSH_TIMEOUT_NS, onClosed);
    this.threads = threads;
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
    channel = EventChannel.create();
    try {
      id = channel.createId(RdmaCm.RDMA_PS_TCP);
      id.bindAddr(new InetSocketAddress(address, 0));
      context = id.getVerbs();
      if (context == null || !RdmaNodes.deviceOf(root, context.getCmd_fd()).equals(info.name())) {
        // Devices on one network interface have the same addresses.
        throw new IOException("the address belongs to another device");
      }
    } catch (IOException e) {
      closeDevice();
      throw Failures.of("ibv_open_device", e, "device=" + info.name() + " address=" + address);
    }
  }

  IbvContext context() {
    return context;
  }

  ThreadFactory threads() {
    return threads;
  }

  /** Whether an identifier was bound to another device. The library opens each device once. */
  boolean isOfAnotherDevice(RdmaCmId other) throws IOException {
    IbvContext bound = other.getVerbs();
    return bound != null
        && ((NatIbvContext) bound).getObjId() != ((NatIbvContext) context).getObjId();
  }

  @Override
  protected EngineMemory newMemory(long lengthBytes) throws VerbsException {
    if (lengthBytes > DisniEngine.MAX_REGION_BYTES) {
      throw new VerbsException(
          "mmap",
          "memory of DiSNI has one buffer: lengthBytes="
              + lengthBytes
              + (" limit=" + DisniEngine.MAX_REGION_BYTES));
    }
    return new DisniMemory(this, DirectMemory.allocate((int) lengthBytes));
  }

  @Override
  protected EngineProtectionDomain newProtectionDomain() throws VerbsException {
    return new DisniProtectionDomain(this);
  }

  @Override
  protected ParkingChannel newChannel() {
    return new ParkingChannel(this);
  }

  @Override
  protected EngineCompletionQueue newCompletionQueue(
      int capacity, EngineChannel channel, int vector) throws VerbsException {
    return new DisniCompletionQueue(this, capacity, channel);
  }

  @Override
  protected EngineConnectionManager newConnectionManager(EngineChannel channel)
      throws VerbsException {
    return new DisniConnectionManager(this, channel, EventChannel.create());
  }

  @Override
  protected void closeDevice() {
    if (id != null) {
      channel.destroy(id);
    }
    channel.destroy();
  }
}
