// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.ibverbs;

import java.util.Set;
import org.sparkrdma.verbs.AccessFlag;
import org.sparkrdma.verbs.RemoteRegion;
import org.sparkrdma.verbs.engine.EngineMemory;
import org.sparkrdma.verbs.engine.EngineRegion;
import org.sparkrdma.verbs.ibverbs.ffi.Layouts.IbvMr;
import org.sparkrdma.verbs.ibverbs.ffi.Native;

/** A registration of libibverbs. Safe for any thread. */
final class IbverbsRegion extends EngineRegion {
  private final IbverbsDevice device;
  private final long mr;
  private final Runnable unmap;

  /**
   * Takes over the registration.
   *
   * @param memory null for a file
   * @param unmap unmaps a file, after it is deregistered
   */
  IbverbsRegion(
      IbverbsDevice device,
      IbverbsProtectionDomain domain,
      EngineMemory memory,
      long mr,
      long address,
      long lengthBytes,
      Set<AccessFlag> access,
      Runnable unmap) {
    super(
        domain,
        memory,
        RemoteRegion.ofKey32(address, lengthBytes, Native.getInt(mr + IbvMr.RKEY)),
        Native.getInt(mr + IbvMr.LKEY),
        access);
    this.device = device;
    this.mr = mr;
    this.unmap = unmap;
    device.registeredBytes().addAndGet(lengthBytes);
  }

  @Override
  protected void deregister() {
    int rc = device.libraries().verbs().deregMr(mr);
    device.onReleased("ibv_dereg_mr", rc, "lengthBytes=" + lengthBytes());
    device.registeredBytes().addAndGet(-lengthBytes());
    unmap.run();
  }
}
