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
    super(domain, memory, new RemoteRegion(mr.getAddr(), mr.getLength(), mr.getRkey()), access);
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
      LOG.error("region was not deregistered: lengthBytes={}", lengthBytes(), e);
    }
  }
}
