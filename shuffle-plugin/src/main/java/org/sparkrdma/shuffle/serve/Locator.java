// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.serve;

import java.util.ArrayList;
import java.util.List;
import java.util.function.LongSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.sparkrdma.shuffle.metrics.LogLimit;
import org.sparkrdma.shuffle.wire.Locate;
import org.sparkrdma.shuffle.wire.Located;

/**
 * Locates the blocks of LOCATEs. Those that need no disk are located at once, those that need one
 * in a {@link LocatePart} of that disk, so that no disk delays the blocks of another. Used with the
 * server's lock.
 */
final class Locator {
  private static final Logger LOG = LoggerFactory.getLogger(Locator.class);

  private final BlockLocator blocks;
  private final LocateStart start;
  private final LocateAnswers answers;
  private final LoadLimits limits;
  private final List<DiskQueue> disks;
  private final LongSupplier nanoClock;
  private final StateLock state;
  private final OpenLocates open;
  private final LogLimit lines = new LogLimit();
  private boolean stopped;

  Locator(
      ServedOutputs outputs,
      LocateStart start,
      LocateAnswers answers,
      LoadLimits limits,
      List<DiskQueue> disks,
      LongSupplier nanoClock,
      StateLock state) {
    this.blocks = new BlockLocator(outputs);
    this.start = start;
    this.answers = answers;
    this.limits = limits;
    this.disks = disks;
    this.nanoClock = nanoClock;
    this.state = state;
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
   * @return parts to run on the threads of their disks
   */
  List<LocatePart> begin(LocateTask task) {
    assert state.isHeld();
    if (!start.start(task)) {
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
   * Locates the blocks of a part. On a thread of its disk.
   *
   * @return parts to run on the threads of their disks
   */
  List<LocatePart> run(LocatePart part) {
    assert state.isHeld();
    if (!part.isQueued()) {
      return List.of();
    }
    LocateTask task = part.task();
    part.begin();
    try {
      long nowNs = nanoClock.getAsLong();
      if (answers.isAbandoned(task)) {
        answers.drop(task);
      } else if (stopped) {
        answers.refuse(task, part.clearWaiting(), Located.Kind.BUSY);
      } else if (part.waitNs(nowNs) > limits.maxWaitNs() || isTooOld(task, nowNs)) {
        answers.refuse(task, part.clearWaiting(), Located.Kind.OVERLOADED);
      } else {
        work(part, nowNs);
      }
    } catch (Throwable e) {
      if (!part.isAbandoned()) {
        answers.fail(part);
      }
      log(task, e);
    }
    if (part.isAbandoned()) {
      answers.release(part);
    } else {
      part.end();
    }
    return goOn(task);
  }

  /** No thread can be had for a part: its blocks are fetched by TCP. */
  List<LocatePart> giveUp(LocatePart part) {
    assert state.isHeld();
    if (part.isQueued()) {
      answers.refuse(part.task(), part.unqueue(), Located.Kind.BUSY);
    }
    return goOn(part.task());
  }

  /**
   * Ends a LOCATE after an Error that a step has not handled. Never throws.
   *
   * @param part in which this thread was working on a thread of its disk; null for none
   */
  void abort(LocateTask task, LocatePart part, Throwable why) {
    assert state.isHeld();
    if (part != null) {
      part.end();
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

  private void locateReady(LocateTask task) {
    LocatePart ready = task.ready();
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

  private void work(LocatePart part, long nowNs) {
    part.task().beginDisk(nowNs);
    long endNs = nowNs;
    try {
      locateWaiting(part);
      endNs = nanoClock.getAsLong();
    } finally {
      // Without the time of a part that has ended by an Error.
      part.task().endDisk(endNs);
    }
  }

  private void locateWaiting(LocatePart part) {
    if (!part.isPrepared()) {
      start.prepare(part);
    }
    boolean first = true;
    while (part.hasWaiting()) {
      if (!first && isTooOld(part.task(), nanoClock.getAsLong())) {
        answers.refuse(part.task(), part.clearWaiting(), Located.Kind.OVERLOADED);
        return;
      }
      first = false;
      WaitingBlock block = part.next();
      int next = blocks.locate(part, block.index(), block.from());
      if (part.isAbandoned()) {
        return;
      }
      if (next == BlockLocator.FULL) {
        part.task().markEndsEarly();
        part.clearWaiting();
      } else if (next != BlockLocator.NEXT && BlockLocator.hasBegun(part, block)) {
        // Its rest would be answered without its beginning when this part is abandoned. The reader
        // requests the rest later.
        part.task().markHeldBack();
      } else if (next != BlockLocator.NEXT) {
        part.handOver(block.index());
        passOn(part, next, block.index(), block.from());
      }
    }
  }

  /** A block goes on in the part of a disk, from where the other part has ended. */
  private static void passOn(LocatePart by, int disk, int block, long from) {
    LocateTask task = by.task();
    Locate request = task.request();
    ServedOutput output =
        by.uses(request.shuffleId(block), request.mapId(block)) ? by.output() : null;
    long reached = BlockLocator.reachedIn(by, block, from);
    task.part(disk).add(WaitingBlock.begin(block, reached, output));
  }

  /**
   * Answers a request for which no disk works any more; else returns the parts that need a thread.
   */
  private List<LocatePart> goOn(LocateTask task) {
    if (task.isEnded() || task.isAborted()) {
      open.remove(task);
      return List.of();
    }
    long nowNs = nanoClock.getAsLong();
    List<LocatePart> next = new ArrayList<>();
    for (LocatePart part : task.parts()) {
      if (part.isIdle() && part.hasWaiting()) {
        if (disks.get(part.disk()).waitNs(task.call().peer(), nowNs) > limits.maxWaitNs()) {
          answers.refuse(task, part.clearWaiting(), Located.Kind.OVERLOADED);
        } else {
          part.queue(nowNs);
          next.add(part);
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
