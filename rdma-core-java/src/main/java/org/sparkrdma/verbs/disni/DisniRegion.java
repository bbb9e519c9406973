// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.disni;

import com.ibm.disni.verbs.IbvMr;
import java.util.Set;
import org.sparkrdma.verbs.AccessFlag;
import org.sparkrdma.verbs.RemoteRegion;
import org.sparkrdma.verbs.engine.EngineMemory;
import org.sparkrdma.verbs.engine.EngineRegion;

/** A registration of DiSNI. Safe for any thread. */
final class DisniRegion extends EngineRegion {
  private final IbvMr mr;

  /**
   * Takes over the registration.
   *
   * @param memory null for a file
   */
  DisniRegion(DisniProtectionDomain domain, EngineMemory memory, IbvMr mr, Set<AccessFlag> access) {
    super(
        domain,
        memory,
        RemoteRegion.ofKey32(mr.getAddr(), mr.getLength(), mr.getRkey()),
        mr.getLkey(),
        access);
    this.mr = mr;
  }

  @Override
  protected void deregister() {
    Failures.release(
        "ibv_dereg_mr",
        () -> {
          mr.deregMr().execute().free();
          return 0;
        });
  }
}
