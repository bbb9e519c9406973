// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.transport;

import java.util.ArrayList;
import java.util.List;

/** The batches of a connection whose READs have not all completed. Owned by the agent. */
final class OpenBatches {
  /** Sorted by the order of their answers, so that the first is mostly done first. */
  private final List<ReadBatch> batches = new ArrayList<>();

  boolean isEmpty() {
    return batches.isEmpty();
  }

  void add(ReadBatch batch) {
    batches.add(batch);
  }

  void remove(ReadBatch batch) {
    batches.remove(batch);
  }

  /** Whether a batch has this lease. */
  boolean hold(long leaseId) {
    for (int i = 0; i < batches.size(); i++) {
      if (batches.get(i).leaseId() == leaseId) {
        return true;
      }
    }
    return false;
  }

  /** A batch that timed out, or null. */
  ReadBatch expired(long nowNs) {
    for (ReadBatch batch : batches) {
      if (batch.deadlineNs() - nowNs < 0) {
        return batch;
      }
    }
    return null;
  }

  /** Adds the blocks of all batches to a list. */
  void addBlocksTo(List<BlockProgress> blocks) {
    batches.forEach(batch -> blocks.addAll(batch.blocks()));
  }

  /** Removes all batches. */
  void clear() {
    batches.clear();
  }
}
