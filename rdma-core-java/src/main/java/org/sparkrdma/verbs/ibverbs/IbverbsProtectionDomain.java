// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.ibverbs;

import java.nio.file.Path;
import java.util.Set;
import org.sparkrdma.verbs.AccessFlag;
import org.sparkrdma.verbs.QueuePairSettings;
import org.sparkrdma.verbs.VerbsException;
import org.sparkrdma.verbs.engine.EngineMemory;
import org.sparkrdma.verbs.engine.EngineProtectionDomain;
import org.sparkrdma.verbs.engine.EngineRegion;
import org.sparkrdma.verbs.engine.RegionAccess;
import org.sparkrdma.verbs.ibverbs.ffi.Layouts.IbvQpInitAttr;
import org.sparkrdma.verbs.ibverbs.ffi.Libc;
import org.sparkrdma.verbs.ibverbs.ffi.Native;
import org.sparkrdma.verbs.ibverbs.ffi.NativeArena;
import org.sparkrdma.verbs.ibverbs.ffi.SetUpCalls;
import org.sparkrdma.verbs.ibverbs.ffi.VerbsLibrary;

/** A protection domain of libibverbs. Safe for any thread. */
final class IbverbsProtectionDomain extends EngineProtectionDomain {

  private final IbverbsDevice device;
  private final long pd;

  private IbverbsProtectionDomain(IbverbsDevice device, long pd) {
    super(device);
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

  long pd() {
    return pd;
  }

  @Override
  protected EngineRegion registerMemory(
      EngineMemory memory, long offset, long lengthBytes, Set<AccessFlag> access)
      throws VerbsException {
    return register(memory, memory.address() + offset, lengthBytes, access, () -> {}, "");
  }

  /**
   * Maps the range only to register it: the registration keeps its pages. A region with on-demand
   * paging follows the mapping instead (kernel, drivers/infiniband/core/umem_odp.c), so there the
   * mapping stays. It is mapped read-only, because unpinned pages are not marked dirty.
   */
  @Override
  protected EngineRegion registerRange(
      Path file, long offset, long lengthBytes, Set<AccessFlag> access) throws VerbsException {
    String details = "file=" + file + " offset=" + offset;
    boolean onDemand = access.contains(AccessFlag.ON_DEMAND);
    FileMapping mapping = FileMapping.of(file, offset, lengthBytes, !onDemand);
    EngineRegion region = null;
    try {
      Runnable unmap = onDemand ? mapping::close : () -> {};
      region = register(null, mapping.address(), lengthBytes, access, unmap, details);
      return region;
    } finally {
      if (region == null || !onDemand) {
        mapping.close();
      }
    }
  }

  @Override
  protected boolean tryReadOnlyRange(Path file, long lengthBytes) throws VerbsException {
    try (FileMapping mapping = FileMapping.of(file, 0, lengthBytes, false)) {
      int bits = RegionAccess.bits(device.info().transport(), Set.of(AccessFlag.REMOTE_READ));
      VerbsLibrary verbs = device.libraries().verbs();
      long mr = verbs.regMr(pd, mapping.address(), lengthBytes, bits);
      if (mr == 0) {
        throw registrationFailure(SetUpCalls.errno(), lengthBytes, "readOnly=true");
      }
      device.onReleased("ibv_dereg_mr", verbs.deregMr(mr), "");
      return true;
    }
  }

  private IbverbsRegion register(
      EngineMemory memory,
      long address,
      long lengthBytes,
      Set<AccessFlag> access,
      Runnable unmap,
      String details)
      throws VerbsException {
    int bits = RegionAccess.bits(device.info().transport(), access);
    VerbsLibrary verbs = device.libraries().verbs();
    long mr = verbs.regMr(pd, address, lengthBytes, bits);
    if (mr == 0 && (bits & RegionAccess.RELAXED_ORDERING) != 0) {
      // Once more without the hint, which the kernel or the device may not support.
      mr = verbs.regMr(pd, address, lengthBytes, bits & ~RegionAccess.RELAXED_ORDERING);
    }
    if (mr == 0) {
      throw registrationFailure(SetUpCalls.errno(), lengthBytes, details);
    }
    return new IbverbsRegion(device, this, memory, mr, address, lengthBytes, access, unmap);
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

  /** A struct ibv_qp_init_attr for these settings, see ibv_create_qp(3), in the arena's memory. */
  static long writeAttributes(QueuePairSettings settings, NativeArena arena) {
    long at = arena.allocate(IbvQpInitAttr.SIZE);
    long sendCq = ((IbverbsCompletionQueue) settings.sendQueue()).cq();
    long receiveCq = ((IbverbsCompletionQueue) settings.receiveQueue()).cq();
    Native.putLong(at + IbvQpInitAttr.SEND_CQ, sendCq);
    Native.putLong(at + IbvQpInitAttr.RECV_CQ, receiveCq);
    Native.putInt(at + IbvQpInitAttr.CAP_MAX_SEND_WR, settings.sendDepth());
    Native.putInt(at + IbvQpInitAttr.CAP_MAX_RECV_WR, settings.receiveDepth());
    Native.putInt(at + IbvQpInitAttr.CAP_MAX_SEND_SGE, settings.maxSge());
    Native.putInt(at + IbvQpInitAttr.CAP_MAX_RECV_SGE, settings.maxSge());
    Native.putInt(at + IbvQpInitAttr.QP_TYPE, VerbsLibrary.QP_TYPE_RC);
    return at;
  }

  @Override
  protected void tryQueuePair(QueuePairSettings settings) throws VerbsException {
    VerbsLibrary verbs = device.libraries().verbs();
    try (NativeArena one = new NativeArena()) {
      long qp = verbs.createQp(pd, writeAttributes(settings, one));
      if (qp == 0) {
        throw Libraries.failure("ibv_create_qp", settings.toString());
      }
      int errno = verbs.destroyQp(qp);
      if (errno != 0) {
        throw Libraries.failure("ibv_destroy_qp", errno, settings.toString());
      }
    }
  }

  @Override
  protected void destroy() {
    device.onReleased("ibv_dealloc_pd", device.libraries().verbs().deallocPd(pd), "");
  }
}
