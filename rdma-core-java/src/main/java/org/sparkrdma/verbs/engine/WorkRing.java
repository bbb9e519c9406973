// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.engine;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import org.sparkrdma.verbs.Opcode;
import org.sparkrdma.verbs.WorkRequest;

/**
 * The posted work of a send or receive queue whose completions were not polled yet. Positions count
 * from 0 without end; request numbers carry their lower 31 bits.
 *
 * <p>One thread at a time posts, under the lock of its queue pair, and moves the tail: what it has
 * written into the ring before is visible to whoever sees the tail. The thread that polls moves the
 * head: a place is written again only after what was read from it. A poster may take back work that
 * the device refuses, so flushing holds its lock; work before one that the device has completed is
 * flushed without it.
 */
final class WorkRing {
  private static final int POSITION_MASK = Integer.MAX_VALUE;
  private static final Opcode[] OPCODES = Opcode.values();
  private static final int OPCODE_BITS = 8;
  private static final VarHandle HEAD;
  private static final VarHandle TAIL;

  static {
    try {
      HEAD = MethodHandles.lookup().findVarHandle(WorkRing.class, "head", long.class);
      TAIL = MethodHandles.lookup().findVarHandle(WorkRing.class, "tail", long.class);
    } catch (ReflectiveOperationException e) {
      throw new ExceptionInInitializerError(e);
    }
  }

  private final int depth;
  private final int mask;
  private final long[] ids;

  /** Length, and the opcode's ordinal below it: to store an object costs more than a number. */
  private final long[] contents;

  /** Position of the oldest work; written by the thread that polls. */
  private long head;

  /** Position after the last work; written by the thread that posts. */
  private long tail;

  /**
   * Position after the last work that was given to the device. With the lock of the queue pair, or
   * where the owner alone posts.
   */
  private long posted;

  /** A ring for at most {@code depth} pieces of work. */
  WorkRing(int depth) {
    this.depth = depth;
    int size = Integer.highestOneBit(Math.max(1, depth * 2 - 1));
    mask = size - 1;
    ids = new long[size];
    contents = new long[size];
  }

  // The thread that posts.

  /** Room for more work, in requests. */
  int room() {
    return depth - (int) (tail - (long) HEAD.getAcquire(this));
  }

  /**
   * Writes work that {@link #add} adds, and returns its lower position; the caller has checked that
   * there is room.
   *
   * @param i its index in what is added
   */
  int write(int i, WorkRequest request) {
    int at = (int) (tail + i);
    ids[at & mask] = request.id();
    contents[at & mask] = request.totalBytes() << OPCODE_BITS | request.opcode().ordinal();
    return at & POSITION_MASK;
  }

  /**
   * Adds what was written, before the device gets it: its completion may be polled at once. A
   * volatile write, so that a poster which then finds the queue pair well knows that whoever
   * flushes it later sees this work.
   *
   * @param withDevice whether the device gets it next, and not the flush
   */
  void add(int count, boolean withDevice) {
    TAIL.setVolatile(this, tail + count);
    if (withDevice) {
      posted = tail;
    }
  }

  /** The device has refused the last {@code count}: they wait for the flush. */
  void onRefused(int count) {
    posted = tail - count;
  }

  /** Removes the last {@code count}, which the device has refused: their owner posts them again. */
  void takeBack(int count) {
    onRefused(count);
    TAIL.setRelease(this, tail - count);
  }

  // The thread that polls.

  /**
   * The position of the work that completed.
   *
   * @return -1 when it was flushed before
   */
  long find(int lowPosition) {
    long distance = (lowPosition - head) & POSITION_MASK;
    return distance < (long) TAIL.getAcquire(this) - head ? head + distance : -1;
  }

  /** The owner's id of the request. */
  long id(long position) {
    return ids[(int) position & mask];
  }

  /** Bytes of the request. */
  long length(long position) {
    return contents[(int) position & mask] >>> OPCODE_BITS;
  }

  /** Opcode of the request. */
  Opcode opcode(long position) {
    return OPCODES[(int) contents[(int) position & mask] & (1 << OPCODE_BITS) - 1];
  }

  /** Frees this position and those before it, whose work was unsignalled and succeeded. */
  void free(long position) {
    HEAD.setRelease(this, position + 1);
  }

  /** Whether all work has completed. */
  boolean isEmpty() {
    return head == (long) TAIL.getVolatile(this);
  }

  /** Whether the device has the oldest work. */
  boolean isWithDevice() {
    return head < posted;
  }

  /** Position of the oldest work. */
  long head() {
    return head;
  }
}
