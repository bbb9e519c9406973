// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.serve;

import java.io.IOException;
import java.util.List;
import java.util.function.LongSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.sparkrdma.shuffle.metrics.Counter;
import org.sparkrdma.shuffle.metrics.LogLimit;
import org.sparkrdma.shuffle.metrics.ShuffleCounters;
import org.sparkrdma.shuffle.output.ComputedSums;
import org.sparkrdma.shuffle.wire.ChecksumKind;
import org.sparkrdma.shuffle.wire.Locate;
import org.sparkrdma.shuffle.wire.Located;
import org.sparkrdma.shuffle.wire.MalformedMessageException;

/**
 * Answers LOCATEs. A block that needs no disk is located at once. A block that needs one is located
 * on a thread of that disk, and the answer continues there. Used with the server's lock.
 */
final class Locator {
  /** The current thread must not wait for a disk. */
  static final int NO_DISK = -1;

  /** The task has ended. */
  static final int ENDED = -2;

  private static final Logger LOG = LoggerFactory.getLogger(Locator.class);
  private static final long NS_PER_MS = 1_000_000;

  private final ServedOutputs outputs;
  private final Leases leases;
  private final ServingMode mode;
  private final RegisteredFiles files;
  private final CopySlots slots;
  private final int checksumKind;
  private final boolean computeSums;
  private final LoadLimits limits;
  private final List<DiskQueue> disks;
  private final ShuffleCounters counters;
  private final LongSupplier nanoClock;
  private final StateLock state;
  private final LogLimit lines = new LogLimit();
  private boolean stopped;

  /**
   * @param slots null when copying is off
   * @param checksumKind of recorded checksums
   */
  Locator(
      ServedOutputs outputs,
      Leases leases,
      ServingMode mode,
      RegisteredFiles files,
      CopySlots slots,
      int checksumKind,
      boolean computeSums,
      LoadLimits limits,
      List<DiskQueue> disks,
      ShuffleCounters counters,
      LongSupplier nanoClock,
      StateLock state) {
    this.outputs = outputs;
    this.leases = leases;
    this.mode = mode;
    this.files = files;
    this.slots = slots;
    this.computeSums = computeSums;
    this.checksumKind =
        computeSums && checksumKind == Located.NO_CHECKSUM
            ? ChecksumKind.CRC32C_KIND
            : checksumKind;
    this.limits = limits;
    this.disks = disks;
    this.counters = counters;
    this.nanoClock = nanoClock;
    this.state = state;
  }

  /** Sends all blocks to TCP from now on. */
  void stop() {
    stopped = true;
  }

  /**
   * Works on a request until it ends or needs another disk.
   *
   * @param disk for which the current thread may wait; or {@link #NO_DISK}
   * @return the disk on whose threads to go on; or {@link #ENDED}
   */
  int advance(LocateTask task, int disk) {
    assert state.isHeld();
    if (!task.isStarted() && !start(task)) {
      return ENDED;
    }
    int next = ENDED;
    try {
      long nowNs = nanoClock.getAsLong();
      if (isAbandoned(task)) {
        drop(task);
        return ENDED;
      }
      if (stopped) {
        sendRestToTcp(task, Located.Kind.BUSY);
      } else if (isLate(task, nowNs)) {
        refuse(task);
      } else {
        next = writeBlocks(task, disk);
        if (next != ENDED && disks.get(next).waitNs(nowNs) > limits.maxWaitNs()) {
          refuse(task);
          next = ENDED;
        }
      }
      if (next != ENDED) {
        task.waitSince(nanoClock.getAsLong());
        return next;
      }
    } catch (Throwable e) {
      // Also an Error and undeclared exceptions of Scala code: the reader waits for an answer.
      fail(task);
      lines
          .next(task.call().peer())
          .ifPresent(
              omitted ->
                  LOG.warn("Blocks could not be located; the reader uses TCP{}", omitted, e));
    }
    finish(task);
    return ENDED;
  }

  /** Ends a task for which no thread can be had: the rest of its blocks is fetched by TCP. */
  void giveUp(LocateTask task) {
    assert state.isHeld();
    sendRestToTcp(task, Located.Kind.BUSY);
    finish(task);
  }

  private static boolean isAbandoned(LocateTask task) {
    return task.call().isClosed() || task.lease().isCancelled();
  }

  private boolean isLate(LocateTask task, long nowNs) {
    return task.waitNs(nowNs) > limits.maxWaitNs() || isTooOld(task, nowNs);
  }

  private boolean isTooOld(LocateTask task, long nowNs) {
    return task.ageNs(nowNs) > limits.maxAgeNs();
  }

  private void refuse(LocateTask task) {
    counters.increment(Counter.LOCATES_OVERLOADED);
    sendRestToTcp(task, Located.Kind.OVERLOADED);
  }

  /** Drops a LOCATE of a connection that has ended. */
  private void drop(LocateTask task) {
    counters.increment(Counter.LOCATES_DROPPED);
    leases.discard(task.lease());
    endAnswer(task);
    task.call().answered(0);
  }

