// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.soft;

import org.sparkrdma.verbs.Opcode;
import org.sparkrdma.verbs.soft.faults.FaultPlan;

/** Faults that are injected into the READs of a queue pair. Confined to the device thread. */
final class ReadFaults {
  private final FaultPlan plan;

  ReadFaults(FaultPlan plan) {
    this.plan = plan;
  }

  /** Takes the plan's next decision on whether the connection ends at this request's first step. */
  boolean tryDropConnection(WorkEntry entry) {
    return isFirstStep(entry) && plan.fires(FaultPlan.Kind.DROP_CONNECTION);
  }

  /** Takes the plan's next decision on whether this request fails at its first step. */
  boolean tryFail(WorkEntry entry) {
    return isFirstStep(entry) && plan.fires(FaultPlan.Kind.READ_ERROR);
  }

  private boolean isFirstStep(WorkEntry entry) {
    return entry.progress == 0 && isRead(entry);
  }

  /** Flips a bit of the data of a READ, if the plan says so. */
  void corrupt(WorkEntry entry) {
    if (isRead(entry)) {
      long bit = plan.bitToFlip(entry.totalBytes);
      if (bit >= 0) {
        entry.flipBit(bit);
      }
    }
  }

  private boolean isRead(WorkEntry entry) {
    return entry.opcode == Opcode.READ && plan.isActive();
  }
}
