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
package org.sparkrdma.verbs.ibverbs;

import java.nio.file.Path;
import java.util.Set;
import org.sparkrdma.verbs.AccessFlag;
import org.sparkrdma.verbs.HostMemory;
import org.sparkrdma.verbs.MemoryRegion;
import org.sparkrdma.verbs.ProtectionDomain;
import org.sparkrdma.verbs.VerbsException;
import org.sparkrdma.verbs.engine.DomainMembers;
import org.sparkrdma.verbs.engine.LimitChecks;
import org.sparkrdma.verbs.ibverbs.ffi.Downcalls;
import org.sparkrdma.verbs.ibverbs.ffi.Libc;

/** A protection domain with its regions and queue pairs. Safe for any thread. */
final class IbverbsProtectionDomain implements ProtectionDomain {

  private final IbverbsDevice device;
  private final long pd;
  private final DomainMembers<IbverbsRegion, IbverbsQueuePair> members = new DomainMembers<>();

  private IbverbsProtectionDomain(IbverbsDevice device, long pd) {
    this.device = device;
    this.pd = pd;
  }

  static IbverbsProtectionDomain allocate(IbverbsDevice device) throws VerbsException {
    long pd = device.libraries().verbs().allocPd(device.context());
    if (pd == 0) {
      throw Libraries.failure("ibv_alloc_pd", "device=" + device.info().name());
    }
    return new IbverbsProtectionDomain(device, pd);
  }

  IbverbsDevice device() {
    return device;
  }

  long pd() {
    return pd;
  }

  @Override
  public MemoryRegion register(
      HostMemory memory, long offset, long lengthBytes, Set<AccessFlag> access)
      throws VerbsException {
    if (!(memory instanceof IbverbsMemory mine) || mine.device() != device) {
      throw new IllegalArgumentException("memory of another device");
    }
    LimitChecks.checkAccess(access);
    LimitChecks.checkRange(offset, lengthBytes, memory.lengthBytes());
    mine.retain();
    try {
      return register(true, mine::release, mine.address() + offset, lengthBytes, access, "");
    } catch (VerbsException | RuntimeException e) {
      mine.release();
      throw e;
    }
  }

  /**
   * Maps the range only to register it: the registration alone keeps its pages, unless it pages on
   * demand. Such a region follows the mapping (kernel, drivers/infiniband/core/umem_odp.c), which
   * lives as long then, and is for reading: pages that are not pinned are not made dirty either.
   */
  @Override
  public MemoryRegion registerFile(Path file, long offset, long lengthBytes, Set<AccessFlag> access)
      throws VerbsException {
    LimitChecks.checkFileAccess(access);
    LimitChecks.checkRange(offset, lengthBytes, Long.MAX_VALUE);
    String details = "file=" + file + " offset=" + offset;
    boolean onDemand = access.contains(AccessFlag.ON_DEMAND);
    FileMapping mapping = FileMapping.of(file, offset, lengthBytes, !onDemand);
    MemoryRegion region = null;
    try {
      Runnable unmap = onDemand ? mapping::close : () -> {};
      region = register(false, unmap, mapping.address(), lengthBytes, access, details);
      return region;
    } finally {
      if (region == null || !onDemand) {
        mapping.close();
      }
    }
  }

  /** Not under the lock: pinning much memory takes long, and several threads may do it at once. */
  private IbverbsRegion register(
      boolean reachable,
      Runnable backing,
      long address,
      long lengthBytes,
      Set<AccessFlag> access,
      String details)
      throws VerbsException {
    LimitChecks.checkOnDemand(access, device.info());
    int bits = device.rules().regionAccess(access);
    long mr = device.libraries().verbs().regMr(pd, address, lengthBytes, bits);
    if (mr == 0) {
      throw registrationFailure(Downcalls.errno(), lengthBytes, details);
    }
    synchronized (this) {
      if (members.isClosed()) {
        device.libraries().verbs().deregMr(mr);
      }
      members.checkOpen();
      device.registeredBytes().addAndGet(lengthBytes);
      var region = new IbverbsRegion(this, reachable, backing, mr, address, lengthBytes, access);
      members.add(region);
      return region;
    }
  }

  private VerbsException registrationFailure(int errno, long lengthBytes, String details) {
    String sizes =
        "lengthBytes=" + lengthBytes + " registeredBytes=" + device.registeredBytes().get();
    String hint = "";
    if (errno == Libc.ENOMEM) {
      String limit = new Machine(Path.of("/")).memlockLimit();
      hint = " memlockLimit=" + limit;
      hint +=
          limit.equals(Machine.NO_LIMIT)
              ? ": so the kernel or the device has no room for it; register less at once"
              : ": at least "
                  + (device.registeredBytes().get() + lengthBytes)
                  + " bytes are needed; raise it with ulimit -l, LimitMEMLOCK=infinity in the"
                  + " systemd unit, or --ulimit memlock=-1 for a container";
    }
    return Libraries.failure(
        "ibv_reg_mr", errno, sizes + (details.isEmpty() ? "" : " " + details) + hint);
  }

  synchronized void add(IbverbsQueuePair queuePair) {
    members.add(queuePair);
  }

  void onClosed(IbverbsRegion region) {
    members.remove(region);
  }

  void onClosed(IbverbsQueuePair queuePair) {
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
    device.libraries().verbs().deallocPd(pd);
    device.forget(this);
  }
}
