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
package org.sparkrdma.verbs.disni;

import org.sparkrdma.verbs.Opcode;
import org.sparkrdma.verbs.WorkRequest;

/**
 * The places of a send or receive queue, and what stands in them until its completion has been
 * polled. Positions count from 0 without end; a work request's number carries the lower 31 bits. Of
 * the queue pair's owner thread.
 */
final class WorkRing {
  private static final int POSITION_MASK = Integer.MAX_VALUE;

  private final int depth;
  private final int mask;
  private final long[] ids;
  private final long[] lengths;
  private final Opcode[] opcodes;
  private long head;
  private long tail;

  /** Up to here the device has got it. */
  private long posted;

  WorkRing(int depth) {
    this.depth = depth;
    int size = Integer.highestOneBit(Math.max(1, depth * 2 - 1));
    mask = size - 1;
    ids = new long[size];
    lengths = new long[size];
    opcodes = new Opcode[size];
  }

  boolean isFull() {
    return tail - head == depth;
  }

  boolean isEmpty() {
    return head == tail;
  }

  /** Takes the next place, which is free; gives the lower bits of its position. */
  int add(WorkRequest request) {
    int i = (int) tail & mask;
    ids[i] = request.id();
    lengths[i] = request.totalBytes();
    opcodes[i] = request.opcode();
    return (int) tail++ & POSITION_MASK;
  }

  /** The device has got all. */
  void onPosted() {
    posted = tail;
  }

  /** Whether the oldest is with the device. */
  boolean isWithDevice() {
    return head < posted;
  }

  /** The place of which these are the lower bits; -1 when it was given up before. */
  long find(int lowPosition) {
    long distance = (lowPosition - head) & POSITION_MASK;
    return distance < tail - head ? head + distance : -1;
  }

  long head() {
    return head;
  }

  long id(long position) {
    return ids[(int) position & mask];
  }

  long length(long position) {
    return lengths[(int) position & mask];
  }

  Opcode opcode(long position) {
    return opcodes[(int) position & mask];
  }

  /** Frees the place, and those before it: of unsignalled work that went well. */
  void free(long position) {
    head = position + 1;
  }
}
