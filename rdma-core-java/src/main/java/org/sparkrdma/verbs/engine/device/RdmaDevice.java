// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.engine.device;

import java.util.function.Consumer;
import org.sparkrdma.verbs.Device;
import org.sparkrdma.verbs.device.DeviceInfo;
import org.sparkrdma.verbs.engine.EngineChannel;
import org.sparkrdma.verbs.engine.EngineDevice;

/**
 * An open RDMA device: its driver, and the table of its queue pairs. Safe for any thread.
 *
 * @param <C> the engine's completion channels
 * @param <Q> the engine's queue pairs
 */
public abstract class RdmaDevice<C extends EngineChannel, Q extends DeviceQueuePair>
    extends EngineDevice<C> {
  private final Driver driver;
  private final long flushTimeoutNs;
  private final QueuePairTable<Q> queuePairs = new QueuePairTable<>();

  /**
   * @param flushTimeoutNs how long the device may keep work of a broken queue pair
   * @param onClosed called once, after everything was closed
   */
  protected RdmaDevice(
      DeviceInfo info, Driver driver, long flushTimeoutNs, Consumer<Device> onClosed) {
    super(info, onClosed);
    this.driver = driver;
    this.flushTimeoutNs = flushTimeoutNs;
  }

  public final Driver driver() {
    return driver;
  }

  public final QueuePairTable<Q> queuePairs() {
    return queuePairs;
  }

  final long flushTimeoutNs() {
    return flushTimeoutNs;
  }
}
