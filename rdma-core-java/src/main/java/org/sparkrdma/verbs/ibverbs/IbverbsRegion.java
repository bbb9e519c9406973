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

import java.util.Set;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.sparkrdma.verbs.AccessFlag;
import org.sparkrdma.verbs.MemoryRegion;
import org.sparkrdma.verbs.RemoteRegion;
import org.sparkrdma.verbs.ibverbs.ffi.Layouts.IbvMr;
import org.sparkrdma.verbs.ibverbs.ffi.Memory;

/** A region over memory, or over a range of a file that this process does not touch. */
final class IbverbsRegion implements MemoryRegion {
  private static final Logger LOG = LoggerFactory.getLogger(IbverbsRegion.class);

  private final IbverbsProtectionDomain domain;
  private final boolean reachable;
  private final Runnable backing;
  private final long mr;
  private final int localKey;
  private final long address;
  private final long lengthBytes;
  private final RemoteRegion remote;
  private final Set<AccessFlag> access;
  private final boolean locallyWritable;
  private boolean closed;

  /**
   * Takes over the registration.
   *
   * @param reachable whether this process reads or writes its bytes
   * @param backing gives back what lies under it, after it
   */
  IbverbsRegion(
      IbverbsProtectionDomain domain,
      boolean reachable,
      Runnable backing,
      long mr,
      long address,
      long lengthBytes,
      Set<AccessFlag> access) {
    this.domain = domain;
    this.reachable = reachable;
    this.backing = backing;
    this.mr = mr;
    this.address = address;
    this.lengthBytes = lengthBytes;
    this.access = Set.copyOf(access);
    localKey = Memory.getInt(mr + IbvMr.LKEY);
    remote = new RemoteRegion(address, lengthBytes, Memory.getInt(mr + IbvMr.RKEY));
    locallyWritable = access.contains(AccessFlag.LOCAL_WRITE);
  }

  @Override
  public long address() {
    return address;
  }

  @Override
  public long lengthBytes() {
    return lengthBytes;
  }

  @Override
  public Set<AccessFlag> access() {
    return access;
  }

  @Override
  public RemoteRegion remote() {
    return remote;
  }

  IbverbsProtectionDomain domain() {
    return domain;
  }

  int localKey() {
    return localKey;
  }

  boolean isLocallyWritable() {
    return locallyWritable;
  }

  /** Whether its bytes can be reached by this process. */
  boolean isReachable() {
    return reachable;
  }

  @Override
  public void close() {
    synchronized (this) {
      if (closed) {
        return;
      }
      closed = true;
    }
    int rc = domain.device().libraries().verbs().deregMr(mr);
    if (rc != 0) {
      LOG.error("{}", Libraries.message("ibv_dereg_mr", rc, "lengthBytes=" + lengthBytes));
    }
    domain.device().registeredBytes().addAndGet(-lengthBytes);
    backing.run();
    domain.onClosed(this);
  }
}
