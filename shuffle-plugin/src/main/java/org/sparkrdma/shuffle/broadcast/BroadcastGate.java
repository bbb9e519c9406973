// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.broadcast;

import org.apache.spark.storage.BlockInfo;
import org.apache.spark.storage.BlockInfoManager;
import org.apache.spark.storage.BroadcastBlockId;
import org.apache.spark.storage.StorageLevel;
import scala.reflect.ClassTag$;

/**
 * Holds the tasks that ask for a broadcast variable while its pieces arrive: the write lock of its
 * value, which Torrent reads first. Spark waits for it also when it destroys the variable, so it
 * must be opened soon. Taken and opened by threads that are no tasks, which Spark counts as one.
 */
final class BroadcastGate {
  private final BlockInfoManager locks;
  private final BroadcastBlockId value;
  private boolean closed;

  private BroadcastGate(BlockInfoManager locks, BroadcastBlockId value) {
    this.locks = locks;
    this.value = value;
  }

  /** Closes the gate without a wait; null when this executor has the value, or stores it now. */
  static BroadcastGate close(BlockInfoManager locks, long id) {
    BroadcastGate gate = new BroadcastGate(locks, new BroadcastBlockId(id, ""));
    BlockInfo info =
        new BlockInfo(StorageLevel.MEMORY_ONLY(), ClassTag$.MODULE$.apply(Object.class), false);
    gate.closed = locks.lockNewBlockForWriting(gate.value, info, false);
    return gate.closed ? gate : null;
  }

  /** Opens the gate: tasks find what is there. A second call does nothing. */
  synchronized void open() {
    if (closed) {
      closed = false;
      locks.removeBlock(value);
    }
  }
}
