// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.soft;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Set;
import org.sparkrdma.verbs.AccessFlag;
import org.sparkrdma.verbs.QueuePairSettings;
import org.sparkrdma.verbs.VerbsException;
import org.sparkrdma.verbs.engine.EngineMemory;
import org.sparkrdma.verbs.engine.EngineProtectionDomain;
import org.sparkrdma.verbs.engine.EngineRegion;
import org.sparkrdma.verbs.soft.shared.FileLinks.LinkedFile;
import org.sparkrdma.verbs.soft.shared.PrivateFiles;
import org.sparkrdma.verbs.soft.shared.SharedDirectory;

/** A protection domain: a number that regions and queue pairs carry. Safe for any thread. */
final class SoftProtectionDomain extends EngineProtectionDomain {

  private final SoftDevice device;
  private final int id;

  SoftProtectionDomain(SoftDevice device, int id) {
    super(device);
    this.device = device;
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
    device.settings.registration().charge(lengthBytes);
    return new SoftRegion(
        this, device, (SoftMemory) memory, null, offset, lengthBytes, takeKey(), access);
  }

  @Override
  protected EngineRegion registerRange(
      Path file, long offset, long lengthBytes, Set<AccessFlag> access) throws VerbsException {
    failIfPlanned(lengthBytes);
    LinkedFile linked;
    try {
      linked = device.links.acquire(file, offset + lengthBytes);
    } catch (IOException e) {
      throw new VerbsException("ibv_reg_mr", "ibv_reg_mr failed: " + e, e);
    }
    try {
      charge(linked, offset, lengthBytes);
      return new SoftRegion(this, device, null, linked, offset, lengthBytes, takeKey(), access);
    } catch (VerbsException | RuntimeException e) {
      device.links.release(linked);
      throw e;
    }
  }

  private void charge(LinkedFile linked, long offset, long lengthBytes) throws VerbsException {
    SoftCost cost = device.settings.registration();
    if (cost.isNothing()) {
      return;
    }
    try (FileChannel file = FileChannel.open(linked.hardLink(), StandardOpenOption.READ)) {
      cost.charge(file.position(offset), lengthBytes);
    } catch (IOException e) {
      throw new VerbsException("ibv_reg_mr", "ibv_reg_mr failed: " + e, e);
    }
  }

  private int takeKey() throws VerbsException {
    return device.regionKeys.take("ibv_reg_mr");
  }

  private void failIfPlanned(long lengthBytes) throws VerbsException {
    if (device.faults.fires(FaultPlan.Kind.REGISTER_ERROR)) {
      throw outOfMemory("ibv_reg_mr", "by the fault plan: lengthBytes=" + lengthBytes, null);
    }
  }

  SoftQueuePair createQueuePair(SoftConnection connection, QueuePairSettings settings)
      throws VerbsException {
    int number = device.queuePairNumbers.take("ibv_create_qp");
    try {
      return new SoftQueuePair(device, this, connection, number, settings);
    } catch (IOException | VerbsException e) {
      PrivateFiles.delete(SharedDirectory.receives(device.directory.path(), number));
      device.queuePairNumbers.release(number);
      throw outOfMemory("ibv_create_qp", e.getMessage() + " settings=" + settings, e);
    }
  }

  private static VerbsException outOfMemory(String call, String reason, Throwable cause) {
    return new VerbsException(call, VerbsException.ENOMEM, call + " failed: " + reason, cause);
  }
}
