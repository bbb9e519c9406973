/*
 * Licensed under the Apache License, Version 2.0 (the "License");
 * you may not use this file except in compliance with the License.
 * You may obtain a copy of the License at
 *
 *     http://www.apache.org/licenses/LICENSE-2.0
 *
 * Unless required by applicable law or agreed to in writing, software
 * distributed under the License is distributed on an "AS IS" BASIS,
 * WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
 * See the License for the specific language governing permissions and
 * limitations under the License.
 */
package org.sparkrdma.verbs.soft;

import java.io.IOException;
import java.nio.file.Path;
import java.util.Set;
import org.sparkrdma.verbs.AccessFlag;
import org.sparkrdma.verbs.HostMemory;
import org.sparkrdma.verbs.MemoryRegion;
import org.sparkrdma.verbs.ProtectionDomain;
import org.sparkrdma.verbs.QueuePairSettings;
import org.sparkrdma.verbs.VerbsException;
import org.sparkrdma.verbs.engine.DomainMembers;
import org.sparkrdma.verbs.engine.LimitChecks;
import org.sparkrdma.verbs.soft.faults.FaultPlan;
import org.sparkrdma.verbs.soft.shared.LinkedFile;
import org.sparkrdma.verbs.soft.shared.SharedTable;

/** A protection domain: a number that regions and queue pairs carry. Safe for any thread. */
final class SoftProtectionDomain implements ProtectionDomain {
  private static final int OUT_OF_MEMORY = 12;

  private final SoftDevice device;
  private final int id;
  private final DomainMembers<SoftRegion, SoftQueuePair> members = new DomainMembers<>();

  SoftProtectionDomain(SoftDevice device, int id) {
    this.device = device;
    this.id = id;
  }

  int id() {
    return id;
  }

  SoftDevice device() {
    return device;
  }

  @Override
  public MemoryRegion register(
      HostMemory memory, long offset, long lengthBytes, Set<AccessFlag> access)
      throws VerbsException {
    if (!(memory instanceof SoftMemory mine) || mine.device() != device) {
      throw new IllegalArgumentException("memory of another device");
    }
    LimitChecks.checkAccess(access);
    LimitChecks.checkRange(offset, lengthBytes, memory.lengthBytes());
    failIfPlanned(lengthBytes);
    mine.retain();
    try {
      return add(new SoftRegion(this, mine, offset, lengthBytes, access));
    } catch (VerbsException | RuntimeException e) {
      mine.release();
      throw e;
    }
  }

  @Override
  public MemoryRegion registerFile(Path file, long offset, long lengthBytes, Set<AccessFlag> access)
      throws VerbsException {
    LimitChecks.checkFileAccess(access);
    LimitChecks.checkRange(offset, lengthBytes, Long.MAX_VALUE);
    failIfPlanned(lengthBytes);
    LinkedFile linked;
    try {
      linked = device.links().acquire(file, offset + lengthBytes);
    } catch (IOException e) {
      throw new VerbsException("ibv_reg_mr", "ibv_reg_mr failed: " + e, e);
    }
    try {
      long address = device.addresses().take(lengthBytes);
      return add(new SoftRegion(this, linked, offset, address, lengthBytes, access));
    } catch (VerbsException | RuntimeException e) {
      device.links().release(linked);
      throw e;
    }
  }

  private void failIfPlanned(long lengthBytes) throws VerbsException {
    if (device.faults().strikes(FaultPlan.Kind.REGISTER_ERROR)) {
      throw new VerbsException(
          "ibv_reg_mr",
          OUT_OF_MEMORY,
          "ibv_reg_mr failed: the fault plan says so: lengthBytes=" + lengthBytes,
          null);
    }
  }

  private synchronized SoftRegion add(SoftRegion region) throws VerbsException {
    members.checkOpen();
    device.regions().publish(region);
    members.add(region);
    return region;
  }

  synchronized SoftQueuePair createQueuePair(QueuePairSettings settings) throws VerbsException {
    members.checkOpen();
    int number = device.queuePairNumbers().take();
    if (number < 0) {
      throw new VerbsException(
          "ibv_create_qp",
          OUT_OF_MEMORY,
          "ibv_create_qp failed: too many queue pairs: limit=" + SharedTable.QUEUE_PAIRS,
          null);
    }
    try {
      var queuePair = new SoftQueuePair(device, this, number, settings);
      members.add(queuePair);
      return queuePair;
    } catch (OutOfMemoryError e) {
      device.queuePairNumbers().giveBack(number);
      throw new VerbsException(
          "ibv_create_qp",
          OUT_OF_MEMORY,
          "ibv_create_qp failed: " + e.getMessage() + " settings=" + settings,
          e);
    }
  }

  void onClosed(SoftRegion region) {
    members.remove(region);
  }

  void onClosed(SoftQueuePair queuePair) {
    members.remove(queuePair);
  }

  int regionCount() {
    return members.regionCount();
  }

  int queuePairCount() {
    return members.queuePairCount();
  }

  /** Closes it with what is left in it. */
  void closeAll() {
    members.closeAll();
    close();
  }

  @Override
  public synchronized void close() {
    if (!members.markClosed()) {
      return;
    }
    device.forget(this);
  }
}
