// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs;

import java.util.Set;

/** A region of a test's device: the properties that it was registered with. */
public abstract class PlainRegion implements MemoryRegion {
  private final RemoteRegion remote;
  private final Set<AccessFlag> access;

  protected PlainRegion(RemoteRegion remote, Set<AccessFlag> access) {
    this.remote = remote;
    this.access = access;
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
}
