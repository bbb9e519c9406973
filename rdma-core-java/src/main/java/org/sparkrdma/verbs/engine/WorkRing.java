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
package org.sparkrdma.verbs.engine;

import org.sparkrdma.verbs.Opcode;
import org.sparkrdma.verbs.WorkRequest;

/**
 * The places of a send or receive queue, and what stands in them until its completion has been
 * polled. Positions count from 0 without end; work requests carry the lower 31 bits. Of the queue
 * pair's owner thread.
 */
public final class WorkRing {
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

  /** As many places as that. */
  WorkRing(int depth) {
    this.depth = depth;
    int size = Integer.highestOneBit(Math.max(1, depth * 2 - 1));
    mask = size - 1;
    ids = new long[size];
    contents = new long[size];
  }

  /** How many more it takes now. */
  public int room() {
    return depth - (int) (tail - head);
  }

  /** Takes the next place; the caller has seen that there is room. */
  public int add(WorkRequest request) {
    int i = (int) tail & mask;
    ids[i] = request.id();
    contents[i] = request.totalBytes() << OPCODE_BITS | request.opcode().ordinal();
    return (int) tail++ & POSITION_MASK;
  }

  /** The device has got all but the last so many. */
  public void onPosted(int refused) {
    posted = tail - refused;
  }

  /** Takes back the last so many, which are to be offered again. */
  public void takeBack(int count) {
    tail -= count;
  }

  /**
   * The place that a completion is of.
   *
   * @return its position; -1 when that place was given up before
   */
  public long find(int lowPosition) {
    long distance = (lowPosition - head) & POSITION_MASK;
    return distance < tail - head ? head + distance : -1;
  }

  /** What the request was called. */
  public long id(long position) {
    return ids[(int) position & mask];
  }

  /** How many bytes it asked for. */
  public long length(long position) {
    return contents[(int) position & mask] >>> OPCODE_BITS;
  }

  /** What it asked for. */
  public Opcode opcode(long position) {
    return OPCODES[(int) contents[(int) position & mask] & (1 << OPCODE_BITS) - 1];
  }

  /** Frees the place, and those before it: of unsignalled work that went well. */
  public void free(long position) {
    head = position + 1;
  }

  /** Whether all of it was shown. */
  public boolean isEmpty() {
    return head == tail;
  }

  /** Whether the oldest is with the device. */
  public boolean isWithDevice() {
    return head < posted;
  }

  /** Position of the oldest. */
  public long head() {
    return head;
  }
}
