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

  synchronized void giveBack(int index) {
    ring[(head + count) % ring.length] = index;
    count++;
  }
}
