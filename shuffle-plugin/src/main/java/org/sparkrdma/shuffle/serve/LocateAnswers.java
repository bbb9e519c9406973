// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.serve;

import java.nio.ByteBuffer;
import java.util.List;
import java.util.function.LongSupplier;
import java.util.stream.IntStream;
import org.sparkrdma.shuffle.metrics.Counter;
import org.sparkrdma.shuffle.metrics.ShuffleCounters;
import org.sparkrdma.shuffle.wire.Located;
import org.sparkrdma.shuffle.wire.LocatedMerge;

/**
 * Ends LOCATEs: refuses blocks, puts the pieces of the lanes into one answer, grants its lease. A
 * lane in which a disk's thread still works is left out. Used with the server's lock.
 */
final class LocateAnswers {
  private static final long NS_PER_MS = 1_000_000;

  private final Leases leases;
  private final int checksumKind;
  private final ShuffleCounters counters;
  private final LongSupplier nanoClock;

  LocateAnswers(Leases leases, int checksumKind, ShuffleCounters counters, LongSupplier nanoClock) {
    this.leases = leases;
    this.checksumKind = checksumKind;
    this.counters = counters;
    this.nanoClock = nanoClock;
  }

  /** Whether its connection has ended. */
  boolean isAbandoned(LocateTask task) {
    return task.call().isClosed() || task.ready().lease().isCancelled();
  }

  /** Sends all blocks to TCP. */
  void refuseAll(LocateTask task, Located.Kind kind) {
    refuse(task, IntStream.range(0, task.request().blockCount()).boxed().toList(), kind);
  }

  /** Sends blocks to TCP, or leaves them out when the answer has no room. */
  void refuse(LocateTask task, List<Integer> blocks, Located.Kind kind) {
    if (kind == Located.Kind.OVERLOADED && task.markOverloaded()) {
      counters.increment(Counter.LOCATES_OVERLOADED);
    }
    for (int block : blocks) {
      if (task.ready().writer().byTcp(block, kind) == BlockWriter.Step.FULL) {
        return;
      }
    }
  }

  /** Sends the blocks to TCP for which a disk keeps a lane waiting or hangs. */
  void overload(LocateLane lane) {
    LocateTask task = lane.task();
    refuse(task, lane.isRunning() ? lane.blocks() : lane.unqueue(), Located.Kind.OVERLOADED);
    if (lane.isRunning()) {
      lane.leave();
    }
  }

  /** Leaves out the blocks that need a disk. */
  void holdBack(LocateTask task) {
    for (LocateLane lane : task.lanes()) {
      if (lane.isRunning()) {
        lane.leave();
        task.markHeldBack();
      } else if (!lane.isLeft() && !lane.unqueue().isEmpty()) {
        task.markHeldBack();
      }
    }
  }

  /**
   * Sends all blocks of a request to TCP after an error on a thread that must not wait for a disk.
   */
  void fail(LocateTask task) {
    LocateLane ready = task.ready();
    task.lanes().forEach(LocateLane::clearWaiting);
    leases.discard(ready.lease());
    ready.beginPieces(checksumKind);
    refuseAll(task, Located.Kind.BUSY);
  }

  /** Sends all blocks of a lane to TCP after an error on a thread of its disk. */
  void fail(LocateLane lane) {
    List<Integer> blocks = lane.blocks();
    lane.clearWaiting();
    release(lane);
    lane.reset();
    refuse(lane.task(), blocks, Located.Kind.BUSY);
  }

  /** Releases all that a lane holds. */
  void release(LocateLane lane) {
    lane.endWork(counters);
    if (lane.lease() != null) {
      leases.discard(lane.lease());
    }
  }

  /** Drops a LOCATE of a connection that has ended. */
  void drop(LocateTask task) {
    counters.increment(Counter.LOCATES_DROPPED);
    for (LocateLane lane : task.lanes()) {
      if (lane.isRunning()) {
        lane.leave();
      } else if (!lane.isLeft()) {
        lane.unqueue();
        release(lane);
      }
    }
    release(task.ready());
    task.end();
    task.call().answered(0);
  }

  /** Answers a request for which no disk works, apart from lanes that are left. */
  void finish(LocateTask task) {
    LocateLane ready = task.ready();
    int sentToTcp = task.lanes().isEmpty() ? ready.writer().sentToTcp() : mergeLanes(task, ready);
    if (task.isHeldBack() && ready.hasPieces()) {
      ready.pieces().markHeldBack();
    }
    ready.endWork(counters);
    Lease lease = ready.lease();
    if (lease.share().pollRefused()) {
      counters.increment(Counter.PEERS_LIMITED);
    }
    int lengthBytes;
    if (lease.isEmpty() || lease.isCancelled()) {
      leases.discard(lease);
      lengthBytes = ready.pieces().finish(0, 0);
    } else {
      long nowNs = nanoClock.getAsLong();
      leases.grant(lease, nowNs);
      long remainingMs = (lease.deadlineNs() - nowNs) / NS_PER_MS;
      lengthBytes =
          ready
              .pieces()
              .finish(lease.id(), (int) Math.max(0, Math.min(Integer.MAX_VALUE, remainingMs)));
    }
    counters.increment(Counter.LOCATES_SERVED);
    counters.add(Counter.BLOCKS_SENT_TO_TCP, sentToTcp);
    task.end();
    task.call().answered(lengthBytes);
  }

  private int mergeLanes(LocateTask task, LocateLane ready) {
    LocatedMerge merge = new LocatedMerge();
    ByteBuffer message = ready.message();
    merge.add(ByteBuffer.allocate(message.remaining()).put(message).flip());
    for (LocateLane lane : task.lanes()) {
      if (lane.isLeft()) {
        continue;
      }
      lane.endWork(counters);
      if (lane.isPrepared()) {
        merge.add(lane.message());
        leases.merge(lane.lease(), ready.lease());
      }
    }
    ready.beginPieces(checksumKind);
    int sentToTcp = merge.write(ready.pieces());
    if (!ready.hasPieces()) {
      refuseAll(task, Located.Kind.OVERLOADED);
      sentToTcp = ready.writer().sentToTcp();
    }
    return sentToTcp;
  }
}
