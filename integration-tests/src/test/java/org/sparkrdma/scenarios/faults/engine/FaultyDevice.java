// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.scenarios.faults.engine;

import org.sparkrdma.scenarios.faults.plan.Faults;
import org.sparkrdma.verbs.CompletionChannel;
import org.sparkrdma.verbs.CompletionQueue;
import org.sparkrdma.verbs.Device;
import org.sparkrdma.verbs.HostMemory;
import org.sparkrdma.verbs.ProtectionDomain;
import org.sparkrdma.verbs.VerbsException;
import org.sparkrdma.verbs.cm.ConnectionManager;
import org.sparkrdma.verbs.device.DeviceInfo;
import org.sparkrdma.verbs.device.OpenResources;

/** Decorates objects created on a device; memory and channels are the device's own. */
final class FaultyDevice implements Device {
  private final Device real;
  private final Faults faults;

  FaultyDevice(Device real, Faults faults) {
    this.real = real;
    this.faults = faults;
  }

  @Override
  public DeviceInfo info() {
    return real.info();
  }

  @Override
  public OpenResources openResources() {
    return real.openResources();
  }

  @Override
  public HostMemory allocate(long lengthBytes) throws VerbsException {
    return real.allocate(lengthBytes);
  }

  @Override
  public ProtectionDomain allocateProtectionDomain() throws VerbsException {
    return new FaultyDomain(real.allocateProtectionDomain(), faults);
  }

  @Override
  public CompletionChannel createCompletionChannel() throws VerbsException {
    return real.createCompletionChannel();
  }

  @Override
  public CompletionQueue createCompletionQueue(int capacity, CompletionChannel channel, int vector)
      throws VerbsException {
    return new FaultyCompletionQueue(
        real.createCompletionQueue(capacity, channel, vector), channel);
  }

  @Override
  public ConnectionManager createConnectionManager(CompletionChannel channel)
      throws VerbsException {
    return new FaultyConnectionManager(real.createConnectionManager(channel), channel, faults);
  }

  @Override
  public void close() {
    real.close();
  }
}
