/*
 * Licensed under the Apache License, Version 2.0 (the "License");
 * you may not use this file except in compliance with the License.
 * You may obtain a copy of the License at
 *
 *     http://www.apache.org/licenses/LICENSE-2.0
 *
 * Unless required by applicable law or agreed to in writing, software
 * distributed under the License is distributed on an "AS IS" BASIS,
 * WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
 * See the License for the specific language governing permissions and
 * limitations under the License.
 */
package org.sparkrdma.verbs.ibverbs;

import org.sparkrdma.verbs.Opcode;
import org.sparkrdma.verbs.WorkRequest;

/**
 * The places of a send or receive queue, and what stands in them until its completion has been
 * polled. Positions count from 0 without end; work requests carry the lower 31 bits. Of the queue
 * pair's owner thread.
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

  /** Up to here the device has got it. */
  private long posted;

  WorkRing(int depth) {
    this.depth = depth;
    int size = Integer.highestOneBit(Math.max(1, depth * 2 - 1));
    mask = size - 1;
    ids = new long[size];
    contents = new long[size];
  }

  int room() {
    return depth - (int) (tail - head);
  }

  /** Takes the next place; the caller has seen that there is room. */
  int add(WorkRequest request) {
    int i = (int) tail & mask;
    ids[i] = request.id();
    contents[i] = request.totalBytes() << OPCODE_BITS | request.opcode().ordinal();
    return (int) tail++ & POSITION_MASK;
  }

  /** The device has got all but the last so many. */
  void onPosted(int refused) {
    posted = tail - refused;
  }

  /** Takes back the last so many, which are to be offered again. */
  void takeBack(int count) {
    tail -= count;
  }

  /**
   * The place that a completion is of.
   *
   * @return its position; -1 when that place was given up before
   */
  long find(int lowPosition) {
    long distance = (lowPosition - head) & POSITION_MASK;
    return distance < tail - head ? head + distance : -1;
  }

  long id(long position) {
    return ids[(int) position & mask];
  }

  long length(long position) {
    return contents[(int) position & mask] >>> OPCODE_BITS;
  }

  Opcode opcode(long position) {
    return OPCODES[(int) contents[(int) position & mask] & (1 << OPCODE_BITS) - 1];
  }

  /** Frees the place, and those before it: of unsignalled work that went well. */
  void free(long position) {
    head = position + 1;
  }

  boolean isEmpty() {
    return head == tail;
  }

  /** Whether the oldest is with the device. */
  boolean isWithDevice() {
    return head < posted;
  }

  long head() {
    return head;
  }
}
