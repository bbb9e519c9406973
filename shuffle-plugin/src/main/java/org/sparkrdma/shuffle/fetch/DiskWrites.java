// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.fetch;

import java.util.ArrayList;
import java.util.Iterator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

/**
 * The writes of blocks to disk that have not ended, so that blocks for a disk that hangs, and those
 * behind them, use TCP after a time. Safe for any thread.
 */
final class DiskWrites {
  private enum State {
    WAITING,
    RUNNING,
    ENDED
  }

  /** One write. A block has at most one. */
  final class Write {
    private final BlockProgress block;
    private State state = State.WAITING;
    private boolean seen;
    private long seenNs;

    private Write(BlockProgress block) {
      this.block = block;
    }

    BlockProgress block() {
      return block;
    }

    /** Waits for a disk thread again; false when it was overdue, so that the block has failed. */
    boolean pause() {
      synchronized (open) {
        boolean goesOn = open.contains(this);
        state = goesOn ? State.WAITING : State.ENDED;
        return goesOn;
      }
    }

    /** Begins on a disk thread; false when it has begun or was given up before. */
    boolean begin() {
      synchronized (open) {
        boolean mayBegin = state == State.WAITING;
        state = mayBegin ? State.RUNNING : state;
        return mayBegin;
      }
    }

    void end() {
      synchronized (open) {
        state = State.ENDED;
        open.remove(this);
      }
    }

    /** Gives it up; false when a disk thread works on it, or has done so. */
    boolean giveUp() {
      synchronized (open) {
        boolean waits = state == State.WAITING;
        state = waits ? State.ENDED : state;
        return waits;
      }
    }
  }

  private final Set<Write> open = new LinkedHashSet<>();

  /** A write that waits for a disk thread. */
  Write add(BlockProgress block) {
    Write write = new Write(block);
    synchronized (open) {
      open.add(write);
    }
    return write;
  }

  /** Removes and returns the writes that were there at a call at least so long ago. */
  List<Write> takeOverdue(long nowNs, long limitNs) {
    synchronized (open) {
      if (open.isEmpty()) {
        return List.of();
      }
      List<Write> overdue = new ArrayList<>();
      for (Iterator<Write> all = open.iterator(); all.hasNext(); ) {
        Write write = all.next();
        if (!write.seen) {
          write.seen = true;
          write.seenNs = nowNs;
        } else if (nowNs - write.seenNs >= limitNs) {
          all.remove();
          overdue.add(write);
        }
      }
      return overdue;
    }
  }
}
