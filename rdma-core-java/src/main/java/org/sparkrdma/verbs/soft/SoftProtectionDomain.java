// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.soft;

import java.io.IOException;
import java.nio.file.Path;
import java.util.Set;
import org.sparkrdma.verbs.AccessFlag;
import org.sparkrdma.verbs.QueuePairSettings;
import org.sparkrdma.verbs.VerbsException;
import org.sparkrdma.verbs.engine.EngineMemory;
import org.sparkrdma.verbs.engine.EngineProtectionDomain;
import org.sparkrdma.verbs.engine.EngineRegion;
import org.sparkrdma.verbs.soft.faults.FaultPlan;
import org.sparkrdma.verbs.soft.shared.LinkedFile;

/** A protection domain: a number that regions and queue pairs carry. Safe for any thread. */
final class SoftProtectionDomain extends EngineProtectionDomain {

  private final SoftDevice device;
  private final SoftContext context;
  private final int id;

  SoftProtectionDomain(SoftDevice device, int id) {
    super(device);
    this.device = device;
    context = device.context();
    this.id = id;
  }

  int id() {
    return id;
  }

  @Override
  protected EngineRegion registerMemory(
      EngineMemory memory, long offset, long lengthBytes, Set<AccessFlag> access)
      throws VerbsException {
    failIfPlanned(lengthBytes);
    return SoftRegion.ofMemory(
        this, context, takeKey(), (SoftMemory) memory, offset, lengthBytes, access);
  }

  @Override
  protected EngineRegion registerRange(
      Path file, long offset, long lengthBytes, Set<AccessFlag> access) throws VerbsException {
    failIfPlanned(lengthBytes);
    LinkedFile linked;
    try {
      linked = context.links().acquire(file, offset + lengthBytes);
    } catch (IOException e) {
      throw new VerbsException("ibv_reg_mr", "ibv_reg_mr failed: " + e, e);
    }
    try {
      return SoftRegion.ofFile(this, context, takeKey(), linked, offset, lengthBytes, access);
    } catch (VerbsException | RuntimeException e) {
      context.links().release(linked);
      throw e;
    }
  }

  private int takeKey() throws VerbsException {
    return context.regionKeys().take("ibv_reg_mr");
  }

  private void failIfPlanned(long lengthBytes) throws VerbsException {
    if (context.faults().fires(FaultPlan.Kind.REGISTER_ERROR)) {
      throw outOfMemory("ibv_reg_mr", "by the fault plan: lengthBytes=" + lengthBytes, null);
    }
  }

  SoftQueuePair createQueuePair(SoftConnection connection, int name, QueuePairSettings settings)
      throws VerbsException {
    int number = context.queuePairNumbers().take("ibv_create_qp");
    try {
      return new SoftQueuePair(device, this, connection, name, number, settings);
    } catch (IOException | VerbsException e) {
      context.directory().removeReceives(number);
      context.queuePairNumbers().release(number);
      throw outOfMemory("ibv_create_qp", e.getMessage() + " settings=" + settings, e);
    }
  }

  private static VerbsException outOfMemory(String call, String reason, Throwable cause) {
    return new VerbsException(call, VerbsException.ENOMEM, call + " failed: " + reason, cause);
  }

  @Override
  protected void deallocate() {}
}
