// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.broadcast;

import java.util.concurrent.CompletableFuture;
import org.apache.spark.broadcast.TorrentBroadcast$;
import org.apache.spark.storage.BlockInfoManager;
import org.apache.spark.storage.BroadcastBlockId;
import org.apache.spark.util.KeyLock;

/**
 * Holds the tasks that ask for a broadcast variable while its pieces arrive, by the lock under
 * which Torrent reads a variable. Spark removes variables without this lock. An entry in the block
 * manager would not do: removals wait for it, and a task that asks while it is removed fails.
 *
 * <p>A thread of its own runs it and holds the lock; any thread opens it.
 */
final class BroadcastGate implements Runnable {
  private final BlockInfoManager locks;
  private final BroadcastBlockId value;
  private final CompletableFuture<Void> opened = new CompletableFuture<>();

  /** Closed from the run on. */
  BroadcastGate(BlockInfoManager locks, long id) {
    this.locks = locks;
    this.value = new BroadcastBlockId(id, "");
  }

  /** Whether this executor has the value, so that no task needs pieces. */
  boolean hasValue() {
    return locks.get(value).isDefined();
  }

  /** Waits for a task that reads the variable now, then until it is opened. */
  @Override
  public void run() {
    KeyLock<BroadcastBlockId> readers =
        TorrentBroadcast$.MODULE$
            .org$apache$spark$broadcast$TorrentBroadcast$$torrentBroadcastLock();
    readers.withLock(
        value,
        () -> {
          if (!hasValue()) {
            opened.join();
          }
          return null;
        });
  }

  /** Lets tasks go on with what is there. A second call does nothing. */
  void open() {
    opened.complete(null);
  }
}
