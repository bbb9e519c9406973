// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.disni;

import java.util.concurrent.ThreadFactory;
import java.util.function.Consumer;
import org.sparkrdma.verbs.Device;
import org.sparkrdma.verbs.VerbsException;
import org.sparkrdma.verbs.engine.EngineCompletionQueue;
import org.sparkrdma.verbs.engine.EngineConnectionManager;
import org.sparkrdma.verbs.engine.EngineDevice;
import org.sparkrdma.verbs.engine.EngineMemory;
import org.sparkrdma.verbs.engine.EngineProtectionDomain;
import org.sparkrdma.verbs.engine.ParkingChannel;
import org.sparkrdma.verbs.engine.device.Driver;
import org.sparkrdma.verbs.engine.device.QueuePairTable;

/**
 * An open device of DiSNI. Safe for any thread.
 *
 * <p>The device's completion channels belong to the completion queues, one each: events of DiSNI do
 * not name their queue. So a watcher for each queue wakes the owner's channel.
 */
final class DisniDevice extends EngineDevice<ParkingChannel> {
  private final DeviceContext context;
  private final DisniSettings settings;
  private final ThreadFactory threads;
  private final TransportRules rules;
  private final Driver driver;
  private final QueuePairTable<DisniQueuePair> queuePairs = new QueuePairTable<>();

  /**
   * Takes over the context.
   *
   * @param threads makes the watchers' threads; differs in tests only
   */
  DisniDevice(
      DeviceContext context,
      DisniSettings settings,
      ThreadFactory threads,
      Consumer<Device> onClosed) {
    super(context.info(), onClosed);
    this.context = context;
    this.settings = settings;
    this.threads = threads;
    rules = TransportRules.of(context.info().transport());
    // DiSNI cannot query the vendor.
    driver = Driver.ofUnknownVendor(context.info().transport());
  }

  DeviceContext context() {
    return context;
  }

  DisniSettings settings() {
    return settings;
  }

  ThreadFactory threads() {
    return threads;
  }

  TransportRules rules() {
    return rules;
  }

  Driver driver() {
    return driver;
  }

  QueuePairTable<DisniQueuePair> queuePairs() {
    return queuePairs;
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
      int capacity, ParkingChannel channel, int vector) throws VerbsException {
    return DisniCompletionQueue.create(this, capacity, channel);
  }

  @Override
  protected EngineConnectionManager newConnectionManager(ParkingChannel channel)
      throws VerbsException {
    return DisniConnectionManager.create(this, channel);
  }

  @Override
  protected void closeDevice() {
    context.close();
  }
}
