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

/**
 * Gives queue pairs their numbers of 24 bits: an index in the shared table and a generation. Safe
 * for any thread.
 */
public final class QueuePairNumbers {
  private static final int INDEX_MASK = SharedTable.QUEUE_PAIRS - 1;
  private static final int NUMBER_MASK = 0xff_ffff;

  private final int[] next = new int[SharedTable.QUEUE_PAIRS];
  private final FreeIndexes free = new FreeIndexes(SharedTable.QUEUE_PAIRS);

  QueuePairNumbers() {
    for (int i = 0; i < next.length; i++) {
      next[i] = i;
    }
  }

  /** The index in the table of the queue pair with that number. */
  public static int indexOf(int number) {
    return number & INDEX_MASK;
  }

  /** A number that is not in use, or -1. */
  public int take() {
    int index = free.take();
    if (index < 0) {
      return -1;
    }
    int number = next[index];
    next[index] = (number + SharedTable.QUEUE_PAIRS) & NUMBER_MASK;
    return number;
  }

  /** The queue pair with that number was retired. */
  public void giveBack(int number) {
    free.giveBack(indexOf(number));
  }
}