  /** Releases the leases named in the request, then begins its answer. */
  private boolean start(LocateTask task) {
    LocateCall call = task.call();
    Locate request;
    try {
      request = Locate.decode(call.request());
      releaseLeases(call.peer(), request);
    } catch (MalformedMessageException e) {
      counters.increment(Counter.PROTOCOL_ERRORS);
      call.malformed(e.getMessage());
      return false;
    }
    if (call.isClosed()) {
      counters.increment(Counter.LOCATES_DROPPED);
      call.answered(0);
      return false;
    }
    Lease lease = leases.draft(call.peer(), nanoClock.getAsLong());
    Placement placement = new Placement(mode, files, slots, lease, state);
    ComputedSums computed = computeSums ? new ComputedSums(checksumKind) : null;
    task.start(request, lease, placement, new BlockWriter(placement, computed, state));
    task.beginAnswer(checksumKind);
    if (!lease.share().admitLease()) {
      sendRestToTcp(task, Located.Kind.BUSY);
      finish(task);
      return false;
    }
    return true;
  }

  private void releaseLeases(long peer, Locate request) {
    for (int i = 0; i < request.leaseCount(); i++) {
      if (!leases.release(peer, request.leaseId(i))) {
        throw new MalformedMessageException("release of another peer's lease: lease=" + i);
      }
    }
  }

  private void fail(LocateTask task) {
    leases.discard(task.lease());
    task.beginAnswer(checksumKind);
    sendRestToTcp(task, Located.Kind.BUSY);
  }

  /** A block of which pieces are written ends the answer: the reader requests the rest again. */
  private static void sendRestToTcp(LocateTask task, Located.Kind kind) {
    while (!task.writer().isInsideBlock()
        && task.block() < task.request().blockCount()
        && task.writer().byTcp(task.block(), kind) == BlockWriter.Step.NEXT) {
      task.nextBlock();
    }
  }

  private int writeBlocks(LocateTask task, int disk) {
    Locate request = task.request();
    int first = task.block();
    while (task.block() < request.blockCount()) {
      int i = task.block();
      // Only disks take long.
      if (disk != NO_DISK && i > first && isTooOld(task, nanoClock.getAsLong())) {
        refuse(task);
        return ENDED;
      }
      if (task.isNewOutput()) {
        ServedOutput output = outputs.cached(request.shuffleId(i), request.mapId(i));
        if (output == null) {
          int indexDisk = outputs.indexDisk(request.shuffleId(i), request.mapId(i));
          if (disk != indexDisk) {
            return indexDisk;
          }
          output = outputs.open(request.shuffleId(i), request.mapId(i));
        }
        task.use(output);
      }
      ServedOutput output = task.output();
      if (output != null && !isLoaded(output, request, i)) {
        int indexDisk = outputs.indexDisk(request.shuffleId(i), request.mapId(i));
        if (disk != indexDisk) {
          return indexDisk;
        }
        output = load(output, request, i) ? output : null;
      }
      BlockWriter.Step step =
          output == null || request.endReduceId(i) > output.mapOutput().partitions()
              ? task.writer().byTcp(i, Located.Kind.UNKNOWN)
              : task.writer()
                  .block(
                      i,
                      output,
                      request.startReduceId(i),
                      request.endReduceId(i),
                      request.startOffset(i),
                      request.freshSums(i),
                      disk == output.disk());
      switch (step) {
        case NEXT -> task.nextBlock();
        case FULL -> {
          return ENDED;
        }
        case NEEDS_DISK -> {
          return output.disk();
        }
      }
    }
    return ENDED;
  }

  private static boolean isLoaded(ServedOutput output, Locate request, int i) {
    return request.endReduceId(i) > output.mapOutput().partitions()
        || output.mapOutput().isLoaded(request.startReduceId(i), request.endReduceId(i));
  }

  private boolean load(ServedOutput output, Locate request, int i) {
    try {
      outputs.load(output, request.startReduceId(i), request.endReduceId(i));
      return true;
    } catch (IOException e) {
      LOG.trace("Index cannot be read; the reader uses TCP", e);
      return false;
    }
  }

  private void endAnswer(LocateTask task) {
    task.endUse();
    task.placement().endAnswer(counters);
    task.writer().endAnswer();
  }

  private void finish(LocateTask task) {
    endAnswer(task);
    Lease lease = task.lease();
    if (lease.share().pollRefused()) {
      counters.increment(Counter.PEERS_LIMITED);
    }
    int lengthBytes;
    if (lease.isEmpty() || lease.isCancelled()) {
      leases.discard(lease);
      lengthBytes = task.answer().finish(0, 0);
    } else {
      leases.grant(lease);
      long remainingMs = (lease.deadlineNs() - nanoClock.getAsLong()) / NS_PER_MS;
      lengthBytes =
          task.answer()
              .finish(lease.id(), (int) Math.max(0, Math.min(Integer.MAX_VALUE, remainingMs)));
    }
    counters.increment(Counter.LOCATES_SERVED);
    counters.add(Counter.BLOCKS_SENT_TO_TCP, task.writer().sentToTcp());
    task.call().answered(lengthBytes);
  }
}
