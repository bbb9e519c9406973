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
import org.sparkrdma.verbs.MemoryRegion;
import org.sparkrdma.verbs.RemoteRegion;

/** A region over memory, or over a range of a file. Safe for any thread. */
final class DisniRegion implements MemoryRegion {
  private static final Logger LOG = LoggerFactory.getLogger(DisniRegion.class);

  private final DisniProtectionDomain domain;
  private final DisniMemory memory;
  private final IbvMr mr;
  private final int localKey;
  private final RemoteRegion remote;
  private final Set<AccessFlag> access;
  private final boolean locallyWritable;
  private boolean closed;

  /** Takes over the registration, and the hold on the memory; that is null for a file. */
  DisniRegion(DisniProtectionDomain domain, DisniMemory memory, IbvMr mr, Set<AccessFlag> access) {
    this.domain = domain;
    this.memory = memory;
    this.mr = mr;
    this.access = Set.copyOf(access);
    localKey = mr.getLkey();
    remote = new RemoteRegion(mr.getAddr(), mr.getLength(), mr.getRkey());
    locallyWritable = access.contains(AccessFlag.LOCAL_WRITE);
  }

  @Override
  public long address() {
    return remote.address();
  }

  @Override
  public long lengthBytes() {
    return remote.lengthBytes();
  }

  @Override
  public Set<AccessFlag> access() {
    return access;
  }

  @Override
  public RemoteRegion remote() {
    return remote;
  }

  DisniProtectionDomain domain() {
    return domain;
  }

  int localKey() {
    return localKey;
  }

  boolean isLocallyWritable() {
    return locallyWritable;
  }

  @Override
  public void close() {
    synchronized (this) {
      if (closed) {
        return;
      }
      closed = true;
    }
    try {
      mr.deregMr().execute().free();
    } catch (IOException e) {
      LOG.error("region was not deregistered: lengthBytes={}", lengthBytes(), e);
    }
    if (memory != null) {
      memory.release();
    }
    domain.onClosed(this);
  }
}
