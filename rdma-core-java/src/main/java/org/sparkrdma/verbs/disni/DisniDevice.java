// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.disni;

import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.sparkrdma.verbs.Device;
import org.sparkrdma.verbs.VerbsException;
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
 * <p>The device's completion channels belong to the completion queues, one each: events of DiSNI do
 * not name their queue. So a watcher for each queue wakes the owner's channel.
 */
final class DisniDevice extends EngineDevice {
  /** Limit of the time in which a device flushes the posted work of a broken connection. */
  private static final long FLUSH_TIMEOUT_NS = TimeUnit.MILLISECONDS.toNanos(100);

  private final DeviceContext context;

  /** Takes over the context. */
  DisniDevice(DeviceContext context, Consumer<Device> onClosed) {
    super(
        context.info(),
        // DiSNI cannot query the vendor.
        Driver.ofUnknownVendor(context.info().transport()),
        FLUSH_TIMEOUT_NS,
        onClosed);
    this.context = context;
  }

  DeviceContext context() {
    return context;
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
    context.close();
  }
}
