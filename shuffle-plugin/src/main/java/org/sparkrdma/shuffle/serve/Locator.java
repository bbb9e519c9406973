// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.serve;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.function.LongSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.sparkrdma.shuffle.metrics.Counter;
import org.sparkrdma.shuffle.metrics.LogLimit;
import org.sparkrdma.shuffle.metrics.ShuffleCounters;
import org.sparkrdma.shuffle.output.ComputedChecksums;
import org.sparkrdma.shuffle.wire.ChecksumKind;
import org.sparkrdma.shuffle.wire.Locate;
import org.sparkrdma.shuffle.wire.Located;
import org.sparkrdma.shuffle.wire.MalformedMessageException;

/**
 * Locates the blocks of LOCATEs. Those that need no disk are located at once, those that need one
 * in a {@link LocateLane} of that disk, so that no disk delays the blocks of another. Used with the
 * server's lock.
 */
final class Locator {
  private static final Logger LOG = LoggerFactory.getLogger(Locator.class);

  private final BlockLocator blocks;
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
  private final LocateAnswers answers;
  private final OpenLocates open;
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
    blocks = new BlockLocator(outputs);
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
    this.answers = new LocateAnswers(leases, this.checksumKind, limits, counters, nanoClock);
    this.open = new OpenLocates(answers, limits, nanoClock);
  }

  /** Sends all blocks to TCP from now on. */
  void stop() {
    stopped = true;
  }

  /** The requests that wait for disks. */
  OpenLocates open() {
    return open;
  }

  /**
   * Locates the blocks that need no disk. On the server's thread or the agent's.
   *
   * @return lanes to run on the threads of their disks
   */
  List<LocateLane> begin(LocateTask task) {
    assert state.isHeld();
    if (!start(task)) {
      return List.of();
    }
    try {
      if (task.call().isClosed()) {
        answers.drop(task);
      } else if (stopped) {
        answers.refuseAll(task, Located.Kind.BUSY);
      } else if (task.ageNs(nanoClock.getAsLong()) > limits.maxWaitNs()) {
        answers.refuseAll(task, Located.Kind.OVERLOADED);
      } else {
        locateReady(task);
      }
    } catch (Throwable e) {
      // Also an Error and undeclared exceptions of Scala code: the reader waits for an answer.
      answers.fail(task);
      log(task, e);
    }
    return goOn(task);
  }

  /**
   * Locates the blocks of a lane. On a thread of its disk.
   *
   * @return lanes to run on the threads of their disks
   */
  List<LocateLane> run(LocateLane lane) {
    assert state.isHeld();
    if (!lane.isQueued()) {
      return List.of();
    }
    LocateTask task = lane.task();
    lane.begin();
    try {
      long nowNs = nanoClock.getAsLong();
      if (answers.isAbandoned(task)) {
        answers.drop(task);
      } else if (stopped) {
        answers.refuse(task, lane.clearWaiting(), Located.Kind.BUSY);
      } else if (lane.waitNs(nowNs) > limits.maxWaitNs() || isTooOld(task, nowNs)) {
        answers.refuse(task, lane.clearWaiting(), Located.Kind.OVERLOADED);
      } else {
        work(lane, nowNs);
      }
    } catch (Throwable e) {
      if (!lane.isAbandoned()) {
        answers.fail(lane);
      }
      log(task, e);
    }
    if (lane.isAbandoned()) {
      answers.release(lane);
    } else {
      lane.end();
    }
    return goOn(task);
  }

  /** No thread can be had for a lane: its blocks are fetched by TCP. */
  List<LocateLane> giveUp(LocateLane lane) {
    assert state.isHeld();
    if (lane.isQueued()) {
      answers.refuse(lane.task(), lane.unqueue(), Located.Kind.BUSY);
    }
    return goOn(lane.task());
  }

  /**
   * Ends a LOCATE after an Error that a step has not handled. Never throws.
   *
   * @param lane in which this thread was working on a thread of its disk; null for none
   */
  void abort(LocateTask task, LocateLane lane, Throwable why) {
    assert state.isHeld();
    if (lane != null) {
      lane.end();
    }
    open.abort(task, why);
  }

  private void log(LocateTask task, Throwable e) {
    lines
        .next(task.call().peer())
        .ifPresent(
            omitted -> LOG.warn("Blocks could not be located; the reader uses TCP{}", omitted, e));
  }

  private boolean isTooOld(LocateTask task, long nowNs) {
    return task.ageNs(nowNs) > limits.maxAgeNs();
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
      task.end();
      return false;
    }
    if (call.isClosed()) {
      counters.increment(Counter.LOCATES_DROPPED);
      call.answered(0);
      task.end();
      return false;
    }
    task.start(request);
    prepare(task.ready(), call.answer());
    if (!task.ready().lease().share().admitLease()) {
      answers.refuseAll(task, Located.Kind.BUSY);
      answers.finish(task);
      return false;
    }
    return true;
  }

  private void prepare(LocateLane lane, ByteBuffer buffer) {
    LocateTask task = lane.task();
    Lease lease = leases.draft(task.call().peer());
    boolean prepared = false;
    try {
      Placement placement = new Placement(mode, files, slots, lease, task.total(), state);
      ComputedChecksums computed = computeSums ? new ComputedChecksums(checksumKind) : null;
      lane.prepare(
          buffer, checksumKind, lease, placement, new BlockWriter(placement, computed, state));
      prepared = true;
    } finally {
      if (!prepared) {
        leases.discard(lease);
      }
    }
  }

  private void releaseLeases(long peer, Locate request) {
    for (int i = 0; i < request.leaseCount(); i++) {
      if (!leases.release(peer, request.leaseId(i))) {
        throw new MalformedMessageException("release of another peer's lease: lease=" + i);
      }
    }
  }

  private void locateReady(LocateTask task) {
    LocateLane ready = task.ready();
    Locate request = task.request();
    for (int i = 0; i < request.blockCount(); i++) {
      long from = request.startOffset(i);
      int next = blocks.locate(ready, i, from);
      if (next == BlockLocator.FULL) {
        task.markEndsEarly();
        answers.holdBack(task);
        return;
      }
      if (next != BlockLocator.NEXT) {
        passOn(ready, next, i, from);
      }
    }
  }

  private void work(LocateLane lane, long nowNs) {
    lane.task().beginDisk(nowNs);
    long endNs = nowNs;
    try {
      locateWaiting(lane);
      endNs = nanoClock.getAsLong();
    } finally {
      // Without the time of a lane that has ended by an Error.
      lane.task().endDisk(endNs);
    }
  }

  private void locateWaiting(LocateLane lane) {
    if (!lane.isPrepared()) {
      prepare(lane, ByteBuffer.allocate(lane.task().call().answer().capacity()));
    }
    boolean first = true;
    while (lane.hasWaiting()) {
      if (!first && isTooOld(lane.task(), nanoClock.getAsLong())) {
        answers.refuse(lane.task(), lane.clearWaiting(), Located.Kind.OVERLOADED);
        return;
      }
      first = false;
      WaitingBlock block = lane.next();
      int next = blocks.locate(lane, block.index(), block.from());
      if (lane.isAbandoned()) {
        return;
      }
      if (next == BlockLocator.FULL) {
        lane.task().markEndsEarly();
        lane.clearWaiting();
      } else if (next != BlockLocator.NEXT && BlockLocator.hasBegun(lane, block)) {
        // Its rest would be answered without its beginning when this lane is abandoned. The reader
        // requests the rest later.
        lane.task().markHeldBack();
      } else if (next != BlockLocator.NEXT) {
        lane.handOver(block.index());
        passOn(lane, next, block.index(), block.from());
      }
    }
  }

  /** A block goes on in the lane of a disk, from where the other lane has ended. */
  private static void passOn(LocateLane by, int disk, int block, long from) {
    LocateTask task = by.task();
    Locate request = task.request();
    ServedOutput output =
        by.uses(request.shuffleId(block), request.mapId(block)) ? by.output() : null;
    long reached = BlockLocator.reachedIn(by, block, from);
    task.lane(disk).add(WaitingBlock.begin(block, reached, output));
  }

  /**
   * Answers a request for which no disk works any more; else returns the lanes that need a thread.
   */
  private List<LocateLane> goOn(LocateTask task) {
    if (task.isEnded() || task.isAborted()) {
      open.remove(task);
      return List.of();
    }
    long nowNs = nanoClock.getAsLong();
    List<LocateLane> next = new ArrayList<>();
    for (LocateLane lane : task.lanes()) {
      if (lane.isIdle() && lane.hasWaiting()) {
        if (disks.get(lane.disk()).waitNs(task.call().peer(), nowNs) > limits.maxWaitNs()) {
          answers.refuse(task, lane.clearWaiting(), Located.Kind.OVERLOADED);
        } else {
          lane.queue(nowNs);
          next.add(lane);
        }
      }
    }
    if (task.isActive()) {
      task.noteLocated(nowNs);
      open.add(task);
    } else {
      answers.finish(task);
      open.remove(task);
    }
    return next;
  }
}
