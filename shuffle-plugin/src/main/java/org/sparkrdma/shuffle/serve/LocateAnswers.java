// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.serve;

import java.nio.ByteBuffer;
import java.util.List;
import java.util.function.LongSupplier;
import org.sparkrdma.shuffle.metrics.Counter;
import org.sparkrdma.shuffle.metrics.ShuffleCounters;
import org.sparkrdma.shuffle.wire.Locate;
import org.sparkrdma.shuffle.wire.Located;
import org.sparkrdma.shuffle.wire.LocatedMerge;

/**
 * Ends LOCATEs: refuses blocks, puts the pieces of the parts into one answer, grants its lease. A
 * part in which a disk's thread still works is left out. Used with the server's lock.
 */
final class LocateAnswers {
  private static final long NS_PER_MS = 1_000_000;

  private final Leases leases;
  private final int checksumKind;
  private final LoadLimits limits;
  private final ShuffleCounters counters;
  private final LongSupplier nanoClock;

  LocateAnswers(
      Leases leases,
      int checksumKind,
      LoadLimits limits,
      ShuffleCounters counters,
      LongSupplier nanoClock) {
    this.leases = leases;
    this.checksumKind = checksumKind;
    this.limits = limits;
    this.counters = counters;
    this.nanoClock = nanoClock;
  }

  /** Whether its connection has ended. */
  boolean isAbandoned(LocateTask task) {
    return task.call().isClosed() || task.ready().lease().isCancelled();
  }

  /** Sends all blocks to TCP. */
  void refuseAll(LocateTask task, Located.Kind kind) {
    noteKind(task, kind);
    for (int block = 0; block < task.request().blockCount(); block++) {
      if (task.ready().writer().byTcp(block, kind) == BlockWriter.Step.FULL) {
        return;
      }
    }
  }

  /** Sends blocks to TCP, or leaves them out when the answer has no room. */
  void refuse(LocateTask task, List<Integer> blocks, Located.Kind kind) {
    noteKind(task, kind);
    for (int block : blocks) {
      if (task.ready().writer().byTcp(block, kind) == BlockWriter.Step.FULL) {
        return;
      }
    }
  }

  private void noteKind(LocateTask task, Located.Kind kind) {
    if (kind == Located.Kind.OVERLOADED && task.markOverloaded()) {
      counters.increment(Counter.LOCATES_OVERLOADED);
    }
  }

  /** Sends the blocks to TCP for which a disk keeps a part waiting or hangs. */
  void overload(LocatePart part) {
    LocateTask task = part.task();
    refuse(task, part.isRunning() ? part.blocks() : part.unqueue(), Located.Kind.OVERLOADED);
    if (part.isRunning()) {
      part.abandon();
    }
  }

  /** Leaves out the blocks that need a disk. */
  void holdBack(LocateTask task) {
    for (LocatePart part : task.parts()) {
      if (part.isRunning()) {
        part.leaveOut();
        task.markHeldBack();
      } else if (!part.isAbandoned() && !part.unqueue().isEmpty()) {
        task.markHeldBack();
      }
    }
  }

  /**
   * Sends all blocks of a request to TCP after an error on a thread that must not wait for a disk.
   */
  void fail(LocateTask task) {
    LocatePart ready = task.ready();
    task.parts().forEach(LocatePart::clearWaiting);
    leases.discard(ready.lease());
    ready.beginPieces(checksumKind);
    refuseAll(task, Located.Kind.BUSY);
  }

  /** Sends all blocks of a part to TCP after an error on a thread of its disk. */
  void fail(LocatePart part) {
    List<Integer> blocks = part.blocks();
    part.clearWaiting();
    release(part);
    part.reset();
    refuse(part.task(), blocks, Located.Kind.BUSY);
  }

  /** Releases all that a part holds. */
  void release(LocatePart part) {
    part.endWork(counters);
    if (part.lease() != null) {
      leases.discard(part.lease());
    }
  }

  /** Drops a LOCATE of a connection that has ended. */
  void drop(LocateTask task) {
    counters.increment(Counter.LOCATES_DROPPED);
    for (LocatePart part : task.parts()) {
      if (part.isRunning()) {
        part.abandon();
      } else if (!part.isAbandoned()) {
        part.unqueue();
        release(part);
      }
    }
    release(task.ready());
    answer(task, 0);
  }

  /**
   * Ends a LOCATE after an Error in one of its steps, which may have been anywhere: releases what
   * it holds and sends all its blocks to TCP. Allocates nothing, because memory may be what has
   * failed. Another call continues where an Error has ended the last one.
   */
  void abort(LocateTask task) {
    try {
      for (int i = 0; i < task.parts().size(); i++) {
        abort(task.parts().get(i));
      }
    } finally {
      if (!task.isEnded()) {
        refuseAfterError(task);
      } else if (task.isRefused() && task.ready().lease() != null) {
        leases.discard(task.ready().lease());
      }
    }
  }

  private void abort(LocatePart part) {
    if (part.isRunning()) {
      part.abandon();
    } else if (!part.isAbandoned()) {
      part.abort();
      release(part);
    }
  }

  private void refuseAfterError(LocateTask task) {
    task.markRefused();
    try {
      release(task.ready());
    } finally {
      LocateCall call = task.call();
      Located.Encoder pieces = task.ready().pieces();
      pieces.begin(call.answer(), Locate.requestId(call.request()), checksumKind);
      int count = Locate.requestedBlocks(call.request());
      for (int block = 0; block < count && pieces.roomForSums() >= 0; block++) {
        pieces.byTcp(block, Located.Kind.BUSY);
      }
      counters.increment(Counter.LOCATES_SERVED);
      counters.add(Counter.BLOCKS_SENT_TO_TCP, pieces.pieceCount());
      answer(task, pieces.finish(0, 0));
    }
  }

  private static void answer(LocateTask task, int lengthBytes) {
    task.call().answered(lengthBytes);
    task.end();
  }

  /** Answers a request for which no disk works, apart from abandoned parts. */
  void finish(LocateTask task) {
    LocatePart ready = task.ready();
    int sentToTcp = task.parts().isEmpty() ? ready.writer().sentToTcp() : mergeParts(task, ready);
    if (ready.hasPieces()) {
      markDelay(task, ready.pieces());
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
    answer(task, lengthBytes);
  }

  /**
   * Names the cause when the answer is late and the reader must request the rest: the disk if its
   * threads have worked for long, else the load, since it has waited for a thread.
   */
  private void markDelay(LocateTask task, Located.Encoder answer) {
    if (task.isHeldBack() || (task.endsEarly() && task.diskNs() > limits.maxHoldNs())) {
      answer.markHeldBack();
    } else if (task.endsEarly() && task.ageNs(nanoClock.getAsLong()) > limits.maxHoldNs()) {
      answer.markDelayedByServerLoad();
    }
  }

  private int mergeParts(LocateTask task, LocatePart ready) {
    LocatedMerge merge = new LocatedMerge();
    ByteBuffer message = ready.message();
    merge.add(ByteBuffer.allocate(message.remaining()).put(message).flip());
    for (LocatePart part : task.parts()) {
      if (part.isAbandoned()) {
        continue;
      }
      part.endWork(counters);
      if (part.isPrepared()) {
        merge.add(part.message());
        leases.merge(part.lease(), ready.lease());
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
