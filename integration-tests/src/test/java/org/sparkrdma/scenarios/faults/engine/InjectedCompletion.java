// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.scenarios.faults.engine;

import org.sparkrdma.verbs.Opcode;
import org.sparkrdma.verbs.WorkCompletion;
import org.sparkrdma.verbs.WorkStatus;

/** A completion that the device did not make, or made at another time. */
record InjectedCompletion(
    long requestId,
    WorkStatus status,
    int queuePairNumber,
    Object attachment,
    Opcode opcode,
    long byteLength)
    implements WorkCompletion {
  /** A failed completion. */
  static InjectedCompletion failed(
      long requestId, WorkStatus status, int queuePairNumber, Object attachment) {
    return new InjectedCompletion(requestId, status, queuePairNumber, attachment, null, 0);
  }

  /** A copy of a completion, for later. */
  static InjectedCompletion copyOf(WorkCompletion original) {
    return new InjectedCompletion(
        original.requestId(),
        original.status(),
        original.queuePairNumber(),
        original.attachment(),
        original.opcode(),
        original.byteLength());
  }

  @Override
  public int vendorError() {
    return 0;
  }

  @Override
  public boolean hasImmediate() {
    return false;
  }

  @Override
  public int immediate() {
    return 0;
  }
}
