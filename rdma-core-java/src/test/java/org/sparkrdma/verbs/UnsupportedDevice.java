// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs;

import org.sparkrdma.verbs.cm.ConnectionManager;
import org.sparkrdma.verbs.device.DeviceInfo;
import org.sparkrdma.verbs.device.OpenResources;

/** A device that supports no operation; a test overrides the operations that it needs. */
public abstract class UnsupportedDevice implements Device {
  @Override
  public DeviceInfo info() {
    throw new UnsupportedOperationException();
  }

  @Override
  public OpenResources openResources() {
    throw new UnsupportedOperationException();
  }

  @Override
  public HostMemory allocate(long lengthBytes) throws VerbsException {
    throw new UnsupportedOperationException();
  }

  @Override
  public ProtectionDomain allocateProtectionDomain() {
    throw new UnsupportedOperationException();
  }

  @Override
  public CompletionChannel createCompletionChannel() {
    throw new UnsupportedOperationException();
  }

  @Override
  public CompletionQueue createCompletionQueue(int capacity, CompletionChannel channel, int vector)
      throws VerbsException {
    throw new UnsupportedOperationException();
  }

  @Override
  public ConnectionManager createConnectionManager(CompletionChannel channel) {
    throw new UnsupportedOperationException();
  }

  @Override
  public void close() {}
}
