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
package org.sparkrdma.shuffle.transport;

/**
 * The sequence number of the last accepted connection request of peers that are no longer kept, so
 * that none is good twice: 16 bytes a peer, in at most two tables. When the newer one is full it
 * becomes the older, whose peers are forgotten: at least the latest {@value #MAX_PER_TABLE} are
 * known. Owned by the agent.
 */
final class LastSequences {
  static final int MAX_PER_TABLE = 1 << 15;

  private Table newer = new Table();
  private Table older = new Table();

  /** Sequence number of a peer; 0 when none is known. */
  long of(long incarnation) {
    return Math.max(newer.get(incarnation), older.get(incarnation));
  }

  /**
   * @param sequence nothing is kept of 0, which no request has
   */
  void put(long incarnation, long sequence) {
    if (sequence == 0) {
      return;
    }
    if (newer.count == MAX_PER_TABLE) {
      older = newer;
      newer = new Table();
    }
    newer.put(incarnation, sequence);
  }

  /** Bytes that the tables take. */
  long sizeBytes() {
    return 16L * (newer.keys.length + older.keys.length);
  }

  /** Open addressing; at most half full. A sequence of 0 marks a free slot. */
  private static final class Table {
    private long[] keys = new long[16];
    private long[] sequences = new long[16];
    private int count;

    long get(long key) {
      return sequences[slot(keys, sequences, key)];
    }

    void put(long key, long sequence) {
      int slot = slot(keys, sequences, key);
      if (sequences[slot] == 0) {
        if (2 * count >= keys.length) {
          grow();
          slot = slot(keys, sequences, key);
        }
        count++;
      }
      keys[slot] = key;
      sequences[slot] = sequence;
    }

    private void grow() {
      long[] largerKeys = new long[2 * keys.length];
      long[] largerSequences = new long[2 * keys.length];
      for (int i = 0; i < keys.length; i++) {
        if (sequences[i] != 0) {
          int slot = slot(largerKeys, largerSequences, keys[i]);
          largerKeys[slot] = keys[i];
          largerSequences[slot] = sequences[i];
        }
      }
      keys = largerKeys;
      sequences = largerSequences;
    }

    /** Where the key is, or the free slot for it. */
    private static int slot(long[] keys, long[] sequences, long key) {
      int mask = keys.length - 1;
      int slot = (int) (key ^ (key >>> 32)) & mask;
      while (sequences[slot] != 0 && keys[slot] != key) {
        slot = (slot + 1) & mask;
      }
      return slot;
    }
  }
}
