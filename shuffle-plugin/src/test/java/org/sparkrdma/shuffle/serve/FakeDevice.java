// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.serve;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.List;
import java.util.Set;
import org.sparkrdma.verbs.HostMemory;
import org.sparkrdma.verbs.UnsupportedDevice;
import org.sparkrdma.verbs.device.Capability;
import org.sparkrdma.verbs.device.DeviceInfo;
import org.sparkrdma.verbs.device.DeviceLimits;
import org.sparkrdma.verbs.device.Transport;

/** Has memory and facts, and nothing else of a device. */
final class FakeDevice extends UnsupportedDevice {
  private final DeviceInfo info;

  FakeDevice(int maxMemoryRegions, Set<Capability> capabilities) {
    DeviceLimits limits =
        new DeviceLimits(1, 1, 1, 1, 1, maxMemoryRegions, Long.MAX_VALUE, 1, 1, 0, 1);
    info = new DeviceInfo("fake0", "fake", Transport.LOOPBACK, 1, limits, capabilities, List.of());
  }

  @Override
  public DeviceInfo info() {
    return info;
  }

  @Override
  public HostMemory allocate(long lengthBytes) {
    return new FakeMemory(ByteBuffer.allocateDirect(Math.toIntExact(lengthBytes)));
  }

  private record FakeMemory(ByteBuffer bytes) implements HostMemory {
    @Override
    public long address() {
      return 0;
    }

    @Override
    public long lengthBytes() {
      return bytes.capacity();
    }

    @Override
    public ByteBuffer slice(long offset, int lengthBytes) {
      return bytes.slice((int) offset, lengthBytes).order(ByteOrder.LITTLE_ENDIAN);
    }

    @Override
    public void close() {}
  }
}
