// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.soft;

import java.io.IOException;
import java.util.function.Consumer;
import org.sparkrdma.verbs.Device;
import org.sparkrdma.verbs.VerbsException;
import org.sparkrdma.verbs.engine.EngineCompletionQueue;
import org.sparkrdma.verbs.engine.EngineConnectionManager;
import org.sparkrdma.verbs.engine.EngineDevice;
import org.sparkrdma.verbs.engine.EngineMemory;
import org.sparkrdma.verbs.engine.EngineProtectionDomain;
import org.sparkrdma.verbs.soft.shared.HostIdentity;

/** An open soft device. Safe for any thread. */
final class SoftDevice extends EngineDevice<SoftChannel> {
  private final SoftContext context;
  private int nextDomainId = 1;

  private SoftDevice(SoftContext context, HostIdentity host, Consumer<Device> onClosed)
      throws VerbsException {
    super(SoftDeviceFacts.info(context.settings(), host), onClosed);
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
    return SoftMemory.allocate(this, context.shared(), lengthBytes);
  }

  @Override
  protected EngineProtectionDomain newProtectionDomain() {
    return new SoftProtectionDomain(this, context, nextDomainId++);
  }

  @Override
  protected SoftChannel newChannel() {
    return new SoftChannel(this, context.loop());
  }

  @Override
  protected EngineCompletionQueue newCompletionQueue(
      int capacity, SoftChannel channel, int vector) {
    return new SoftCompletionQueue(this, capacity, channel, context.loop());
  }

  @Override
  protected EngineConnectionManager newConnectionManager(SoftChannel channel) {
    return new SoftConnectionManager(this, context, channel);
  }

  @Override
  protected void closeDevice() {
    context.close();
  }
}
