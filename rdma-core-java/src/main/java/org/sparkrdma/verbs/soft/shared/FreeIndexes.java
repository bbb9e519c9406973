// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.soft.shared;

/** The unused indexes of a table, least recently used first. Safe for any thread. */
final class FreeIndexes {
  private final int[] ring;
  private int head;
  private int count;

  FreeIndexes(int size) {
    ring = new int[size];
    count = size;
    for (int i = 0; i < size; i++) {
      ring[i] = i;
    }
  }

  /** Takes an index; -1 when all are in use. */
  synchronized int take() {
    if (count == 0) {
      return -1;
    }
    int index = ring[head];
    head = (head + 1) % ring.length;
    count--;
    return index;
  }

  synchronized void release(int index) {
    ring[(head + count) % ring.length] = index;
    count++;
  }
}
