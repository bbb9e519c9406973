// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.disni;

import com.ibm.disni.verbs.IbvMr;
import java.io.IOException;
import java.util.Set;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.sparkrdma.verbs.AccessFlag;
import org.sparkrdma.verbs.RemoteRegion;
import org.sparkrdma.verbs.engine.EngineMemory;
import org.sparkrdma.verbs.engine.EngineRegion;

/** A registration of DiSNI. Safe for any thread. */
final class DisniRegion extends EngineRegion {
  private static final Logger LOG = LoggerFactory.getLogger(DisniRegion.class);

  private final IbvMr mr;
  private final int localKey;

  /**
   * Takes over the registration.
   *
   * @param memory null for a file
   */
  DisniRegion(DisniProtectionDomain domain, EngineMemory memory, IbvMr mr, Set<AccessFlag> access) {
    super(domain, memory, RemoteRegion.ofKey32(mr.getAddr(), mr.getLength(), mr.getRkey()), access);
    this.mr = mr;
    localKey = mr.getLkey();
  }

  int localKey() {
    return localKey;
  }

  @Override
  protected void deregister() {
    try {
      mr.deregMr().execute().free();
    } catch (IOException e) {
      LOG.error("Region was not deregistered: lengthBytes={}", lengthBytes(), e);
    }
  }
}
