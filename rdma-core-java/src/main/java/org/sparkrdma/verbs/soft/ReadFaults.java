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

  /** Whether the connection ends instead of the first step of this request. */
  boolean dropConnectionAt(WorkEntry entry) {
    return isFirstStep(entry) && plan.fires(FaultPlan.Kind.DROP_CONNECTION);
  }

  /** Whether this request fails instead of its first step. */
  boolean failAt(WorkEntry entry) {
    return isFirstStep(entry) && plan.fires(FaultPlan.Kind.READ_ERROR);
  }

  private boolean isFirstStep(WorkEntry entry) {
    return entry.progress == 0 && isRead(entry);
  }

  /** Flips a bit of what a READ brought, if the plan wants that. */
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
