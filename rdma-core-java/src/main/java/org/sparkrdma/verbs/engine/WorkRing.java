// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.engine;

import org.sparkrdma.verbs.Opcode;
import org.sparkrdma.verbs.WorkRequest;

/**
 * The posted work of a send or receive queue whose completions were not polled yet. Positions count
 * from 0 without end; request numbers carry their lower 31 bits. Confined to the queue pair's
 * owner.
 */
final class WorkRing {
  private static final int POSITION_MASK = Integer.MAX_VALUE;
  private static final Opcode[] OPCODES = Opcode.values();
  private static final int OPCODE_BITS = 8;

  private final int depth;
  private final int mask;
  private final long[] ids;

  /** Length, and the opcode's ordinal below it: to store an object costs more than a number. */
  private final long[] contents;

  private long head;
  private long tail;

  /** Position after the last work that the device has received. */
  private long posted;

  /** A ring for at most {@code depth} pieces of work. */
  WorkRing(int depth) {
    this.depth = depth;
    int size = Integer.highestOneBit(Math.max(1, depth * 2 - 1));
    mask = size - 1;
    ids = new long[size];
    contents = new long[size];
  }

  /** Room for more work, in requests. */
  int room() {
    return depth - (int) (tail - head);
  }

  /** Adds work and returns its lower position; the caller has checked that there is room. */
  int add(WorkRequest request) {
    int i = (int) tail & mask;
    ids[i] = request.id();
    contents[i] = request.totalBytes() << OPCODE_BITS | request.opcode().ordinal();
    return (int) tail++ & POSITION_MASK;
  }

  /** The device received all work except the last {@code refused}. */
  void onPosted(int refused) {
    posted = tail - refused;
  }

  /** Removes the last {@code count}: their owner posts them again. */
  void takeBack(int count) {
    tail -= count;
  }

  /**
   * The position of the work that completed.
   *
   * @return -1 when it was flushed before
   */
  long find(int lowPosition) {
    long distance = (lowPosition - head) & POSITION_MASK;
    return distance < tail - head ? head + distance : -1;
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
    head = position + 1;
  }

  /** Whether all work has completed. */
  boolean isEmpty() {
    return head == tail;
  }

  /** Whether the device has received the oldest work. */
  boolean isWithDevice() {
    return head < posted;
  }

  /** Position of the oldest work. */
  long head() {
    return head;
  }
}
