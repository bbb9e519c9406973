// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.scenarios.faults.engine;

import org.sparkrdma.verbs.Opcode;
import org.sparkrdma.verbs.WorkCompletion;
import org.sparkrdma.verbs.WorkStatus;

/** A completion that the device did not make, or made at another time. */
record MadeCompletion(
    long requestId, WorkStatus status, int queuePairNumber, Opcode opcode, long byteLength)
    implements WorkCompletion {
  /** One that failed. */
  static MadeCompletion failed(long requestId, WorkStatus status, int queuePairNumber) {
    return new MadeCompletion(requestId, status, queuePairNumber, null, 0);
  }

  /** What can be kept of one that came. */
  static MadeCompletion copyOf(WorkCompletion came) {
    return new MadeCompletion(
        came.requestId(), came.status(), came.queuePairNumber(), came.opcode(), came.byteLength());
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
