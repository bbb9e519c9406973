// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.transport;

import java.nio.file.Path;
import java.util.Set;
import org.sparkrdma.verbs.AccessFlag;
import org.sparkrdma.verbs.HostMemory;
import org.sparkrdma.verbs.MemoryRegion;
import org.sparkrdma.verbs.ProtectionDomain;
import org.sparkrdma.verbs.VerbsException;

/** A protection domain that registers no memory while the test says so. */
final class RefusingDomain implements ProtectionDomain {
  private final ProtectionDomain domain;
  private boolean refuses;
  private int refusals;

  /**
   * @param domain registers memory otherwise
   */
  RefusingDomain(ProtectionDomain domain) {
    this.domain = domain;
  }

  /** Makes registrations fail. */
  void refuse() {
    refuses = true;
  }

  /** Makes registrations succeed again. */
  void allow() {
    refuses = false;
  }

  /** Registrations that failed. */
  int refusals() {
    return refusals;
  }

  @Override
  public MemoryRegion register(
      HostMemory memory, long offset, long lengthBytes, Set<AccessFlag> access)
      throws VerbsException {
    if (refuses) {
      refusals++;
      throw new VerbsException("ibv_reg_mr", "refused by the test");
    }
    return domain.register(memory, offset, lengthBytes, access);
  }

  @Override
  public MemoryRegion registerFile(
      Path file, long offset, long lengthBytes, Set<AccessFlag> access) {
    throw new UnsupportedOperationException();
  }

  @Override
  public void close() {}
}
