// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.engine;

import java.util.Set;
import org.sparkrdma.verbs.AccessFlag;
import org.sparkrdma.verbs.MemoryRegion;
import org.sparkrdma.verbs.RemoteRegion;

/** A region over memory or over a range of a file. Safe for any thread. */
public abstract class EngineRegion extends EngineObject implements MemoryRegion {
  private final EngineProtectionDomain domain;
  private final EngineMemory memory;
  private final RemoteRegion remote;
  private final Set<AccessFlag> access;
  private final boolean locallyWritable;
  private final int localKey;

  /**
   * @param memory retained by the domain for this region; null over a file
   * @param localKey of the region in work requests; 0 where the engine has none
   */
  protected EngineRegion(
      EngineProtectionDomain domain,
      EngineMemory memory,
      RemoteRegion remote,
      int localKey,
      Set<AccessFlag> access) {
    super(domain.device(), "memory region");
    this.domain = domain;
    this.memory = memory;
    this.remote = remote;
    this.localKey = localKey;
    this.access = Set.copyOf(access);
    locallyWritable = access.contains(AccessFlag.LOCAL_WRITE);
    domain.retain();
  }

  @Override
  public final long address() {
    return remote.address();
  }

  @Override
  public final long lengthBytes() {
    return remote.lengthBytes();
  }

  @Override
  public final Set<AccessFlag> access() {
    return access;
  }

  @Override
  public final RemoteRegion remote() {
    return remote;
  }

  final EngineProtectionDomain domain() {
    return domain;
  }

  /** Names it in work requests of this process. */
  public final int localKey() {
    return localKey;
  }

  /** Whether the device may write to it for this process: READs and receives. */
  public final boolean isLocallyWritable() {
    return locallyWritable;
  }

  /** Whether it is over a file, whose bytes this process does not touch. */
  public final boolean isFile() {
    return memory == null;
  }

  @Override
  protected final void destroy() {
    try {
      deregister();
    } finally {
      if (memory != null) {
        memory.release();
      }
      domain.release();
    }
  }

  /** Deregisters it; called once. No operation of a peer that goes on when it returns succeeds. */
  protected abstract void deregister();
}
